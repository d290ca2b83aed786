from django.http import JsonResponse

from .models import Book


def books(request):
    found = Book.objects.order_by("id").values("id", "title", "year")[:20]
    return JsonResponse({"books": list(found), "total": Book.objects.count()})
