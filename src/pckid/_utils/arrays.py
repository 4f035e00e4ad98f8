"""Array namespaces and devices: the one room that knows torch and CuPy by name."""

from collections.abc import Callable
from functools import cache
from typing import Any, Protocol

import array_api_compat
import numpy as np
from array_api_compat import device as device_of

Namespace = Any
_NAMESPACES: dict[type, Namespace] = {}
# Products of two numbers above the root of this times the smallest normal number stay normal, also
# where both were scaled by weights.
_HEADROOM = 2.0**40

# CUDA copies up to this much ordinary memory of the host aside, and does not wait.
_STAGED_BYTES = 1 << 16

# Of a matrix this much stays in the cache of a CPU core.
_CACHED_BYTES = 1 << 20


class Array(Protocol):
    """An array of NumPy, PyTorch, CuPy or another library of the Array API standard.

    What the rooms hand to each other has a shape, a dtype and arithmetic; anything else goes
    through the array's namespace.
    """

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> Any: ...
    @property
    def ndim(self) -> int: ...
    def __getitem__(self, key: Any, /) -> Any: ...
    def __setitem__(self, key: Any, value: Any, /) -> None: ...
    def __add__(self, other: Any, /) -> Any: ...
    def __radd__(self, other: Any, /) -> Any: ...
    def __sub__(self, other: Any, /) -> Any: ...
    def __rsub__(self, other: Any, /) -> Any: ...
    def __mul__(self, other: Any, /) -> Any: ...
    def __rmul__(self, other: Any, /) -> Any: ...
    def __truediv__(self, other: Any, /) -> Any: ...
    def __rtruediv__(self, other: Any, /) -> Any: ...
    def __pow__(self, other: Any, /) -> Any: ...
    def __matmul__(self, other: Any, /) -> Any: ...
    def __mod__(self, other: Any, /) -> Any: ...
    def __neg__(self) -> Any: ...
    def __invert__(self) -> Any: ...
    def __and__(self, other: Any, /) -> Any: ...
    def __or__(self, other: Any, /) -> Any: ...
    def __lt__(self, other: Any, /) -> Any: ...
    def __le__(self, other: Any, /) -> Any: ...
    def __gt__(self, other: Any, /) -> Any: ...
    def __ge__(self, other: Any, /) -> Any: ...


def is_foreign(X: object) -> bool:
    """Return whether `X` is an Array API array of another library than NumPy."""
    return array_api_compat.is_array_api_obj(X) and not array_api_compat.is_numpy_array(X)


def namespace(X: Array) -> Namespace:
    """Return the Array API namespace of `X`, looked up once for each type of array."""
    kind = type(X)
    if kind not in _NAMESPACES:
        _NAMESPACES[kind] = array_api_compat.array_namespace(X)
    return _NAMESPACES[kind]


def is_host(X: Array) -> bool:
    """Return whether `X` lies in the memory of the CPU, where gathering rows is cheap."""
    return isinstance(X, np.ndarray) or "cpu" in str(device_of(X)).lower()


def to_numpy(X: Any) -> np.ndarray:
    """Copy `X` to the host as a NumPy array; NumPy arrays come back as they are."""
    if isinstance(X, np.ndarray):
        return X
    if array_api_compat.is_torch_array(X):
        return X.detach().cpu().numpy()
    if array_api_compat.is_cupy_array(X):
        return X.get()
    return np.asarray(np.from_dlpack(X))


def detach(X: Any) -> Any:
    """Detach a tensor from its gradients, which nothing here computes; others come back as is."""
    return X.detach() if array_api_compat.is_torch_array(X) else X


