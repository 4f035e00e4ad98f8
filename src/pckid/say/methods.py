"""A paragraph on the method for a paper: what was done, with which settings, and what was found."""

from dataclasses import dataclass
from typing import Any

from pckid._utils.text import counted, join_words, write_p
from pckid.significance.levels import Answer

_COVARIANCES = {
    "diag": "diagonal covariance matrices",
    "full": "full covariance matrices",
    "tied": "one full covariance matrix for all components",
    "tied_diag": "one diagonal covariance matrix for all components",
    "spherical": "one variance for each component",
}
_EMBEDDINGS = {
    "random_walk": "of the random walk on the kernel (normalised cut)",
    "kernel_pca": "of the kernel",
}


@dataclass(frozen=True)
class MethodFacts:
    """What a paragraph on the method has to tell of a fit."""

    version: str
    thing: str
    n_rows: int  # that are in a cluster
    n_without: int
    n_columns: int
    n_categories: int  # columns of categories
    share_missing: float
    n_inits: int
    sizes: tuple[int, int, int]  # how many numbers of components, the smallest and the largest
    covariance_type: str
    embedding: str
    weighting: str  # of the models
    scaling: str
    missingness: Any
    n_factors: int
    n_telling: int
    n_clusters: int
    is_chosen: bool
    n_ignored: int
    n_known: int  # groups that were known
    is_weighted: bool
    random_state: Any


def write_methods(facts: MethodFacts, found: Any) -> str:
    """Write the paragraph; `found` is an Assessment, or None."""
    parts = [
        _write_table(facts),
        _write_model(facts),
        _write_number(facts, found),
        *_write_evidence(facts, found),
    ]
    if isinstance(facts.random_state, int):
        parts.append(f"The random seed was {facts.random_state}.")
    return " ".join(parts)


def _write_table(facts: MethodFacts) -> str:
    """Write what was clustered."""
    kinds = f" ({facts.n_categories} categorical)" if facts.n_categories else ""
    told = (
        f"The {counted(facts.n_rows, facts.thing)} with {counted(facts.n_columns, 'variable')}"
        f"{kinds} {'was' if facts.n_rows == 1 else 'were'} clustered with pckid {facts.version} "
        "(Løkse et al., 2017), which performs spectral clustering with a probabilistic cluster "
        "kernel for incomplete data. "
    )
    if facts.n_without:
        told += f"A further {counted(facts.n_without, facts.thing)} without any observed value "
        told += "was left out. " if facts.n_without == 1 else "were left out. "
    if not facts.share_missing:
        return told + "No value was missing."
    told += (
        f"{100 * facts.share_missing:.1f}% of the values were missing; none was imputed, and no "
        f"{facts.thing} was excluded for missing values. "
    )
    if facts.missingness == "ignorable":
        return told + "Values were assumed to be missing at random."
    which = "Missingness" if facts.missingness == "informative" else "Missingness in some variables"
    return told + f"{which} was modelled as informative."


def _write_model(facts: MethodFacts) -> str:
    """Write how the ensemble was made, and the rows embedded."""
    n, low, high = facts.sizes
    sizes = f"with {low} components"
    if n > 1:
        sizes = f"for each of {n} numbers of components from {low} to {high}"
    of = ", each variable scaled by its own spread"
    if facts.n_factors:
        of = (
            f", by their scores on {counted(facts.n_factors, 'factor')} of {facts.n_telling:,} "
            "variables"
        )
    elif facts.scaling == "common":
        of = ", the variables in their common unit"
    mean = "mean" if facts.weighting == "equal" else "weighted mean"
    weights = f" The {facts.thing}s were weighted." if facts.is_weighted else ""
    return (
        f"Gaussian mixture models with {_COVARIANCES[facts.covariance_type]} "
        f"({counted(facts.n_inits, 'random start')} {sizes}) were fitted by "
        f"expectation–maximisation to random subsets of the {facts.thing}s{of}. The kernel of two "
        f"{facts.thing}s is the {mean} product of their posterior probabilities over all models; "
        f"k-means was applied to its leading eigenvectors, those "
        f"{_EMBEDDINGS[facts.embedding]}.{weights}"
    )


