"""Errors with a sentence for the person who gave the file."""


class TableError(ValueError):
    """A table cannot be read or used; the message says why and what to do.

    Parameters
    ----------
    message : str
    options : str, default=""
        Which options help, in a sentence that only the command line adds.
    """

    def __init__(self, message: str, options: str = "") -> None:
        super().__init__(message)
        self.options = options


class NeedsWholeTable(TableError):
    """A table cannot be used batch by batch, but can be if it is read whole."""


class PckidModelError(ValueError):
    """A model file cannot be used; the message says why and what to do.

    Examples
    --------
    >>> import pckid
    >>> try:
    ...     pckid.load("nowhere.pckid")
    ... except pckid.PckidModelError as error:
    ...     print(error)
    There is no model file 'nowhere.pckid'. Check the path.
    """
