"""The paragraph for a paper: what was done and found, as the fit and the verdict have it."""

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from unsaid import watching

from pckid.assessment import Assessment
from pckid.say import methods
from pckid.say.citation import BIBTEX, DOI
from pckid.say.methods import MethodFacts, write_methods
from pckid.significance.agreement import Run
from pckid.significance.dependence import RowDependence
from pckid.significance.gaps import Gaps
from pckid.significance.levels import Answer

G, S, N = Answer.GROUPS, Answer.STRUCTURE, Answer.NONE
FACTS = MethodFacts(
    version="1.0.0", thing="row", n_rows=342, n_without=2, n_columns=6, n_categories=1,
    share_missing=0.0113, n_inits=10, sizes=(8, 2, 28), covariance_type="diag",
    embedding="random_walk", weighting="fine", scaling="each", missingness="ignorable",
    n_factors=0, n_telling=6, n_clusters=3, is_chosen=True, n_ignored=1, n_known=0,
    is_weighted=False, random_state=0,
)  # fmt: skip
OTHER = replace(
    FACTS, thing="case", n_rows=1200, n_without=0, n_categories=0, share_missing=0.0, n_inits=1,
    sizes=(1, 4, 4), covariance_type="full", embedding="kernel_pca", weighting="equal",
    scaling="common", is_chosen=False, n_ignored=0, n_known=2, is_weighted=True,
    random_state=None,
)  # fmt: skip
WIDE = replace(FACTS, n_columns=2000, n_categories=0, n_factors=4, n_telling=320, n_ignored=0)
FOUND = Assessment(
    3, 342, 342, 5.0, np.zeros(18), 0.0001, Gaps(np.zeros((3, 3)), np.array([0, 1, 0])),
    np.ones(3), np.array([1.0, 0.9, 1.0]), n_resamples=20, runs=(Run(G, 3),) * 3,
)  # fmt: skip
NEAR = RowDependence(0.53, 12.0, "days", 40.0, within_groups=False)
WITHIN = RowDependence(0.4, 0.0, "", 40.0, within_groups=True)
CASES = {
    "groups": (FACTS, FOUND),
    "number given, all equal": (OTHER, replace(FOUND, runs=(), dependence=NEAR)),
    "wide": (WIDE, replace(
        FOUND, gaps=Gaps(np.ones((3, 3)), np.zeros(3, int)), runs=(Run(S, 3),) * 3)),
    "none": (replace(FACTS, n_clusters=1), replace(
        FOUND, n_clusters=1, p_value=0.4, gaps=None, cluster_recovery=None, runs=(Run(N, 1),) * 3)),
    "undecided": (FACTS, replace(
        FOUND, runs=tuple(Run(each, 3) for each in (G, G, S, N, G, S, S)), dependence=WITHIN)),
    "informative": (replace(FACTS, missingness="informative"), None),
    "some informative": (replace(FACTS, missingness=["age"]), replace(FOUND, p_value=None)),
    "in order": (FACTS, replace(FOUND, alike_in_order=0.8)),
    "together": (FACTS, replace(FOUND, n_together=60)),
}  # fmt: skip


def test_paragraphs(golden):
    with watching(methods) as unsaid:
        written = {name: write_methods(*case) for name, case in CASES.items()}
    golden("\n\n".join(f"{name}: {text}" for name, text in written.items()))
    assert not unsaid, "CASES lacks one of which this is said:\n" + "\n".join(unsaid)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_every_paragraph_ends_sentences_once(case):
    text = write_methods(*case)
    assert text.endswith(".")
    assert not re.search(r"\.\.|  | \.|None|\{", text)


def test_the_reference_is_that_of_the_citation_file():
    citation = Path(__file__).parents[2].joinpath("CITATION.cff").read_text("utf-8")
    assert f"doi: {DOI}" in citation
    for name in ("Løkse", "Bianchi", "Salberg", "Jenssen"):
        assert f"family-names: {name}" in citation
        assert name.replace("ø", r"{\o}") in BIBTEX
    assert BIBTEX.count("{") == BIBTEX.count("}")
    assert BIBTEX.isascii()
