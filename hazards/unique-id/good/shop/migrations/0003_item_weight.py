from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [("shop", "0002_item_colour")]
    operations = [migrations.AddField("item", "weight", models.TextField())]
