"""The version, for all rooms: importing the package itself would import every room."""

__version__ = "0.1.0"
