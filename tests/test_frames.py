"""Parameters of `read_table` may be given as people have them at hand."""

import pandas as pd
import pytest

from pckid import read_table

FRAME = pd.DataFrame({"id": list("abcdef"), "age": [9, 30, 41, 9, 33, 47], "code": [1, 2] * 3})


@pytest.fixture
def path(tmp_path):
    FRAME.to_csv(tmp_path / "t.csv", index=False)
    return tmp_path / "t.csv"


def test_a_path_may_be_of_any_kind(path):
    assert read_table(path).frame.equals(read_table(str(path)).frame)
    with pytest.raises(TypeError, match="PathLike object, not DataFrame"):
        read_table(FRAME)


@pytest.mark.parametrize("nine", ["9", 9, 9.0, [9], ["9"], "age=9"])
def test_one_text_or_number_is_a_list_of_one(path, nine):
    found = read_table(path, na_values=nine, columns="age").frame
    assert found.columns.tolist() == ["age"]
    assert found["age"].isna().tolist() == (FRAME["age"] == 9).tolist()


def test_what_no_parameter_means_is_said(path):
    with pytest.raises(TypeError, match=r"na_values is \{'age': 9\}\. Give a list"):
        read_table(path, na_values={"age": 9})
    with pytest.raises(ValueError, match=r"'x' is neither '\.' nor ','\. See decimal="):
        read_table(path, decimal="x")


def test_sheets_may_be_numbered(path):
    FRAME.to_excel(path.with_suffix(".xlsx"), index=False)
    assert read_table(path.with_suffix(".xlsx"), sheet=1).frame.shape == (6, 2)
    with pytest.raises(ValueError, match=r"no sheet '2'. Its sheets are: 1 'Sheet1'"):
        read_table(path.with_suffix(".xlsx"), sheet=2)
