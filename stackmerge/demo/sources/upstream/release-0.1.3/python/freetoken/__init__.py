"""A model server in miniature."""

__version__ = "0.1.3"