def asarray_like(values: Any, X: Array, dtype: Any = None) -> Array:
    """Put host `values` into the namespace and onto the device of `X`.

    What was launched on a GPU goes on meanwhile. Memory that is not pinned is copied aside before
    the call returns, so that the caller may change `values` at once.
    """
    # Writeable too: torch would warn of memory that is not.
    values = np.require(values, requirements=["C", "W"])
    if dtype is None and values.dtype == np.float64:
        dtype = X.dtype
    if isinstance(X, np.ndarray):
        return np.asarray(values, dtype=dtype)
    xp = namespace(X)
    if array_api_compat.is_torch_array(X) and X.is_cuda:
        dtype = xp.int64 if dtype is None and values.dtype == np.int64 else dtype
        # Up to 64 KB CUDA sets aside at once; for more it waits until all that was launched is
        # done. So indices travel as int32, and are widened there.
        short = dtype == xp.int64 and values.nbytes > _STAGED_BYTES and values.max() < 1 << 31
        there = xp.asarray(values, dtype=xp.int32 if short else dtype)
        return there.to(device_of(X), non_blocking=True).to(dtype or there.dtype)
    return xp.asarray(values, dtype=dtype, device=device_of(X))


def take_along(X: Any, index: Any, axis: int = 0) -> Array:
    """Take the entries of `X` at an `index` (n,), none of them negative, along an axis.

    As the namespace's `take`, which computes thrice more on tensors to allow for negative ones. The
    index lies on the host or where `X` does.
    """
    if isinstance(X, np.ndarray):
        return X.take(index, axis=axis)
    if isinstance(index, np.ndarray):
        index = asarray_like(index, X)
    if array_api_compat.is_torch_array(X):
        return X.index_select(axis, index)
    return namespace(X).take(X, index, axis=axis)


def gather(X: Any, index: Any) -> Array:
    """Take the entries of each row of `X` (m, n) at an `index` (m, k), none of them negative.

    As the namespace's `take_along_axis`, which computes five times more on tensors.
    """
    if array_api_compat.is_torch_array(X):
        return X.gather(1, index)
    return namespace(X).take_along_axis(X, index, axis=1)


def clip(X: Any, low: float | None = None, high: float | None = None) -> Array:
    """Bring the entries of `X` between bounds; the namespace's takes ten times as long on few."""
    return X.clip(low, high) if hasattr(X, "clip") else namespace(X).clip(X, low, high)


def contiguous(X: Array) -> Array:
    """Copy a transposed NumPy array into C order, for BLAS; others stay as they are."""
    return np.ascontiguousarray(X) if isinstance(X, np.ndarray) else X


def exponential(X: Array, rounded: bool = True) -> Array:
    """Compute exp of every entry, none of which is positive; a NumPy array is overwritten.

    On a CPU results whose products with each other would not be normal numbers become zero, or if
    not `rounded` the least number of which products are normal: it computes subnormal ones many
    times slower, and two in a thousand of them double the time of a matrix product.
    """
    if not is_host(X):
        return namespace(X).exp(X)
    smallest, coarse = _rounding_of(type(X), X.dtype)
    if isinstance(X, np.ndarray):
        np.maximum(X, smallest, out=X)
        np.exp(X, out=X)
    else:
        X = namespace(X).exp(clip(X, smallest))
    if rounded:
        # To multiples of what `coarse` can hold, the smallest of them to zero.
        X += coarse
        X -= coarse
    return X


def fused_softmax(X: Array) -> Array | None:
    """Compute exp(x) / Σ exp(x) along the middle axis of `X` (m, k, n) at once, on a GPU of torch.

    None elsewhere: there it takes the single steps, which all read the array anew.
    """
    if is_host(X) or not array_api_compat.is_torch_array(X):
        return None
    return X.softmax(1)


@cache
def _rounding_of(kind: type, dtype: Any) -> tuple[float, float]:
    """Return the least exponent worth computing, and a number that absorbs its exponential.

    For a kind of array: the types of two libraries cannot be compared.
    """
    numbers = np.finfo(str(dtype).rpartition(".")[2])
    limit = float(np.sqrt(_HEADROOM * float(numbers.smallest_normal)))
    return float(np.log(limit)), 4 * limit / float(numbers.eps)


