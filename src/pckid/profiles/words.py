"""Words around a profile: above its columns, and below it."""

from pckid._utils.text import counted
from pckid.profiles.columns import NumberProfile
from pckid.profiles.parts import ClusterHead, ProfileParts

MAX_WIDE = 7  # clusters that have room for quartiles and words


def write_sizes(profile: ProfileParts, head: ClusterHead) -> str:
    """Write how many rows a cluster has: "151 rows · 44 %"."""
    few = len(profile.clusters) <= MAX_WIDE
    rows = counted(head.n_rows, profile.thing) if few else f"{head.n_rows:,}"
    return f"{rows} · {100 * head.share:.0f} %"


def write_again(profile: ProfileParts, head: ClusterHead) -> str:
    """Write how often a cluster is found again; nothing where that was not assessed."""
    if head.found_again is None:
        return ""
    if len(profile.clusters) > MAX_WIDE:
        return f"again {count_again(profile, head).replace(' of ', '/')}"
    return f"found again {count_again(profile, head)}"


def count_again(profile: ProfileParts, head: ClusterHead) -> str:
    """Write in how many halves of the rows a cluster is found again: "19 of 20"."""
    if head.found_again is None:
        return ""
    return f"{round(head.found_again * profile.n_resamples)} of {profile.n_resamples}"


def measure_name(profile: ProfileParts) -> tuple[str, str]:
    """Say what the cells hold, and what stands beside it."""
    if any(isinstance(column, NumberProfile) and column.is_mean for column in profile.columns):
        return "Mean", "± standard deviation"
    if any(isinstance(column, NumberProfile) for column in profile.columns):
        return "Median", "middle half"
    return "Commonest", "share"


def group_name(place: int) -> str:
    """Name a group by its place: "Group A"."""
    return f"Group {chr(65 + place % 26)}"


def describe_tints(profile: ProfileParts) -> str:
    """Say what comes first and what the colours mean."""
    if len(profile.clusters) == 1:
        return "From observed values alone."
    if measure_name(profile)[0] == "Mean":
        return (
            "From observed values alone; columns that separate the clusters most come first. "
            "pckid.profile(model, X) has medians, and grades what is more than noise."
        )
    graded = any(
        column.cell(head.number).level for column in profile.columns for head in profile.clusters
    )
    if not graded:
        return "From observed values alone. No cluster differs by more than noise would."
    return (
        "From observed values alone; columns that tell the clusters apart most come first. "
        f"Tint: the {profile.thing}s of the cluster lie higher (orange, ▲) or lower (blue, ▼) than "
        "the others, or hold the answer more or less often, by more than noise would."
    )
