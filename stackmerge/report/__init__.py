"""One HTML page that shows a rebuild, from its journal."""
