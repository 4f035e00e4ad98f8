"""What the page asks is answered: looks, questions, runs, names, new rows, and what goes wrong."""

import io
import json
import lzma
import time

import pyarrow.feather
import pytest
import xlsxwriter
from helpers import groups
from office_workbooks import write_messy_workbook

from pckid import PCKID
from pckid.frontends import run as runs
from pckid.frontends.app import answer as room
from pckid.frontends.app.answer import SECONDS_KEPT, Desk, Wrong
from pckid.frontends.formats.opening import open_table
from pckid.frontends.options import CaseOptions, ColumnOptions

LIMITS = ["bili,x", *(f"{i % 7 + 0.25},{i * 5 % 11}" for i in range(30)), "<0.5,3", "<0.5,4"]
GERMAN = "Größe;Käfer\n1,5;grün\n2,5;rot\n"


@pytest.fixture(scope="module", autouse=True)
def few_null_tables():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(runs, "N_NULL", 5)
        patch.setattr(runs, "N_RESAMPLES", 2)
        patch.setitem(PCKID.__init__.__kwdefaults__, "n_runs", 1)
        yield


class Page:
    """A page that asks a desk about one table, as the script of the page does."""

    def __init__(self, *lines, name="t.csv", content=None, desk=None):
        self.desk = desk or Desk()
        content = content if content is not None else "\n".join(lines).encode()
        self.file = self.desk.take(name, content)["file"]
        self.how, self.k, self.like = {}, None, None
        self.look()

    def ask(self, what, **given):
        # What goes through JSON is what it was.
        request = json.loads(json.dumps({"ask": what, **given}))
        return json.loads(json.dumps(self.desk.answer(request)))

    def look(self, **given):
        self.shown = self.ask("look", file=self.file, how=self.how, k=self.k, **given)
        if "encoding" in self.shown:
            self.how["encoding"] = self.shown["encoding"]
        return self

    def set(self, **how):
        self.how |= how
        return self.look()

    def change(self, name, used, role):
        self.look(change=[name, used, role])
        self.how["edits"] = self.shown["edits"]
        return self

    def say(self, label):
        """Choose an answer, as one clicks it."""
        (question,) = [each for each in self.shown["questions"] if label in each["answers"]]
        place = question["answers"].index(label)
        edits = self.how.get("edits", {})
        self.how["edits"] = {k: v for k, v in edits.items() if k not in question["columns"]}
        return self.set(answers=self.how.get("answers", {}) | {question["key"]: place})

    @property
    def settings(self):
        return self.desk._decide({"file": self.file, "how": self.how, "k": self.k}).settings

    @property
    def options(self):
        return self.settings.options

    def column(self, name):
        return next(each for each in self.shown["columns"] if each["name"] == name)

    def field(self, option):
        return next(each for each in self.shown["fields"] if each["option"] == option)

    def chosen(self):
        """The answers that hold, as the page marks them."""
        return [
            each["chosen"] is not None and each["answers"][each["chosen"]]
            for each in self.shown["questions"]
        ]

    def run(self, what="find", **given):
        how = {"file": self.file, "how": self.how, "k": self.k, "like": self.like}
        job = self.ask(what, **(how | given))
        return self.ask("progress", job=job["job"]) if "job" in job else job

    def bytes_of(self, told, name):
        return self.desk.file_of(told["made"], name)


def rows(*names, n_rows=12):
    cells = [",".join(str((3 * i + 5 * j) % 7) for j in range(len(names))) for i in range(n_rows)]
    return [",".join(names), *cells]


def write_rows(n_samples=60, n_features=4):
    X, truth = groups(n_samples=n_samples, n_features=n_features)
    lines = [",".join("" if x != x else f"{x:.3f}" for x in row) for row in X]
    return [",".join("abcdefgh"[:n_features]), *lines], truth


@pytest.fixture(scope="module")
def sixty():
    """Three groups of sixty rows, found; and the page that asked for them."""
    page = Page(*write_rows()[0])
    page.k = 3
    return page, page.run()


def test_advice_is_taken_before_anybody_asks_and_what_it_brings_to_light():
    page = Page(*LIMITS, "-9,-9", "-9,2")
    assert page.shown["questions"][0]["code"] == "limits"
    assert page.chosen()[0] == "Read as 0.5"
    assert len(page.shown["questions"]) > 1
    assert False not in page.chosen()
    assert (page.options.limits, page.options.drop) == ("value", ())
    assert (page.shown["find"], page.shown["wrong_yet"]) == ("Find groups in 2 columns", "")


