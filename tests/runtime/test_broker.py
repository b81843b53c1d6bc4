"""The file broker: private, atomic, shared between processes, and never overwriting what it cannot read."""

import fcntl
import json
import os
import stat
import subprocess
import sys
import threading
import traceback
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from clankie.runtime import broker as broker_module
from clankie.runtime.broker import (
    Credential,
    Ed25519Credential,
    FileBroker,
    P256Credential,
    SecretKeyCredential,
    TokenCredential,
)
from clankie.runtime.errors import (
    BrokerBusy,
    BrokerCorrupt,
    BrokerError,
    BrokerUnsafe,
    WrongCredential,
)

SCALAR = bytes(range(1, 33))
CREDENTIALS: list[Credential] = [
    P256Credential(SCALAR),
    Ed25519Credential(SCALAR),
    SecretKeyCredential(SCALAR),
    TokenCredential("a token \ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16")),
]


@pytest.fixture
def broker(home: Path) -> FileBroker:
    return FileBroker(home / "broker" / "credentials.json")


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize("credential", CREDENTIALS, ids=lambda c: type(c).__name__)
def test_a_credential_of_each_kind_comes_back_as_it_was_kept(
    broker: FileBroker, credential: Credential
) -> None:
    broker.set("clankie-1.x_Y", credential)
    kinds: list[type[Any]] = [type(credential)]
    assert FileBroker(broker.path).get("clankie-1.x_Y", kinds[0]) == credential


def test_a_missing_file_is_an_empty_broker_and_reading_makes_none(broker: FileBroker) -> None:
    assert broker.get("x", TokenCredential) is None
    assert broker.kinds() == {}
    assert not broker.path.parent.exists()


def test_the_file_and_its_folder_are_private_whatever_the_umask(broker: FileBroker) -> None:
    before = os.umask(0)
    try:
        broker.set("x", TokenCredential("abc"))
    finally:
        os.umask(before)
    assert mode(broker.path) == 0o600
    assert mode(broker.path.parent) == 0o700
    assert all(mode(path) == 0o600 for path in broker.path.parent.iterdir())


def test_a_deleted_credential_is_gone_and_the_others_stay(broker: FileBroker) -> None:
    broker.set("a", TokenCredential("1"))
    broker.set("b", TokenCredential("2"))
    assert broker.delete("a")
    assert not broker.delete("a")
    assert broker.get("a", TokenCredential) is None
    assert broker.get("b", TokenCredential) == TokenCredential("2")


def test_kinds_tell_ids_and_kinds_and_no_secret(broker: FileBroker) -> None:
    broker.set("b", TokenCredential("hunter2"))
    broker.set("a", P256Credential(SCALAR))
    assert list(broker.kinds().items()) == [("a", "p256"), ("b", "token")]


def test_a_credential_of_another_kind_is_refused_by_name(broker: FileBroker) -> None:
    broker.set("x", TokenCredential("hunter2"))
    with pytest.raises(WrongCredential, match="is a token, not a p256") as refused:
        broker.get("x", P256Credential)
    assert "hunter2" not in str(refused.value)
    with pytest.raises(WrongCredential):
        broker.get_or_create("x", P256Credential, lambda: P256Credential(SCALAR))
    assert broker.get("x", TokenCredential) == TokenCredential("hunter2")


@pytest.mark.parametrize("bad", ["", "a b", "../x", "a/b", "-a", "ä", "x" * 201, "a\n", 'a"b'])
def test_an_id_outside_the_alphabet_is_refused_and_nothing_is_made(
    broker: FileBroker, bad: str
) -> None:
    for call in (
        lambda: broker.get(bad, TokenCredential),
        lambda: broker.set(bad, TokenCredential("x")),
        lambda: broker.delete(bad),
        lambda: broker.get_or_create(bad, TokenCredential, lambda: TokenCredential("x")),
    ):
        with pytest.raises(WrongCredential):
            call()
    assert not broker.path.parent.exists()


