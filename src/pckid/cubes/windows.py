"""Windows of a grid of pixels: how it is divided, and margins around them."""

from __future__ import annotations

from collections.abc import Iterator

Window = tuple[slice, slice]  # rows and columns
# A window holds at most about so many numbers, so that memory does not grow with the scene.
_WINDOW_NUMBERS = 1 << 23
_SIDES = (1024, 512, 256, 128, 64)


def window_side(n_layers: int) -> int:
    """Choose the side of windows of so many layers, in pixels."""
    return next((side for side in _SIDES if side**2 * n_layers <= _WINDOW_NUMBERS), _SIDES[-1])


def windows(shape: tuple[int, int], side: int) -> Iterator[Window]:
    """Divide a grid into windows of `side` × `side` pixels, smaller at the ends, row by row."""
    for top in range(0, shape[0], side):
        for left in range(0, shape[1], side):
            bottom, right = min(top + side, shape[0]), min(left + side, shape[1])
            yield slice(top, bottom), slice(left, right)


def bounds(window: Window) -> tuple[int, int, int, int]:
    """Return the first row and column of a window, and those after its last."""
    rows, columns = window
    return rows.start, columns.start, rows.stop, columns.stop


def widen(window: Window, reach: int, shape: tuple[int, int]) -> Window:
    """Add a margin of `reach` pixels to a window, as far as there are any."""
    rows, columns = (
        slice(max(each.start - reach, 0), min(each.stop + reach, length))
        for each, length in zip(window, shape, strict=True)
    )
    return rows, columns


def within(window: Window, wide: Window) -> Window:
    """Find where a window lies within a wider one."""
    rows, columns = (
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(window, wide, strict=True)
    )
    return rows, columns
