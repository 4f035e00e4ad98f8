"""What a profile consists of; `Profile` also writes, draws and saves it."""

from dataclasses import dataclass, field

from pckid.profiles.columns import Column


@dataclass(frozen=True)
class ClusterHead:
    """What stands above a column of the profile.

    Attributes
    ----------
    number : int
    name : str
    n_rows : int
    share : float
        Of the rows that have a cluster.
    found_again : float or None
        The share of random halves of the rows in which it is found again; None if not assessed.
    sign : int
        Which sign and colour it has: those of its number, or of the cluster that it stands for; −1
        of what is no cluster.
    note : str
        What else to know of it.
    """

    number: int
    name: str
    n_rows: int
    share: float
    found_again: float | None
    sign: int
    note: str = ""


@dataclass(frozen=True, repr=False)
class ProfileParts:
    """The clusters and the columns of a profile; `Profile` says what each part is."""

    clusters: list[ClusterHead]
    columns: list[Column]
    groups: list[list[int]] = field(default_factory=list)
    thing: str = "row"
    n_resamples: int = 0
