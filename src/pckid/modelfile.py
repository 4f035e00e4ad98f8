"""Fitted models in files: arrays and JSON, nothing that could run when it is read.

A model file is a safetensors file. Its metadata hold one JSON text that says which class, which
parameters and which columns, and a SHA-256 hash over that text and every array. Reading goes
read → check → construct: the hash, the names, shapes and types of all arrays and the parameters
are checked before anything is built. No row of the training table is stored.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from importlib.metadata import version
from numbers import Integral
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load as read_tensors
from safetensors.numpy import save as write_tensors

from pckid._arrays import to_numpy
from pckid._files import atomic_file
from pckid.cluster import PCKID
from pckid.embedding import Projection
from pckid.ensemble import Ensemble
from pckid.exceptions import PckidModelError
from pckid.featuremap import Kernel
from pckid.kernel import EnsembleEstimator, ProbabilisticClusterKernel
from pckid.mixture import full, product
from pckid.mixture.table import Scaling

FORMAT = 1
_CLASSES: dict[str, type[EnsembleEstimator]] = {
    "PCKID": PCKID,
    "ProbabilisticClusterKernel": ProbabilisticClusterKernel,
}
_PARAMETERS: dict[str, Any] = {"diag": product.Parameters, "full": full.Parameters}
_MAX_HEADER = 100_000_000


def save(estimator: EnsembleEstimator, path: str | os.PathLike[str]) -> None:
    """Write a fitted estimator to a file, without pickle and without the training rows.

    Parameters
    ----------
    estimator : fitted PCKID or ProbabilisticClusterKernel
    path : str or path-like
        The file appears whole or not at all.

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
    if _CLASSES.get(name) is not type(estimator):
        raise TypeError(f"Only {', '.join(_CLASSES)} can be saved, not {type(estimator)}.")
    if not hasattr(estimator, "_kernel"):
        raise ValueError(f"This {name} is not fitted. Call fit before saving it.")
    tensors = _tensors(estimator)
    text = json.dumps(_description(estimator), ensure_ascii=False, allow_nan=False)
    metadata = {"pckid": text, "sha256": _digest(text, tensors)}
    with atomic_file(path) as file:
        file.write(write_tensors(tensors, metadata))


def load(path: str | os.PathLike[str]) -> Any:
    """Read an estimator that `save` wrote.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    estimator : PCKID or ProbabilisticClusterKernel
        Fitted: `predict`, `transform` and `kernel` work. What belongs to the training rows, such
        as `labels_`, is not there.

    Raises
    ------
    PckidModelError
        If the file is not a model, is damaged, or comes from a newer version.
    """
    description, tensors = _read(path)
    name = description.get("class")
    if name not in _CLASSES:
        raise PckidModelError(f"{path} holds a {str(name)[:40]!r}, which this version cannot read.")
    try:
        estimator = _construct(_CLASSES[name], description, tensors)
    except PckidModelError as error:
        raise PckidModelError(f"{path} is not a consistent model: {error}") from None
    except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
        detail = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise PckidModelError(f"{path} is not a consistent model: {detail[:200]}") from None
    return estimator


