"""Outcomes and known groups are asked about once, by name, by answers and by place."""

import numpy as np
import pytest

from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import ColumnOptions, drop_column
from pckid.frontends.preparing import prepare
from pckid.frontends.questions.may_be_outcomes import OUTCOMES

RNG = np.random.default_rng(0)
AGE, SIZE = RNG.normal(50, 9, 60).round(1), RNG.normal(size=60).round(3)
TIME, EVENT = RNG.integers(1, 900, 60), RNG.integers(0, 2, 60)


def ask(tmp_path, columns, **options):
    rows = [
        ",".join(columns),
        *(",".join(map(str, r)) for r in zip(*columns.values(), strict=True)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows), "utf-8")
    found = prepare(open_table(str(tmp_path / "t.csv")), ColumnOptions(**options))
    return [each for each in found.doubts if each.code == OUTCOMES.code]


@pytest.mark.parametrize(
    ("columns", "why"),
    [
        ({"futime": TIME, "age": AGE, "fustat": EVENT, "death": EVENT}, {
            "futime": "time", "death": "event"}),
        ({"exitstat": EVENT, "cause": TIME % 4, "size": SIZE}, {
            "exitstat": "event", "cause": "event"}),
        ({"days": TIME, "died": EVENT, "days2": TIME, "size": SIZE}, {
            "days": "time", "died": "event"} | {"days2": "time"}),
        ({"Klasse": ["LIVE" if e else "DIE" for e in EVENT], "age": AGE, "size": SIZE}, {
            "Klasse": "answers"}),
        ({"age": AGE, "size": SIZE, "label": TIME % 3}, {"label": "class"}),
        ({"age": AGE, "size": SIZE, "rx": EVENT}, {"rx": "last"}),
        ({"verstorben": ["ja" if e else "nein" for e in EVENT], "age": AGE, "size": SIZE}, {
            "verstorben": "event"}),
    ],
)  # fmt: skip
def test_all_outcomes_are_one_question(tmp_path, columns, why):
    (asked,) = ask(tmp_path, columns)
    assert asked.data["why"] == why
    strong = [name for name, each in why.items() if each != "last"]
    assert asked.stops == (len(strong) > 1 or "answers" in why.values())
    assert asked.fix == tuple(map(drop_column, strong)) * asked.stops
    assert ask(tmp_path, columns, as_is=tuple(why)) == []
    assert ask(tmp_path, columns, drop=tuple(why)) == []
    assert ask(tmp_path, columns, take_advice=True) == [] or not asked.stops


@pytest.mark.parametrize(
    "columns",
    [
        {"marital_status": EVENT, "age": AGE, "size": SIZE},
        {"death_rate": AGE, "infant_mortality": SIZE, "age": AGE},
        {"age": AGE, "days": TIME, "size": SIZE},
        {"id_class": TIME % 3, "eventID": TIME % 4, "size": SIZE},
        {"x": AGE, "y": EVENT, "size": SIZE},
    ],
)
def test_features_are_not_asked_about(tmp_path, columns):
    assert ask(tmp_path, columns) == []
