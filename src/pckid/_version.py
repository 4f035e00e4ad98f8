"""The version, in a file of its own: the build reads it, and so do modules of the package."""

__version__ = "1.0.0"
