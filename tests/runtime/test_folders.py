"""Private folders and files are private whatever the umask, and a file is written whole or not at all."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from clankie.runtime.folders import make_private, write_private


@pytest.fixture
def _open_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.usefixtures("_open_umask")
def test_what_is_made_is_for_this_user_alone(tmp_path: Path) -> None:
    make_private(tmp_path / "a" / "b")
    write_private(tmp_path / "a" / "b" / "c", b"secret")
    assert [mode(path) for path in sorted((tmp_path / "a").rglob("*"))] == [0o700, 0o600]
    assert mode(tmp_path / "a") == 0o700


def test_a_file_is_replaced_whole_and_what_a_dead_process_left_is_in_nobodys_way(
    tmp_path: Path,
) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    path.with_name("file.new").write_bytes(b"half")
    write_private(path, b"after")
    assert path.read_bytes() == b"after"
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_what_cannot_be_written_leaves_what_was_there(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_bytes(b"before")
    (tmp_path / "file.new").mkdir()
    with pytest.raises(OSError, match=r"file\.new"):
        write_private(path, b"after")
    assert path.read_bytes() == b"before"
