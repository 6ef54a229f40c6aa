from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = []
    operations = [migrations.CreateModel("item", [("id", models.AutoField(primary_key=True))])]
