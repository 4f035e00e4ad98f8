"""What `make lint` says of circles of imports, and of reading what is an estimator's own."""

import ast

import pytest

from tools.structure import complaints, find_circles, imports_of, private_reads


def test_the_package_has_no_circle_and_reads_no_estimator_from_elsewhere():
    assert complaints() == []


@pytest.mark.parametrize(
    ("imports", "expected"),
    [
        ({"a": {"b"}, "b": {"c"}, "c": set()}, []),
        ({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}, [["a", "b", "c"]]),
        ({"a": {"b"}, "b": {"a"}, "c": {"d"}, "d": {"c", "a"}}, [["a", "b"], ["c", "d"]]),
    ],
)
def test_circles_are_found(imports, expected):
    assert find_circles(imports) == expected


def test_imports_within_functions_and_for_types_are_arrows():
    code = """
from typing import TYPE_CHECKING
import a.one
if TYPE_CHECKING:
    from a.two import Type
def f():
    from a import three
    from a.four import name
"""
    known = {"a", "a.one", "a.two", "a.three", "a.four"}
    expected = ["a.one", "a.two", "a.three", "a.four"]
    assert list(imports_of(ast.parse(code), known)) == expected


@pytest.mark.parametrize(
    ("code", "n_found"),
    [
        ("estimator._kernel", 1),
        ("self.model._fitted.kernel", 1),
        ("model._sizes = 3", 1),
        ("getattr(estimator, '_categories', {})", 1),
        ("hasattr(earlier, '_summary')", 1),
        ("estimator.state_.kernel", 0),
        ("self._kernel", 0),
        ("model._replace(weights=None)", 0),
        ("getattr(estimator, 'labels_')", 0),
        ("estimator.__dict__", 0),
    ],
)
def test_reading_what_is_an_estimators_own_is_found(code, n_found):
    assert len(list(private_reads(ast.parse(code)))) == n_found
