SECRET_KEY = "only for the example"
ALLOWED_HOSTS = ["*"]
ROOT_URLCONF = "library.urls"
WSGI_APPLICATION = "library.wsgi.application"
INSTALLED_APPS = ["books"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware"]
DATABASES = {"default": {"ENGINE": "django.db.backends.sqlite3", "NAME": "library.sqlite3"}}
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"