@pytest.mark.parametrize("credential", CREDENTIALS, ids=lambda c: type(c).__name__)
def test_no_credential_shows_itself(credential: Credential) -> None:
    screen = StringIO()
    Console(file=screen, width=200).print(credential, [credential])
    for shown in (repr(credential), str(credential), f"{credential}", screen.getvalue()):
        assert "hidden" in shown or shown.count("()")
        assert "token" not in shown.lower().replace("tokencredential", "")
        assert repr(SCALAR)[2:-1] not in shown


CORRUPT = {
    "empty": b"",
    "an empty object": b"{}",
    "garbage": b"\x00\xff garbage",
    "a list": b"[]",
    "cut short": b'{"version":1,"credentials":{"x":{"kind":"token","tok',
    "another version": b'{"version":2,"credentials":{}}',
    "no credentials": b'{"version":1}',
    "an unknown key": b'{"version":1,"credentials":{},"more":1}',
    "an unknown kind": b'{"version":1,"credentials":{"x":{"kind":"rsa","token":"hunter2"}}}',
    "a key too short": b'{"version":1,"credentials":{"x":{"kind":"p256","scalar":"AAAA"}}}',
    "a blank token": b'{"version":1,"credentials":{"x":{"kind":"token","token":"  "}}}',
    "a bad id": b'{"version":1,"credentials":{"../x":{"kind":"token","token":"hunter2"}}}',
    "a repeated id": b'{"version":1,"credentials":{"x":{"kind":"token","token":"hunter2"},'
    b'"x":{"kind":"token","token":"hunter3"}}}',
    "a repeated field": b'{"version":1,"credentials":{"x":{"kind":"token","token":"hunter2","token":"b"}}}',
    "nested without end": b'{"version":' + b"[" * 100_000,
    "not UTF-8": b'{"version":1,"credentials":{"x":{"kind":"token","token":"hunter2\xff"}}}',
    "too large": b'{"version":1,"credentials":{}}' + b" " * broker_module.MAX_FILE_BYTES,
}


@pytest.mark.parametrize("data", CORRUPT.values(), ids=CORRUPT.keys())
def test_a_file_we_would_not_have_written_is_refused_and_never_overwritten(
    broker: FileBroker, data: bytes
) -> None:
    broker.path.parent.mkdir(mode=0o700)
    broker.path.write_bytes(data)
    broker.path.chmod(0o600)
    for call in (
        lambda: broker.get("x", TokenCredential),
        lambda: broker.set("y", TokenCredential("new")),
        lambda: broker.delete("x"),
        lambda: broker.get_or_create("y", TokenCredential, lambda: TokenCredential("new")),
        broker.kinds,
    ):
        with pytest.raises(BrokerCorrupt) as refused:
            call()
        assert "hunter2" not in "".join(traceback.format_exception(refused.value))
        assert refused.value.next_step.startswith("Put a backup in its place.")
        assert "no store that was made with the old ones opens" in refused.value.next_step
    assert broker.path.read_bytes() == data


def spoil_file_mode(path: Path) -> None:
    path.chmod(0o640)


def spoil_folder_mode(path: Path) -> None:
    path.parent.chmod(0o711)


def spoil_with_link(path: Path) -> None:
    path.rename(path.with_name("real"))
    path.symlink_to("real")


