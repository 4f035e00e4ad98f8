"""Fitted models in files: arrays and JSON, nothing that could run when it is read.

Reading goes read → check → construct. `container` knows the bytes and the hash over them, `kinds`
which facts and arrays make up which class, `checking` what each of them may be. No row
of the training table is stored.
"""

import os
import platform
from collections.abc import Generator, Mapping
from contextlib import contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from numbers import Integral
from typing import Any, BinaryIO

import numpy as np

from pckid._utils.arrays import to_numpy
from pckid._utils.files import atomic_file
from pckid._utils.sklearn_compat import check_parameters
from pckid._version import __version__
from pckid.columns import kinds as column_kinds
from pckid.columns.log_number import LogNumber
from pckid.exceptions import PckidModelError
from pckid.input.column_groups import list_group_columns
from pckid.input.validation import dropped_features
from pckid.mixture.fitted import MixtureState
from pckid.modelfile import container
from pckid.modelfile.checking import ArrayReader, require, take_fact
from pckid.modelfile.kinds import KINDS, cluster_sizes

FORMAT = 1
_LIBRARIES = ("numpy", "scipy", "scikit-learn", "safetensors")
# Parameters that older versions lack.
_ADDED = {kind.parameter for kind in column_kinds.KINDS} - {LogNumber.parameter}
_MAX_FEATURES = 1_000_000
_MAX_JOBS = 1024
_BYTES_PER_INDEX = 40
# What wrong content may lead to beyond the checks; want of memory is not among it.
_UNSOUND = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)


def save(
    estimator: Any,
    path: str | os.PathLike[str] | BinaryIO,
    *,
    reading: Mapping[str, Any] | None = None,
) -> None:
    """Write a fitted estimator to a file, without pickle and without the training rows.

    Parameters
    ----------
    estimator : fitted PCKID, ProbabilisticClusterKernel or IncompleteGaussianMixture
        A random generator given as `random_state`, and starting values of a mixture, are no part
        of a fitted model: they come back as None.
    path : str, path-like or binary file
        A file given by its name appears whole or not at all.
    reading : mapping of str to list of str, optional
        How the table was read, for whoever reads another for this model, see `describe_model`.

    Examples
    --------
    >>> import numpy as np, os, tempfile, pckid
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> model = pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X)
    >>> path = os.path.join(tempfile.mkdtemp(), "model.pckid")
    >>> pckid.save(model, path)
    >>> bool((pckid.load(path).predict(X) == model.labels_).all())
    True
    """
    name = type(estimator).__name__
    kind = KINDS.get(name)
    if kind is None or kind.estimator is not type(estimator):
        raise TypeError(f"Only {', '.join(KINDS)} can be saved, not {type(estimator)}.")
    if not hasattr(estimator, "n_features_in_"):
        raise ValueError(f"This {name} is not fitted. Call fit before saving it.")
    state, named = kind.pack(estimator)
    arrays = {key: _as_stored(to_numpy(value)) for key, value in named.items()}
    names = getattr(estimator, "feature_names_in_", None)
    description = {
        "format": FORMAT,
        "version": __version__,
        "libraries": _list_libraries(),
        "class": name,
        "parameters": _list_parameters(estimator),
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "reading": dict(reading or {}),
        "state": state,
    }
    content = container.pack(description, arrays)
    # What could not be read back is refused now, not when it is needed.
    with _refusing(f"This {name} cannot be saved: its file "):
        unpacked = container.unpack(content)
    with _refusing(f"This {name} cannot be saved: "):
        _construct(*unpacked, len(content))
    if isinstance(path, str | os.PathLike):
        with atomic_file(path) as file:
            file.write(content)
    else:
        path.write(content)


def load(path: str | os.PathLike[str] | BinaryIO) -> Any:
    """Read an estimator that `save` wrote.

    Reading takes at most three times the size of the file in memory, and nothing in it is run.

    Parameters
    ----------
    path : str, path-like or binary file
        A file written by `save`.

    Returns
    -------
    estimator : PCKID, ProbabilisticClusterKernel or IncompleteGaussianMixture
        Fitted: `predict`, `transform` and the like work. What belongs to the training rows, such
        as `labels_`, is not there.

    Raises
    ------
    PckidModelError
        If the file is not a model, is damaged, or comes from a newer version.

    Examples
    --------
    >>> import numpy as np, os, tempfile, pckid
    >>> X = np.random.default_rng(0).normal(size=(40, 3))
    >>> path = os.path.join(tempfile.mkdtemp(), "model.pckid")
    >>> pckid.save(pckid.PCKID(2, n_inits=2, max_components=3, random_state=0).fit(X), path)
    >>> model = pckid.load(path)
    >>> model.n_clusters, hasattr(model, "labels_")
    (2, False)
    """
    return load_with_description(path)[0]


