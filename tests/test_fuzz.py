"""A few hundred cases of each kind; `make fuzz` runs the full counts."""

import fuzz


def test_mutated_model_files_are_refused_by_our_own_error():
    ends = fuzz.model_files(300, every=23)
    assert ends["cut: loaded"] == ends["mutated: loaded"] == 0
    assert ends["signed: refused"] > 0


def test_mutated_tables_end_with_0_or_3():
    ends = fuzz.tables(150)
    assert set(ends) == {"exit code 0", "exit code 3"}


def test_odd_tables_give_no_nan():
    assert fuzz.pipeline(30) >= 30
