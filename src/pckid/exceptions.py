"""Errors with a sentence for the person who gave the file."""

from typing import Any


class TableError(ValueError):
    """A table cannot be read or used; the message says why and what to do.

    Parameters
    ----------
    message : str
    *fixes : Fix
        What helps, as data of `pckid.tables.fixes`: each front end has its own words for it.
    """

    def __init__(self, message: str, *fixes: Any) -> None:
        super().__init__(message)
        self.fixes = fixes


class OptionError(TableError):
    """What was asked for does not suit the table; the message says why.

    Parameters
    ----------
    message : str
    *options : str
        The names of the options that are concerned, as `ReadOptions` and `ColumnOptions` have them.
    """

    def __init__(self, message: str, *options: str) -> None:
        super().__init__(message)
        self.options = options


class UndecidedError(TableError):
    """A table cannot be clustered before something about it is decided.

    Parameters
    ----------
    message : str
        All that is wrong or doubtful, with what to do about each.
    problems : sequence of Problem
        The same as data.
    """

    def __init__(self, message: str, problems: Any = ()) -> None:
        super().__init__(message)
        self.problems = tuple(problems)


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