def describe_model(path: str | os.PathLike[str] | BinaryIO) -> dict[str, Any]:
    """Read what a model file says of itself, after its hash was checked.

    Parameters
    ----------
    path : str, path-like or binary file

    Returns
    -------
    description : dict
        With the keys format, version, libraries, class, parameters, n_features, feature_names,
        reading and state; of a PCKID also n_clusters, the number given or found, cluster_names,
        and cluster_sizes, which is None where not all rows had been labelled.
    """
    estimator, description = load_with_description(path)
    if not hasattr(estimator, "n_clusters_"):
        return description
    return description | {
        "n_clusters": estimator.n_clusters_,
        "cluster_names": estimator.cluster_names_,
        "cluster_sizes": cluster_sizes(estimator),
    }


def load_with_description(path: str | os.PathLike[str] | BinaryIO) -> tuple[Any, dict[str, Any]]:
    """Read an estimator, and what its file says of itself."""
    if isinstance(path, str | os.PathLike):
        content = container.read_file(path)
    else:
        content, path = path.read(), getattr(path, "name", "The file")
        container.refuse_other_files(content, path)
    with _refusing(f"{path} ", " Give a file written by pckid."):
        description, arrays = container.unpack(content)
    n_bytes = len(content)
    del content
    written = description.get("format")
    if type(written) is not int or written != FORMAT:
        writer = str(description.get("version"))[:20]
        raise PckidModelError(
            f"{path} has format {str(written)[:20]}; pckid {__version__} reads format "
            f"{FORMAT}. Install pckid {writer}, which wrote it, or a newer one."
        )
    with _refusing(f"{path} is not a consistent model: "):
        return _construct(description, arrays, n_bytes), description


@contextmanager
def _refusing(before: str, after: str = "") -> Generator[None, None, None]:
    """Turn whatever wrong content leads to into our own error, with what it is about."""
    try:
        yield
    except PckidModelError as error:
        raise PckidModelError(f"{before}{error}{after}") from None
    except _UNSOUND as error:
        told = str(error).splitlines()[0][:200] if str(error) else type(error).__name__
        raise PckidModelError(f"{before}{told}{after}") from None


def _as_stored(array: np.ndarray) -> np.ndarray:
    """Lay an array out as files have it: whole numbers of 64 bits, also where NumPy's have 32."""
    return np.ascontiguousarray(array, np.int64 if array.dtype.kind == "i" else None)


def _list_libraries() -> dict[str, str]:
    """List what a model was written with; safetensors may be missing."""
    found = {"python": platform.python_version()}
    for name in _LIBRARIES:
        with suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def _list_parameters(estimator: Any) -> dict[str, Any]:
    """List the parameters; those that older versions lack only where they are used."""
    given = {key: _plain(value) for key, value in estimator.get_params().items()}
    return {k: v for k, v in given.items() if k not in _ADDED or v is not None}


def _plain(value: Any) -> Any:
    """Keep numbers, texts, None, lists of columns, and these by the names of groups."""
    if isinstance(value, Mapping):
        return {str(name): _plain(each) for name, each in value.items()}
    if isinstance(value, list | tuple | np.ndarray) and np.ndim(value) == 1:
        return [_plain(each) for each in value]
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    return value if value is None or isinstance(value, str | bool | float) else None


def _construct(description: dict[str, Any], arrays: container.Arrays, n_bytes: int) -> Any:
    """Build an estimator from the parts of a file of `n_bytes`, checking each."""
    for fact in ("version", "libraries", "reading"):
        take_fact(description, fact)
    name, n_features = take_fact(description, "class"), take_fact(description, "n_features")
    require(name in KINDS, f"it holds a {name[:40]!r}, which is not known.")
    estimator = KINDS[name].estimator(**take_fact(description, "parameters"))
    check_parameters(estimator)
    n_jobs = getattr(estimator, "n_jobs", None)
    require(n_jobs is None or 0 < abs(n_jobs) <= _MAX_JOBS, "n_jobs is out of range.")
    require(0 < n_features <= _MAX_FEATURES, "n_features is out of range.")
    estimator.n_features_in_ = n_features
    reader = ArrayReader(arrays)
    KINDS[name].unpack(estimator, take_fact(description, "state"), reader)
    reader.refuse_rest()
    names = description["feature_names"]
    names = None if names is None else take_fact(description, "feature_names")
    _restore_names(estimator, names, max(container.FREE_BYTES, n_bytes))
    return estimator


def _restore_names(estimator: Any, names: Any, affordable: int) -> None:
    """Put the columns' names back, and the list of those left out, of so many bytes at most."""
    state = estimator.state_
    scaling = state.scaling if isinstance(state, MixtureState) else state.kernel.scaling
    n_features = estimator.n_features_in_
    few = _BYTES_PER_INDEX * (n_features - len(scaling.used)) <= affordable
    require(few, "it leaves out more columns than so small a file can.")
    if names is not None:
        fit = len(set(names)) == len(names) == n_features
        require(fit, "its names do not fit its columns.")
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
    estimator.dropped_features_ = dropped_features(estimator, scaling.used)
    if not isinstance(state, MixtureState):
        known = state.columns.categories.items()
        estimator.categories_ = {j if names is None else names[j]: each for j, each in known}
        estimator.column_groups_ = list_group_columns(state.columns.sets, names)
