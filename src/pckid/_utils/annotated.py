"""AnnData objects as frames: whoever has one has imported anndata and pandas; nobody else does."""

from typing import Any


def is_annotated(X: Any) -> bool:
    """Return whether `X` is a matrix of rows and variables that have names, as AnnData has it."""
    return type(X).__module__.partition(".")[0] == "anndata" and hasattr(X, "var_names")


def named_frame(X: Any) -> Any:
    """Make a frame of pandas of the matrix X, whose index and columns are the names.

    Cells that a sparse matrix does not store are zeros.
    """
    if X.X is None:
        raise ValueError(
            "The AnnData object has no matrix X. Give one of its layers: X.to_df(layer=...)."
        )
    return X.to_df()
