from django.forms.models import model_to_dict
from django.http import JsonResponse

from .models import Book


def books(request):
    found = Book.objects.order_by("id")[:20]
    return JsonResponse({"books": [model_to_dict(book) for book in found]})
