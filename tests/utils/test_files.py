"""Files appear whole or not at all."""

import errno
import os

import pytest

from pckid._utils.files import atomic_file, check_target
from pckid._utils.text import brief, printable


def test_a_file_appears_when_it_is_complete(tmp_path):
    path = tmp_path / "f"
    with atomic_file(path) as file:
        file.write(b"new")
        assert not path.exists()
    assert path.read_bytes() == b"new"
    assert os.listdir(tmp_path) == ["f"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_leaves_the_old_file(tmp_path, error):
    path = tmp_path / "f"
    path.write_bytes(b"old")

    def write_half():
        with atomic_file(path) as file:
            file.write(b"new")
            raise error

    with pytest.raises(error):
        write_half()
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == ["f"]


def test_a_folder_that_is_not_there_is_named(tmp_path):
    with (
        pytest.raises(FileNotFoundError, match=r"no folder '.*nowhere'"),
        atomic_file(tmp_path / "nowhere" / "f"),
    ):
        pass


@pytest.mark.parametrize("refused", ["open", "replace"])
def test_an_error_names_the_file_that_was_asked_for(tmp_path, monkeypatch, refused):
    def refuse(path, *others, **how):
        raise PermissionError(errno.EACCES, "Permission denied", str(path))

    monkeypatch.setattr(os, refused, refuse)
    with pytest.raises(PermissionError) as raised, atomic_file(tmp_path / "f"):
        pass
    monkeypatch.undo()
    assert str(raised.value) == f"[Errno 13] Permission denied: '{tmp_path / 'f'}'"
    assert os.listdir(tmp_path) == []


def test_permissions_follow_the_umask_or_the_old_file(tmp_path):
    path = tmp_path / "f"
    umask = os.umask(0o027)
    try:
        with atomic_file(path) as file:
            file.write(b"1")
    finally:
        os.umask(umask)
    assert path.stat().st_mode & 0o777 == 0o640
    path.chmod(0o604)
    with atomic_file(path) as file:
        file.write(b"2")
    assert path.stat().st_mode & 0o777 == 0o604


@pytest.mark.parametrize("mode", [0o600, 0o400, 0o640])
def test_a_file_being_written_is_as_private_as_the_one_it_replaces(tmp_path, mode):
    path = tmp_path / "f"
    path.write_bytes(b"old")
    path.chmod(mode)
    with atomic_file(path) as file:
        file.write(b"new")
        assert os.fstat(file.fileno()).st_mode & 0o777 == mode
    assert path.stat().st_mode & 0o777 == mode


@pytest.mark.parametrize("target", ["old", "nothing"])
def test_a_link_is_not_followed(tmp_path, target):
    (tmp_path / "old").write_bytes(b"old")
    (tmp_path / "link").symlink_to(tmp_path / target)
    with (
        pytest.raises(OSError, match="is a link"),
        atomic_file(tmp_path / "link") as file,
    ):
        file.write(b"new")
    assert (tmp_path / "old").read_bytes() == b"old"
    assert not (tmp_path / "nothing").exists()


def test_a_link_to_a_device_is_written_to(tmp_path):
    (tmp_path / "link").symlink_to(os.devnull)
    with atomic_file(tmp_path / "link") as file:
        file.write(b"new")
    assert (tmp_path / "link").is_symlink()


@pytest.mark.skipif(os.name == "nt", reason="names are counted in letters on Windows")
@pytest.mark.parametrize("name", ["ö" * 127, "日" * 85, "😀" * 63, "a" * 255])
def test_a_name_may_be_as_long_as_the_disk_allows(tmp_path, name):
    check_target(tmp_path / name)
    assert os.listdir(tmp_path) == []
    with atomic_file(tmp_path / name) as file:
        file.write(b"new")
    assert os.listdir(tmp_path) == [name]


@pytest.mark.skipif(os.name == "nt", reason="names are counted in letters on Windows")
def test_a_name_that_is_too_long_is_found_before_anything_is_written(tmp_path):
    target = tmp_path / ("ö" * 128)
    with pytest.raises(OSError, match="öööö") as raised:
        check_target(target)
    assert (raised.value.errno, raised.value.filename) == (errno.ENAMETOOLONG, str(target))
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("inside", [".", "part", "part/deeper", "link"])
def test_nothing_is_written_into_a_folder_that_is_read(tmp_path, inside):
    source = tmp_path / "rows"
    (source / "part" / "deeper").mkdir(parents=True)
    (source / "link").symlink_to(source / "part")
    with pytest.raises(FileExistsError, match="lies in the input"):
        check_target(source / inside / "labels.csv", [str(source)])
    check_target(tmp_path / "labels.csv", [str(source)])


def test_text_for_a_line():
    assert printable("a\x1b[1m\u202eb\tc") == "a\ufffd[1m\ufffdb\ufffdc"
    assert printable("می\u200cخواهم") == "می\u200cخواهم"
    assert brief("x" * 100, 10) == "x" * 6 + "…" + "x" * 3
    assert brief("income of the household, before", 20) != brief(
        "income of the household, after", 20
    )
    assert brief("one\ntwo", 10) == "one two"