def spoil_with_folder_link(path: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")


def spoil_with_fifo(path: Path) -> None:
    path.unlink()
    os.mkfifo(path, 0o600)


def spoil_with_folder(path: Path) -> None:
    path.unlink()
    path.mkdir(mode=0o700)


@pytest.mark.parametrize(
    "spoil",
    [
        spoil_file_mode,
        spoil_folder_mode,
        spoil_with_link,
        spoil_with_folder_link,
        spoil_with_fifo,
        spoil_with_folder,
    ],
)
def test_what_others_could_read_or_swap_is_refused_with_what_to_do(
    broker: FileBroker, spoil: Callable[[Path], None]
) -> None:
    broker.set("x", TokenCredential("hunter2"))
    spoil(broker.path)
    calls: list[Callable[[], object]] = [
        lambda: broker.get("x", TokenCredential),
        lambda: broker.set("x", TokenCredential("new")),
    ]
    for call in calls:
        with pytest.raises(BrokerUnsafe) as refused:
            call()
        assert str(broker.path.parent) in str(refused.value)
        assert refused.value.next_step.endswith(".")


def test_a_file_of_another_user_is_refused(
    broker: FileBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.set("x", TokenCredential("hunter2"))
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    with pytest.raises(BrokerUnsafe, match="belongs to user"):
        broker.get("x", TokenCredential)


def test_a_write_that_fails_leaves_the_old_file_whole(
    broker: FileBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.set("x", TokenCredential("old"))
    before = broker.path.read_bytes()

    def full(_fd: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(BrokerError, match="No space left") as refused:
        broker.set("x", TokenCredential("new"))
    assert refused.value.next_step.startswith("Make room on the disk")
    assert broker.path.read_bytes() == before
    assert sorted(path.name for path in broker.path.parent.iterdir()) == [
        "credentials.json",
        "credentials.json.lock",
    ]


def test_file_and_folder_are_synced_around_the_rename(
    broker: FileBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls: list[str] = []
    fsync, rename = os.fsync, Path.rename

    def record_fsync(fd: int) -> None:
        calls.append("folder" if stat.S_ISDIR(os.fstat(fd).st_mode) else "file")
        fsync(fd)

    def record_rename(source: Path, target: Path) -> Path:
        calls.append("rename")
        return rename(source, target)

    monkeypatch.setattr(os, "fsync", record_fsync)
    monkeypatch.setattr(Path, "rename", record_rename)
    broker.set("x", TokenCredential("abc"))
    assert calls == ["file", "rename", "folder"]


def test_what_a_dead_process_left_behind_does_not_stop_the_next_write(broker: FileBroker) -> None:
    broker.set("x", TokenCredential("abc"))
    left = broker.path.with_name(broker.path.name + ".new")
    left.write_bytes(b"half a fil")
    broker.set("y", TokenCredential("def"))
    assert not left.exists()
    assert broker.kinds() == {"x": "token", "y": "token"}


def test_a_lock_that_is_held_too_long_is_an_error_and_nothing_is_written(
    broker: FileBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    broker.set("x", TokenCredential("abc"))
    monkeypatch.setattr(broker_module, "LOCK_ATTEMPTS", 2)
    with broker.path.with_name(broker.path.name + ".lock").open("rb") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with pytest.raises(BrokerBusy, match="locked by another process"):
            broker.set("x", TokenCredential("new"))
        assert broker.get("x", TokenCredential) == TokenCredential("abc")


def test_threads_that_write_at_once_lose_nothing(broker: FileBroker) -> None:
    threads = [
        threading.Thread(target=broker.set, args=(f"id-{n}", TokenCredential(str(n))))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(broker.kinds()) == 12


RACER = """
import secrets, sys
from pathlib import Path
from clankie.runtime.broker import FileBroker, SecretKeyCredential, TokenCredential
broker = FileBroker(Path(sys.argv[1]))
sys.stdin.readline()
key = broker.get_or_create("shared", SecretKeyCredential, lambda: SecretKeyCredential(secrets.token_bytes(32)))
broker.set("own-" + sys.argv[2], TokenCredential(sys.argv[2]))
print(key.key.hex())
"""


def test_processes_that_race_get_one_and_the_same_key_and_lose_no_write(broker: FileBroker) -> None:
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", RACER, broker.path, str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for number in range(4)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.write("go\n")
        racer.stdin.flush()
    keys = {racer.communicate()[0] for racer in racers}
    assert [racer.returncode for racer in racers] == [0, 0, 0, 0]
    assert len(keys) == 1
    assert sorted(broker.kinds()) == ["own-0", "own-1", "own-2", "own-3", "shared"]


def test_a_factory_that_fails_leaves_no_trace(broker: FileBroker) -> None:
    def fail() -> TokenCredential:
        raise RuntimeError

    with pytest.raises(RuntimeError):
        broker.get_or_create("x", TokenCredential, fail)
    assert broker.kinds() == {}
    assert not broker.path.exists()


def test_the_file_is_plain_json_that_a_person_can_look_at(broker: FileBroker) -> None:
    broker.set("x", TokenCredential("abc"))
    assert json.loads(broker.path.read_text()) == {
        "version": 1,
        "credentials": {"x": {"kind": "token", "token": "abc"}},
    }
