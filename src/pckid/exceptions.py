"""Errors with a sentence for the person who gave the file."""

from typing import Any


class TableError(ValueError):
    """A table cannot be read or used; the message says why and what to do.

    `fixes` help, as data of `frontends.options`: each front end has its own words for them.
    """

    def __init__(self, message: str, *fixes: Any) -> None:
        super().__init__(message)
        self.fixes = fixes


class OptionError(TableError):
    """What was asked for does not suit the table; the message says why.

    `options` names what is concerned, as `ReadOptions` and `ColumnOptions` have it.
    """

    def __init__(self, message: str, *options: str) -> None:
        super().__init__(message)
        self.options = options


class UndecidedError(TableError):
    """A table cannot be clustered before something about it is decided.

    The message says all that is wrong or doubtful, and `problems` are the same as data.
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
