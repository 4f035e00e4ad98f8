"""Commands and their options, written as they are typed in a shell."""

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

# Options that have other names in a shell.
_SHORT = {
    "row_names": "id", "labels": "label", "n_clusters": "k",
    "take_advice": "yes", "random_state": "seed", "n_jobs": "jobs", "groups": "group",
    "settings": "set", "outcomes": "outcome", "log_columns": "log", "n_runs": "runs",
}  # fmt: skip


def write_command(words: Sequence[str], *options: Mapping[str, Any]) -> str:
    """Write a command of pckid: its name and files, and groups of options by their Python names.

    Several values of an option are given one by one, True is a flag; None and False are not given,
    but for `header`.
    """
    # A path is not taken for an option; the dash alone is standard input.
    plain = [f"./{word}" if word.startswith("-") and word != "-" else word for word in words]
    groups = (as_arguments(_given_pairs(group)) for group in options)
    return " ".join(filter(None, [shlex.join(["pckid", *plain]), *groups]))


def _given_pairs(options: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """List the options that are given, each value once."""
    for key, value in options.items():
        if key == "header" and value is False:
            yield "no_header", True
        values = dict.fromkeys(value) if isinstance(value, list | tuple) else [value]
        yield from ((key, each) for each in values if each is not None and each is not False)


def as_arguments(options: Iterable[tuple[str, Any]]) -> str:
    """Write names and values of options; what is to drop in one, and last, if that is safe."""
    options = list(options)
    for option in ("drop_rows", "drop", "place"):
        drops = [str(value) for key, value in options if key == option]
        if drops and all("," not in name and name == name.strip() for name in drops):
            options = [pair for pair in options if pair[0] != option] + [(option, ",".join(drops))]
    return " ".join(as_argument(*pair) for pair in options)


def as_argument(key: str, value: Any = True) -> str:
    """Write one option: "--drop notes", or "--drop" alone, as a flag is written, too."""
    name = _SHORT.get(key, key).replace("_", "-")
    flag = f"-{name}" if len(name) == 1 else f"--{name}"
    if value is True:
        return flag
    text = shlex.quote(str(value))
    # Without quotes, a point at the end of "n.b." would read as the end of the sentence.
    return f"{flag} '{text}'" if text.endswith(".") else f"{flag} {text}"