def describe(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read what a model file says of itself, after its hash was checked.

    Parameters
    ----------
    path : str or path-like

    Returns
    -------
    description : dict
        With the keys format, version, class, parameters, n_features, feature_names and others.
    """
    return _read(path)[0]


def _description(estimator: EnsembleEstimator) -> dict[str, Any]:
    """Say in words and numbers what a model is."""
    names = getattr(estimator, "feature_names_in_", None)
    description = {
        "format": FORMAT,
        "version": version("pckid"),
        "class": type(estimator).__name__,
        "parameters": {key: _plain(value) for key, value in estimator.get_params().items()},
        "n_features": int(estimator.n_features_in_),
        "feature_names": None if names is None else [str(name) for name in names],
        "dtype": estimator._kernel.dtype,
        "n_stacks": len(estimator._kernel.ensemble.stacks),
    }
    if isinstance(estimator, PCKID):
        description["inertia"] = float(estimator.inertia_)
    return description


def _plain(value: Any) -> Any:
    """Keep numbers, texts and None; a random generator is not part of a fitted model."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        return int(value)
    return value if value is None or isinstance(value, str | bool | float) else None


def _tensors(estimator: EnsembleEstimator) -> dict[str, np.ndarray]:
    """Collect a model's arrays by name."""
    kernel = estimator._kernel
    named = {f"scaling.{key}": value for key, value in kernel.scaling._asdict().items()}
    for index, stack in enumerate(kernel.ensemble.stacks):
        named |= {f"stack{index}.{key}": value for key, value in stack._asdict().items()}
    if isinstance(estimator, PCKID):
        named |= {f"projection.{key}": v for key, v in estimator._projection._asdict().items()}
        named["centers"] = estimator._centers
    return {
        key: np.ascontiguousarray(to_numpy(value))
        for key, value in named.items()
        if value is not None
    }


def _digest(text: str, tensors: Mapping[str, np.ndarray]) -> str:
    """Hash the description and every array with its name, type and shape."""
    digest = hashlib.sha256(text.encode())
    for name in sorted(tensors):
        array = tensors[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()


def _read(path: str | os.PathLike[str]) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
    """Read a model file and check that it is whole."""
    try:
        with open(path, "rb") as file:
            content = file.read()
    except FileNotFoundError:
        raise PckidModelError(f"There is no model file {str(path)!r}. Check the path.") from None
    except OSError as error:
        raise PckidModelError(f"{path} cannot be read: {error.strerror}.") from None
    text, digest = _metadata(content, path)
    try:
        tensors = read_tensors(content)
    except (SafetensorError, KeyError, ValueError) as error:
        raise PckidModelError(f"{path} is damaged or cut short ({error}). Save it again.") from None
    if _digest(text, tensors) != digest:
        raise PckidModelError(f"{path} is damaged: its content does not match its hash.")
    description = json.loads(text)
    if not isinstance(description, dict) or description.get("format") != FORMAT:
        found = description.get("format") if isinstance(description, dict) else None
        raise PckidModelError(
            f"{path} has format {str(found)[:20]}, this version reads format {FORMAT}. Use the "
            "version of pckid that wrote it, or a newer one."
        )
    return description, tensors


def _metadata(content: bytes, path: str | os.PathLike[str]) -> tuple[str, str]:
    """Find the description and the hash in a file's header."""
    length = int.from_bytes(content[:8], "little")
    try:
        if len(content) < 8 or length > min(len(content) - 8, _MAX_HEADER):
            raise ValueError
        metadata = json.loads(content[8 : 8 + length])["__metadata__"]
        text, digest = metadata["pckid"], metadata["sha256"]
        json.loads(text)
    except (ValueError, KeyError, TypeError, RecursionError):
        raise PckidModelError(
            f"{path} is not a pckid model, or is cut short. Give a file written by pckid."
        ) from None
    return text, digest


def _construct(
    kind: type[EnsembleEstimator], description: dict[str, Any], tensors: dict[str, np.ndarray]
) -> EnsembleEstimator:
    """Build an estimator from checked parts."""
    estimator = kind(**description["parameters"])
    estimator._validate_params()
    left = dict(tensors)
    n_features = description["n_features"]
    scaling = _scaling(left, n_features)
    ensemble = _ensemble(left, estimator.covariance_type, description, len(scaling.kept))
    estimator._kernel = Kernel(scaling, ensemble, _one_of(description, "dtype"))
    estimator.n_features_in_ = n_features
    _restore_names(estimator, description["feature_names"], n_features, scaling.kept)
    estimator._n_features_out = ensemble.n_columns
    if isinstance(estimator, PCKID):
        _restore_clusters(estimator, left, description, ensemble.n_columns)
    if left:
        raise PckidModelError(f"it holds unknown arrays ({sorted(left)[0][:40]}).")
    return estimator


def _one_of(description: dict[str, Any], key: str) -> str:
    """Read the name of a floating point type."""
    if description[key] not in ("float32", "float64"):
        raise PckidModelError(f"{key} is neither float32 nor float64.")
    return description[key]


def _scaling(left: dict[str, np.ndarray], n_features: int) -> Scaling:
    """Take the scaling out of the arrays."""
    kept = left.pop("scaling.kept")
    if kept.ndim != 1 or kept.dtype.kind != "i" or not len(kept):
        raise PckidModelError("the list of used columns is not a list of numbers.")
    if kept[0] < 0 or kept[-1] >= n_features or (np.diff(kept) <= 0).any():
        raise PckidModelError("the list of used columns does not fit the columns.")
    center = _floats(left, "scaling.center", (len(kept),))
    scale = _floats(left, "scaling.scale", (len(kept),))
    if (scale <= 0).any():
        raise PckidModelError("a column has no spread.")
    return Scaling(center, scale, kept)


def _ensemble(
    left: dict[str, np.ndarray], covariance_type: str, description: dict[str, Any], n_kept: int
) -> Ensemble:
    """Take the mixtures out of the arrays: stack i holds mixtures of i + 2 components."""
    n_stacks, n_inits = description["n_stacks"], description["parameters"]["n_inits"]
    if not 1 <= n_stacks <= len(left):
        raise PckidModelError("it does not hold the mixtures that it lists.")
    covariance = (n_kept, n_kept) if covariance_type == "full" else (n_kept,)
    stacks = []
    for index in range(n_stacks):
        size = (n_inits, index + 2)
        stacks.append(
            _PARAMETERS[covariance_type](
                _floats(left, f"stack{index}.log_weights", size, finite=False),
                _floats(left, f"stack{index}.means", (*size, n_kept)),
                _floats(left, f"stack{index}.covariances", (*size, *covariance)),
            )
        )
    return Ensemble(covariance_type, tuple(stacks))


def _restore_clusters(
    estimator: PCKID, left: dict[str, np.ndarray], description: dict[str, Any], n_columns: int
) -> None:
    """Take the embedding and the centres out of the arrays."""
    k = estimator.n_clusters
    basis = _floats(left, "projection.basis", (n_columns, k))
    degree = None
    if estimator.embedding == "random_walk":
        degree = _floats(left, "projection.degree", (n_columns,))
    eigenvalues = _floats(left, "projection.eigenvalues", (k,))
    estimator._projection = Projection(basis, degree, eigenvalues)
    estimator._centers = _floats(left, "centers", (k, k))
    estimator.cluster_centers_ = estimator._centers
    estimator.eigenvalues_ = eigenvalues
    estimator.inertia_ = float(description["inertia"])
    estimator._n_features_out = k


def _restore_names(
    estimator: EnsembleEstimator, names: Any, n_features: int, kept: np.ndarray
) -> None:
    """Put the columns' names back, and the list of those left out."""
    dropped: list[Any] = sorted(set(range(n_features)) - set(kept.tolist()))
    if names is not None:
        if len(names) != n_features or not all(isinstance(name, str) for name in names):
            raise PckidModelError("its names do not fit its columns.")
        estimator.feature_names_in_ = np.asarray(names, dtype=object)
        dropped = [names[index] for index in dropped]
    estimator.dropped_features_ = dropped


def _floats(
    left: dict[str, np.ndarray], name: str, shape: tuple[int, ...], *, finite: bool = True
) -> np.ndarray:
    """Take one array out, of the right shape, of floats, without NaN."""
    array = left.pop(name, None)
    if array is None:
        raise PckidModelError(f"the array {name} is missing.")
    if array.shape != shape or array.dtype not in (np.float32, np.float64):
        raise PckidModelError(
            f"the array {name} is {array.dtype} of shape {array.shape}, expected floats of {shape}."
        )
    if np.isnan(array).any() or (finite and not np.isfinite(array).all()):
        raise PckidModelError(f"the array {name} holds values that are not numbers.")
    return array