def _write_number(facts: MethodFacts, found: Any) -> str:
    """Write where the number of clusters comes from."""
    clusters = counted(facts.n_clusters, "cluster")
    known = f" {counted(facts.n_known, 'group')} of known members named clusters."
    told = f"The number of clusters was set to {facts.n_clusters}."
    if facts.is_chosen:
        told = (
            f"The number of clusters was chosen by the drop in the spectrum: {clusters}"
            + (", since tables without groups looked alike" if facts.n_clusters == 1 else "")
            + "."
        )
        if facts.n_ignored:
            told += (
                f" {counted(facts.n_ignored, 'variable')} that agreed with no other about groups "
                f"{'was' if facts.n_ignored == 1 else 'were'} not used."
            )
    return told + known * bool(facts.n_known)


def _write_evidence(facts: MethodFacts, found: Any) -> list[str]:
    """Write how clear the clusters are, by how many null tables, runs and halves of the rows."""
    if found is None:
        return ["How clear the clusters are was not tested."]
    if found.answer is Answer.UNKNOWN or found.p_value is None:
        return ["There was too little to test how clear the clusters are."]
    told = [_write_dependence(facts, found)]
    n_null = len(found.null_statistics)
    p = write_p(found.p_value) if found.p_value <= 0.1 else "p > 0.1"
    told.append(
        f"The clusters were compared with those of {counted(n_null, 'null table')} without groups, "
        "which have the same size, missing cells and correlations, and unimodal marginal "
        f"distributions ({p}, one-sided, level {found.levels.structure:g})."
    )
    if found.gaps is not None and found.has_groups:
        told.append(_write_gaps(found))
    if len(found.runs) > 1:
        told.append(_write_runs(found))
    if found.cluster_recovery is not None:
        again = sorted(round(float(x) * found.n_resamples) for x in found.cluster_recovery)
        often = f"{again[0]}" if again[0] == again[-1] else f"{again[0]} to {again[-1]}"
        told.append(
            f"Each cluster was found again, with a Jaccard index of at least 0.75, in {often} of "
            f"{found.n_resamples} random halves of the {facts.thing}s."
        )
    return told


def _write_dependence(facts: MethodFacts, found: Any) -> str:
    """Write what was assumed about how rows depend on each other."""
    how, things = found.dependence, f"{facts.thing}s"
    if how is not None:
        by = "within groups" if how.within_groups else "by their distance"
        far = f", falling to 0.2 at {how.reach:.3g} {how.unit}".rstrip() if how.reach else ""
        return (
            f"The {things} were allowed to depend on each other {by} (correlation "
            f"{how.correlation:.2f}{far}), in null tables as in the data."
        )
    if found.n_together is not None:
        return (
            f"The {things} of each of {found.n_together:,} groups were drawn together; they did "
            "not depend on each other beyond that."
        )
    if found.alike_in_order:
        return (
            f"The {things} were taken to be independent, although those that follow each other "
            f"were correlated ({found.alike_in_order:.2f})."
        )
    return f"The {things} were taken to be independent."


def _write_gaps(found: Any) -> str:
    """Write which gaps there are."""
    level = f"at level {found.levels.gaps:g}, by the fewest {'rows'} between two clusters"
    if found.n_separated > 1:
        return f"Gaps, {level}, separated {counted(found.n_separated, 'group')}."
    return f"No gap, {level}, separated the clusters."


def _write_runs(found: Any) -> str:
    """Write how many runs agree, each by seeds of its own."""
    words = {
        Answer.GROUPS: "separated groups",
        Answer.STRUCTURE: "structure without gaps",
        Answer.NONE: "no groups",
    }
    told = [f"{n} found {words.get(a, 'too little to tell')}" for a, n in found.answers.items()]
    n_runs = len(found.runs)
    of = f"of {n_runs} runs, {join_words(told)}"
    if len(told) == 1:
        of = f"all {n_runs} runs {told[0].partition(' ')[2]}"
    return f"The whole decision was repeated with other random seeds: {of}."
