from django.db import migrations, models


def fill(apps, _):
    book = apps.get_model("books", "Book")
    book.objects.bulk_create(book(title=f"Book {n}", year=1900 + n) for n in range(50))


class Migration(migrations.Migration):
    initial = True
    operations = [
        migrations.CreateModel(
            name="Book",
            fields=[
                ("id", models.BigAutoField(primary_key=True, serialize=False)),
                ("title", models.CharField(max_length=100)),
                ("year", models.IntegerField()),
            ],
        ),
        migrations.RunPython(fill),
    ]