def test_another_answer_changes_the_table_and_can_be_taken_back():
    page = Page(*LIMITS).say("Half")
    assert (page.options.limits, page.chosen()) == ("half", ["Half"])
    assert page.column("bili")["values"].startswith("0.25")
    page.say("Read as 0.5")
    assert page.options.limits == "value"
    page.change("bili", False, "number")
    assert (page.options.drop, page.column("bili")["used"]) == (("bili",), False)
    assert page.shown["find"] == "Find groups in 1 column"


@pytest.mark.parametrize(
    ("answer", "role", "told"),
    [
        ("Keep them", "known", {"known": "seg"}),
        ("Compare only", "labels", {"labels": "seg"}),
        ("Use as category", "category", {"categorical": ("seg",)}),
        ("It is a number", "number", {}),
    ],
)
def test_known_groups_are_kept_compared_or_used_as_answered(answer, role, told):
    lines = [f"{i * i % 97}.5,{i * 7 % 83}.5,{i % 2 + 1 if i < 9 else ''}" for i in range(100)]
    page = Page("a,b,seg", *lines)
    assert [each["code"] for each in page.shown["questions"]] == ["known groups"]
    assert page.column("seg")["asked"]
    page.say(answer)
    assert page.options == ColumnOptions(**told)
    assert page.column("seg")["role"] == role
    assert page.column("seg")["used"] == (role in ("category", "number"))


def test_rows_are_left_out_by_an_answer():
    cells = [f"r{i},{i * 7 % 11},{i * 5 % 13}" for i in range(20)]
    sums = [sum(int(cell.split(",")[j]) for cell in cells) for j in (1, 2)]
    page = Page("name,a,b", *cells, f"Total,{sums[0]},{sums[1]}")
    assert page.chosen() == ["Leave it out"]
    assert page.settings.upload.reading.skip_last == 1
    assert page.shown["head"].startswith("20 rows")
    kept = next(label for label in page.shown["questions"][0]["answers"] if "out" not in label)
    page.say(kept)
    assert page.settings.upload.reading.skip_last == 0
    assert page.shown["head"].startswith("21 rows")


def test_single_rows_are_left_out_by_an_answer():
    cells = [f"{i * 7 % 11 + 0.5},{i * 5 % 13}" for i in range(20)]
    page = Page("a,b", *cells, "all,7", *cells).say("Leave the row out")
    assert page.settings.upload.reading.drop_rows == ("22",)
    assert page.options.drop == ()
    assert page.shown["head"].startswith("40 rows")


def test_changes_by_hand_outlive_answers_about_other_columns():
    page = Page(*LIMITS).change("x", True, "category")
    assert page.options.categorical == ("x",)
    page.say("Half")
    assert (page.options.limits, page.options.categorical) == ("half", ("x",))
    page.change("bili", True, "category").say("Half")
    assert page.options.categorical == ("x",)
    page.change("x", True, "month")
    assert "cannot be" in page.shown["said"]
    assert page.options.categorical == ("x",)


def test_what_stops_a_run_must_be_answered():
    page = Page("a,a2,cluster", *(f"{i * 7 % 5},{i % 3},{i % 2}" for i in range(12)))
    assert False not in page.chosen()
    dates = [f"{1 + i % 12}/{1 + i % 11}/2024,{i % 2 * 9 + i % 3}" for i in range(60)]
    page = Page("day,x", *dates).change("day", True, "use")
    assert page.chosen() == [False]
    assert page.shown["wrong_yet"]
    assert page.run() == {"wrong": page.shown["wrong_yet"]}
    assert page.say(page.shown["questions"][0]["answers"][0]).shown["wrong_yet"] == ""


def test_nothing_to_use_is_said():
    assert "column" in Page("a,b", *("1,x" for _ in range(12))).shown["wrong_yet"]


