"""Commands and their options, written as they are typed in a shell, or as parameters in Python."""

import contextlib
import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from typing import Any

_python: ContextVar[bool] = ContextVar("options are written as parameters", default=False)
# Parameters that take one value; all others take a list of texts.
_SINGLE = {"skip_first": int, "skip_last": int, "sheet": str}


@contextlib.contextmanager
def options_as_parameters(wanted: bool = True) -> Iterator[None]:
    """Write options as parameters of `pckid.read_table` in here: drop=['notes'], not --drop notes.

    Sentences with advice come from deep within; who reads them is known where they are asked for.
    """
    before = _python.set(wanted)
    try:
        yield
    finally:
        _python.reset(before)


def for_python() -> bool:
    """Return whether options are written as parameters of `pckid.read_table` here."""
    return _python.get()


def write_command(words: Sequence[str], *options: Mapping[str, Any]) -> str:
    """Write a command of pckid.

    Parameters
    ----------
    words : sequence of str
        The command's name, and the files that it takes.
    *options : mappings of name to value
        By the names that the commands have for them, in groups that follow each other. Several
        values are given one by one, True is a flag; None and False are not given.
    """
    # A path is not taken for an option; the dash alone is standard input.
    plain = [f"./{word}" if word.startswith("-") and word != "-" else word for word in words]
    groups = (as_arguments(_given_pairs(group)) for group in options)
    return " ".join(filter(None, [shlex.join(["pckid", *plain]), *groups]))


def _given_pairs(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """List the options that are given, each value once."""
    for key, value in options.items():
        values = dict.fromkeys(value) if isinstance(value, list | tuple) else [value]
        yield from ((key, each) for each in values if each is not None and each is not False)


def as_arguments(options: Iterable[tuple[str, Any]]) -> str:
    """Write names and values of options; the columns to drop in one, and last, if that is safe."""
    options = list(options)
    if for_python():
        keys = dict.fromkeys(key for key, _ in options)
        return ", ".join(_as_parameter(key, [v for k, v in options if k == key]) for key in keys)
    drops = [value for key, value in options if key == "drop"]
    if drops and all("," not in name and name == name.strip() for name in drops):
        options = [pair for pair in options if pair[0] != "drop"] + [("drop", ",".join(drops))]
    return " ".join(as_argument(*pair) for pair in options)


def as_argument(key: str, value: Any = True) -> str:
    """Write one option: "--drop notes", or "--drop" alone, as a flag is written, too."""
    if for_python():
        return _as_parameter(key, [] if value is True else [value])
    name = key.removesuffix("_column").replace("_", "-")
    flag = f"-{name}" if len(name) == 1 else f"--{name}"
    return flag if value is True else f"{flag} {shlex.quote(str(value))}"


def _as_parameter(key: str, values: Sequence[Any]) -> str:
    """Write a parameter of `pckid.read_table`: "drop=['notes']", or "drop=[...]" without values."""
    if key in _SINGLE:
        return f"{key}={_SINGLE[key](values[-1])!r}" if values else f"{key}=..."
    return f"{key}={list(dict.fromkeys(values))!r}" if values else f"{key}=[...]"