def times_shared(A: Array, B: Array) -> Array:
    """Compute A B for stacks (m, g, n) and (m, n, c); where all share one B (1, n, c), at once."""
    if B.shape[0] > 1 or (isinstance(A, np.ndarray) and A.shape[0] == 1):
        return A @ B
    xp = namespace(A)
    flat = xp.reshape(A, (-1, A.shape[2])) @ B[0, ...]
    return xp.reshape(flat, (A.shape[0], A.shape[1], -1))


def times_transposed(A: Array, B: Array) -> Array:
    """Compute A Bᵀ for stacks (m, g, c) and (m, n, c), or (1, n, c) that all share.

    OpenBLAS is a quarter faster with the longer of two unequal matrices first.
    """
    if B.shape[0] < A.shape[0] or not isinstance(A, np.ndarray):
        return times_shared(A, namespace(B).matrix_transpose(B))
    if A.shape[-2] < B.shape[-2]:
        return np.ascontiguousarray(np.matrix_transpose(B @ np.matrix_transpose(A)))
    return A @ namespace(B).matrix_transpose(B)


def add_product(A: Any, B: Any, C: Any, sign: int = 1) -> Array:
    """Compute A + B C, or A − B C with sign −1, entry by entry; on tensors in one pass."""
    if array_api_compat.is_torch_array(A):
        return A.addcmul(B, C, value=sign)
    return A + B * C if sign > 0 else A - B * C


def product_less_half(A: Any, B: Any, C: Any) -> Array:
    """Compute A B − C / 2 for A (k, c), B (c, n) and C (k, 1); on tensors in one operation."""
    if array_api_compat.is_torch_array(A):
        return C.addmm(A, B, beta=-0.5)
    return A @ B - 0.5 * C


def times_gram(A: Array, v: Array) -> Array:
    """Compute Aᵀ A v for A (c, n) and v (n, b).

    On a CPU A is read only once. Not in threads: they would meet too often.
    """
    if not isinstance(A, np.ndarray):
        return namespace(A).matrix_transpose(A) @ (A @ v)
    total: Any = np.zeros_like(v, dtype=A.dtype)
    for part in np.array_split(A, -(-A.nbytes // _CACHED_BYTES)):
        total += part.T @ (part @ v)
    return total


def argmax_of_middle(scores: Array) -> Array:
    """Find the first of the highest scores (m, k, n) along the middle axis, of shape (m, n).

    NumPy's argmax looks at the k scores of each row apart, which takes several times as long.
    """
    if not isinstance(scores, np.ndarray):
        return namespace(scores).argmax(scores, axis=1)
    best = scores[:, 0].copy()
    found = np.zeros(best.shape, dtype=np.min_scalar_type(scores.shape[1]))
    for j in range(1, scores.shape[1]):
        higher = scores[:, j] > best
        # Later ones have larger numbers, so that the largest is the last that was higher.
        np.maximum(found, higher * found.dtype.type(j), out=found)
        np.maximum(best, scores[:, j], out=best)
    return found.astype(np.int64)


def place(X: Array, device: str | None) -> Array:
    """Move `X` onto `device` ("cuda", "cpu", …) as a torch tensor; None leaves it where it is."""
    if device is None:
        return X
    try:
        import torch
    except ImportError as error:
        raise ImportError(
            f"device={device!r} needs PyTorch. Install torch, or leave device=None to use NumPy."
        ) from error
    try:
        X = np.require(X, requirements="W") if isinstance(X, np.ndarray) else X
        return torch.asarray(X, device=device)
    except (RuntimeError, AssertionError) as error:
        raise ValueError(f"device={device!r} cannot be used: {error}") from error


def restorer(X: Array) -> Callable[[Array], Array]:
    """Return the function that gives results back in the kind and on the device of `X`."""
    if not is_foreign(X):
        return to_numpy
    xp, device = namespace(X), device_of(X)

    def restore(result: Array) -> Array:
        if namespace(result) is xp:
            return array_api_compat.to_device(result, device)
        return xp.asarray(np.require(to_numpy(result), requirements="W"), device=device)

    return restore