def test_lines_of_cases_are_told_by_menus(golden):
    page = Page(*rows("patient", "day", "pulse"))
    assert page.options.lines is None
    page.set(lines={"several": True})
    golden(page.shown["wrong_yet"])
    page.set(lines={"several": True, "case": "patient", "time": "day"})
    assert page.options.lines == CaseOptions("patient", "day")
    assert page.settings.n_columns == 1
    four = Page(*rows("patient", "day", "test", "result"))
    told = {"several": True, "case": "patient", "time": "day", "variable": "test"}
    four.set(lines=told | {"from_first": True})
    assert "both" in four.shown["wrong_yet"]
    four.set(lines=told | {"from_first": True, "value": "result"})
    assert four.options.lines == CaseOptions("patient", "day", "test", "result", from_first=True)


def test_the_number_of_groups_is_found_or_given():
    page = Page(*rows("a", "b"))
    assert page.settings.n_clusters == "auto"
    page.k = 9
    assert page.settings.n_clusters == 9


def test_a_messy_workbook_needs_no_press_but_one(tmp_path):
    write_messy_workbook(tmp_path / "messy.xlsx", n_rows=60)
    page = Page(name="messy.xlsx", content=(tmp_path / "messy.xlsx").read_bytes())
    head = "60 rows (1 below the names or at the end left out), 18 columns · sheet Data 2024 · "
    assert page.shown["head"].startswith(head[:7])
    assert "names in rows 4–5" in page.shown["head"]
    assert page.shown["find"] == "Find groups in 17 columns"
    assert len(page.shown["questions"]) == 5
    assert False not in page.chosen()
    assert page.column("blood bili")["role"] == "number"


# How a file is read


def workbook(**sheets):
    """Write sheets, each a list of rows."""
    content = io.BytesIO()
    with xlsxwriter.Workbook(content) as book:
        for name, lines in sheets.items():
            sheet = book.add_worksheet(name)
            for number, line in enumerate(lines):
                sheet.write_row(number, 0, line)
    return content.getvalue()


def test_a_sheet_is_chosen_and_how_one_is_read_is_not_asked_of_another():
    part = [["a", "b"], [1, 2], [3, 4], [5, 6]]
    content = workbook(About=[["Wounds"]], One=[*part, ["Total", 12]])
    page = Page(name="study.xlsx", content=content)
    assert [name for name, _ in page.field("sheet")["choices"]] == ["About", "One"]
    assert page.shown["names"] == ["a", "b"]
    page.set(sheet="About")
    assert "no rows" in page.shown["wrong"]
    assert page.set(sheet="One", skip_last=1).settings.upload.reading.skip_last == 1
    damaged = Page(name="study.xlsx", content=b"PK\x03\x04 broken")
    assert "damaged" in damaged.shown["wrong"]
    assert not [each for each in damaged.shown["fields"] if each["option"] == "sheet"]


def test_text_of_windows_is_read_and_its_letters_can_be_changed(golden):
    page = Page(name="Käfer.csv", content=GERMAN.encode("cp1252"))
    assert page.field("encoding")["value"] == "cp1252"
    assert page.shown["names"] == ["Größe", "Käfer"]
    assert page.set(encoding="mac-roman").shown["names"] != ["Größe", "Käfer"]
    plain = Page(name="Käfer.csv", content=GERMAN.encode())
    golden([each["label"] for each in plain.shown["fields"]])


def test_what_is_no_text_is_not_taken_for_one():
    for start in (b"II*\0", b"CDF\x01", b"\x89HDF\r\n\x1a\n"):
        with pytest.raises(Wrong, match=r"pckid cluster 'my scene\.tif' --out clusters\.tif"):
            Desk().take("my scene.tif", start + bytes(99))
    page = Page(name="photo.csv", content=b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0")
    assert "is a picture" in page.shown["wrong"]
    assert "is a PDF document" in Page(name="a.xlsx", content=b"%PDF-1.4\n%\xe2\xe3").shown["wrong"]


def test_the_sign_between_cells_and_rows_that_are_no_data_can_be_told():
    odd = b"a note\nwritten 2024\nx|y,z|w\n1|2,5|3\n4|5,5|6\n7|8,5|9\n"
    page = Page(name="odd.csv", content=odd).set(skip_first=3, delimiter="|")
    assert page.shown["names"] == ["x", "y,z", "w"]
    reading = page.settings.upload.reading
    assert (reading.skip_first, reading.delimiter) == (2, "|")
    units = Page("a,b", "kg,cm", "1,2", "3,4", "5,6").set(skip_below=1, skip_last=1)
    assert units.shown["head"].startswith("2 rows")
    missing = Page("a,b", *("-77,1" for _ in range(9)), "1,2", "3,4").set(na_values=["-77"])
    assert missing.column("a")["missing"] == 82
    packed = Page(name="t.csv.xz", content=lzma.compress(b"a\tb\n1\t2\n3\t4\n"))
    assert packed.shown["names"] == ["a", "b"]


def test_rows_that_do_not_fit_are_left_out_by_a_button():
    page = Page("a,b,c", *("1,2,3" for _ in range(9)), "the end")
    (offer,) = page.shown["offers"]
    assert offer["label"] == "Leave out 1 row at the end"
    assert page.set(**{offer["option"]: offer["value"]}).shown["head"].startswith("9 rows")


def test_numbers_beyond_all_bounds_and_odd_requests_are_answered_by_a_sentence():
    page = Page(*rows("a", "b"))
    hows = [
        {"skip_last": 10**30}, {"skip_last": "x"}, {"delimiter": 7}, {"edits": [1]},
        {"answers": 3}, {"lines": "x"}, {"edits": {"a": [True, "evil"]}}, {"answers": {"": -1}},
        {"na_values": 3}, {"encoding": "rot13"},
    ]  # fmt: skip
    for how in hows:
        told = page.ask("look", file=page.file, how=how)
        assert told.get("wrong") or "columns" in told
    requests = [
        {}, {"ask": "nothing"}, {"ask": "look"}, {"ask": "look", "file": ["x"]},
        {"ask": "find", "file": page.file, "k": []}, {"ask": "here", "keep": 3},
        {"ask": "names", "made": page.file, "names": []},
        {"ask": "look", "file": page.file, "change": ["no", True, "number"]},
    ]  # fmt: skip
    for request in requests:
        assert "wrong" in page.desk.answer(request)


# Runs


def test_a_run_tells_sizes_files_command_and_python(sixty):
    page, told = sixty
    assert [size for _, size in told["sizes"]] == [20, 20, 20]
    assert [each["as"] for each in told["files"]] == [
        "t-clusters.csv", "t-clusters.xlsx", "t-report.html", "t-model.pckid",
    ]  # fmt: skip
    assert told["command"].startswith("pckid cluster t.csv -k 3")
    assert "pckid.PCKID(3" in told["python"]
    assert told["numbers"] == [2, 3, 4, 5, 6]
    assert b"<html" in page.bytes_of(told, "report.html")
    assert page.ask("result", made=told["made"]) == told


def test_labels_come_in_the_format_of_the_file(sixty, tmp_path):
    page, told = sixty
    (tmp_path / "t.csv").write_bytes(page.bytes_of(told, "clusters.csv"))
    table = open_table(str(tmp_path / "t.csv")).data
    pyarrow.feather.write_feather(table.select(["a", "b"]), tmp_path / "t.feather")
    again = Page(name="t.feather", content=(tmp_path / "t.feather").read_bytes())
    again.k = 2
    made = again.run()
    assert made["files"][0]["as"] == "t-clusters.feather"
    found = pyarrow.feather.read_table(io.BytesIO(again.bytes_of(made, "clusters.feather")))
    assert found.column_names[:3] == ["a", "b", "cluster"]


def test_groups_are_named_and_numbered_like_those_of_an_earlier_model(sixty):
    page, told = sixty
    named = page.run("names", made=told["made"], names=["x", " y ", ""])
    assert named["names"] == ["x", "y", None]
    assert "Two clusters" in page.run("names", made=told["made"], names=["x", "x"])["wrong"]
    content = page.bytes_of(named, "model.pckid")
    page.like = page.desk.take("old.pckid", content)["file"]
    again = page.run()
    page.like = None
    assert again["names"] == ["x", "y", None]
    assert "--like old.pckid" in again["command"]


def test_new_rows_go_to_the_model_of_the_page_or_to_one_that_is_given(sixty):
    page, told = sixty
    placed = page.run("place", made=told["made"], file=page.file)
    assert [size for _, size in placed["sizes"]] == [20, 20, 20]
    assert placed["compared"]["moved"] is False
    model = page.desk.take("m.pckid", page.bytes_of(told, "model.pckid"))["file"]
    header, *cells = page.bytes_of(told, "clusters.csv").decode().splitlines()
    other = [f"{100 * float(cell.split(',')[0] or 1)},{cell.partition(',')[2]}" for cell in cells]
    new = Page(header, *other, desk=page.desk, name="new.csv")
    placed = new.run("place", model=model)
    assert placed["compared"]["moved"]
    assert any("'a'" in row[0] or row[0].endswith(" a") for row in placed["compared"]["rows"])
    lacks = Page(*(line.partition(",")[2] for line in [header, *cells]), desk=page.desk)
    assert "wrong" in lacks.run("place", model=model)
    assert "sizes" in lacks.run("place", model=model, missing_columns=True)


def test_a_large_workbook_is_written_when_it_is_asked_for(monkeypatch):
    monkeypatch.setattr("pckid.frontends.app.work.MAX_CELLS", 100)
    page = Page(*write_rows()[0])
    page.k = 2
    told = page.run()
    assert told["can_write_workbook"]
    written = page.run("workbook", made=told["made"])
    assert not written["can_write_workbook"]
    assert page.bytes_of(written, "clusters.xlsx").startswith(b"PK")


def test_the_penguins_have_their_species_aside():
    desk = Desk()
    given = desk.answer({"ask": "demo"})
    shown = desk.answer({"ask": "look", "file": given["file"], "how": {"edits": given["edits"]}})
    (label,) = [each for each in shown["columns"] if each["name"] == "label"]
    assert (label["role"], shown["find"]) == ("labels", "Find groups in 6 columns")
    assert shown["questions"] == []


# What is kept


class Never:
    """Work that never ends."""

    def __init__(self, *work):
        self.finished, self.stopped, self.error, self.stage = False, False, "", (0.5, "Fitting")

    def update(self):
        pass

    def stop(self):
        self.stopped = True


def test_work_is_watched_and_cancelled_and_ends_when_nobody_waits():
    page = Page(*rows("a", "b"), desk=Desk(Never))
    job = page.ask("find", file=page.file)["job"]
    assert page.ask("progress", job=job) == {"share": 0.5, "doing": "Fitting"}
    work = page.desk.get(job, room.Work).job
    assert page.ask("cancel", job=job) == {"wrong": "Cancelled."}
    assert work.stopped
    assert "memory" in page.ask("progress", job=job)["wrong"]
    left = page.desk.get(page.ask("find", file=page.file)["job"], room.Work).job
    page.desk.forget(time.monotonic() + 1)
    assert left.stopped


def test_a_few_run_at_a_time():
    page = Page(*rows("a", "b"), desk=Desk(Never))
    for _ in range(room.MAX_JOBS):
        assert "job" in page.ask("find", file=page.file)
    assert "Other pages" in page.ask("find", file=page.file)["wrong"]


def test_closed_pages_are_forgotten_and_open_ones_are_not():
    page = Page(*rows("a", "b"))
    other = page.desk.take("other.csv", b"a,b\n1,2\n")["file"]
    page.desk._kept[other].seen -= SECONDS_KEPT + 1
    page.desk._kept[page.file].seen -= SECONDS_KEPT - 60
    assert page.ask("here", keep=[page.file])["gone"] == []
    assert page.ask("here", keep=[page.file, other])["gone"] == [other]
    assert "memory" in page.ask("look", file=other)["wrong"]
    assert "columns" in page.look().shown
    # What was read from it is gone, too.
    page.desk.forget(time.monotonic() + 1)
    assert page.desk._known == {}


def test_what_all_pages_hold_is_bounded(monkeypatch):
    monkeypatch.setattr(room, "MAX_BYTES", 1000)
    desk = Desk()
    desk.take("a.csv", b"x" * 900)
    with pytest.raises(Wrong, match="Close other pages"):
        desk.take("b.csv", b"x" * 200)


def test_one_page_learns_nothing_of_another():
    page = Page(*rows("a", "b"))
    for key in ("", "guessed", page.file[:-1]):
        assert "wrong" in page.ask("look", file=key)
    assert "wrong" in page.ask("result", made=page.file)


def test_names_and_cells_come_as_they_are():
    name = "<script>alert(1)</script>"
    page = Page(f'"{name}",b', *(f"{i},{name if i % 2 else 'y'}" for i in range(12)))
    assert page.shown["columns"][0]["name"] == name
    assert page.shown["first"]["rows"][1][1] == name
