"""The doctor at a home whose body does not run: every line, and what makes it fail."""

import socket
import sqlite3
from pathlib import Path

import pytest

from body.doctor.conftest import Doctor
from body.doctor.support import snapshot
from body.homes import HALF_DAY_MS, HOST, now_ms, write_bootstrap
from clankie.body.admissions.migrations import SCHEMA
from clankie.body.admissions.store import AdmissionStore
from clankie.body.doctor import store as doctors_store
from clankie.body.doctor.clock import kernel_synchronised
from clankie.body.doctor.findings import Level
from clankie.body.keys import (
    MANAGED_INGRESS_KEY,
    STORE_KEY_ID,
    fingerprint,
    ingress_key,
    store_key,
)
from clankie.runtime.broker import FileBroker, SecretKeyCredential, TokenCredential
from clankie.runtime.clock import SystemClock
from conftest import ManualClock


def broker(home: Path) -> FileBroker:
    return FileBroker(home / "broker" / "credentials.json")


def remove(home: Path) -> None:
    home.rmdir()


def open_to_others(path: Path, mode: int) -> None:
    path.chmod(mode)


async def make_store(home: Path) -> Path:
    """A store that a body of this home closed in order."""
    key = store_key(broker(home))
    path = home / "body" / "admissions.db"
    store = await AdmissionStore.open(
        f"sqlite:///{path}", store_key=key, fingerprint=fingerprint(key), clock=SystemClock()
    )
    await store.close()
    return path


@pytest.fixture
async def used_home(home: Path) -> Path:
    """The home of a managed body that ran and stopped."""
    write_bootstrap(home)
    ingress_key(broker(home), HOST)
    await make_store(home)
    return home


async def test_a_home_that_was_used_is_well(used_home: Path, doctor: Doctor) -> None:
    report = await doctor()
    assert {finding.level for finding in report.findings} == {Level.OK}
    subjects = {finding.subject for finding in report.findings}
    assert subjects == {"permissions", "bootstrap", "keys", "store", "clock", "port", "captain"}
    assert f"{MANAGED_INGRESS_KEY}{HOST} is in the broker" in report.texts("keys")
    assert f"it opens, with schema {SCHEMA.head}" in " ".join(report.texts("store"))
    assert str(used_home) in report.texts("permissions")[0]


async def test_a_home_that_is_not_there_yet_is_no_fault_and_is_not_made(
    home: Path, doctor: Doctor
) -> None:
    remove(home)
    assert (await doctor()).only_warning().subject == "bootstrap"
    assert snapshot(home.parent) == {}


async def test_keys_and_store_that_are_not_made_yet_are_no_fault_and_are_not_made(
    home: Path, doctor: Doctor
) -> None:
    write_bootstrap(home)
    report = await doctor()
    assert {finding.level for finding in report.findings} == {Level.OK}
    assert [*snapshot(home)] == [str(home / "bootstrap.json")]


@pytest.mark.parametrize(("mode", "level"), [(0o777, Level.FAIL), (0o755, Level.WARN)])
async def test_a_home_that_others_may_enter(
    home: Path, doctor: Doctor, mode: int, level: Level
) -> None:
    write_bootstrap(home)
    open_to_others(home, mode)
    report = await doctor()
    [finding] = report.at(level)
    assert (finding.subject, "chmod 700" in finding.next_step) == ("permissions", True)


async def test_a_config_that_others_may_change(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home)
    (home / "config.toml").touch()
    (home / "config.toml").chmod(0o666)
    assert "can be changed by others" in (await doctor()).only_failure().text


async def test_a_bootstrap_file_that_is_wrong(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home, tenantId="x")
    finding = (await doctor()).only_failure()
    assert (finding.subject, "not a bootstrap file" in finding.text) == ("bootstrap", True)


async def test_a_bootstrap_file_that_others_can_read(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home).chmod(0o644)
    assert "chmod 600" in (await doctor()).only_failure().next_step


@pytest.mark.parametrize(
    ("ago_days", "words"), [(1, "expired 24 hours ago"), (31, "too long for the fleet")]
)
async def test_a_credential_that_has_expired(
    home: Path, doctor: Doctor, ago_days: int, words: str
) -> None:
    write_bootstrap(home, credentialExpiresAtMs=now_ms() - ago_days * 24 * 3_600_000 - 1_000)
    finding = (await doctor()).only_warning()
    assert finding.subject == "bootstrap"
    assert words in finding.text


async def test_a_credential_file_that_others_can_read(used_home: Path, doctor: Doctor) -> None:
    broker(used_home).path.chmod(0o644)
    report = await doctor()
    assert {finding.subject for finding in report.at(Level.FAIL)} == {"keys", "store"}


async def test_a_credential_file_that_is_damaged(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home)
    store_key(broker(home))
    broker(home).path.write_text("{")
    assert (await doctor()).only_failure().subject == "keys"


async def test_another_kind_of_credential_under_the_ingress_keys_id(
    used_home: Path, doctor: Doctor
) -> None:
    broker(used_home).set(MANAGED_INGRESS_KEY + HOST, TokenCredential("MARKER"))
    report = await doctor()
    assert "is a token, not a p256" in report.only_failure().text
    assert "MARKER" not in repr(report)


async def test_a_store_of_a_body_with_other_keys(used_home: Path, doctor: Doctor) -> None:
    broker(used_home).set(STORE_KEY_ID, SecretKeyCredential(bytes(32)))
    assert "other keys" in (await doctor()).only_failure().text


async def test_a_store_whose_keys_are_gone(used_home: Path, doctor: Doctor) -> None:
    broker(used_home).delete(STORE_KEY_ID)
    assert "the broker does not have" in (await doctor()).only_failure().text


async def test_a_store_that_others_can_read(used_home: Path, doctor: Doctor) -> None:
    (used_home / "body" / "admissions.db").chmod(0o644)
    finding = (await doctor()).only_failure()
    assert (finding.subject, "chmod 600" in finding.next_step) == ("store", True)


@pytest.mark.parametrize("damage", [b"not a database", b""])
async def test_a_store_that_is_no_database(used_home: Path, doctor: Doctor, damage: bytes) -> None:
    (used_home / "body" / "admissions.db").write_bytes(damage)
    assert (await doctor()).only_failure().subject == "store"


async def test_a_store_damaged_inside(used_home: Path, doctor: Doctor) -> None:
    path = used_home / "body" / "admissions.db"
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * (path.stat().st_size - 4096))
    assert (await doctor()).only_failure().subject == "store"


async def test_a_database_of_something_else(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home)
    path = home / "theirs.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    path.chmod(0o600)
    report = await doctor(CLANKIE_BODY_STORE=f"sqlite:///{path}")
    assert "no store of ours" in report.only_failure().text


async def test_a_store_of_a_newer_version(used_home: Path, doctor: Doctor) -> None:
    connection = sqlite3.connect(used_home / "body" / "admissions.db")
    connection.execute("UPDATE body_schema SET version_num = '9999'")
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    assert "newer version (schema 9999)" in (await doctor()).only_failure().text


async def test_a_log_that_a_killed_body_left_is_no_fault(used_home: Path, doctor: Doctor) -> None:
    log = used_home / "body" / "admissions.db-wal"
    log.touch(mode=0o600)
    log.write_bytes(b"x" * 100)
    report = await doctor()
    assert report.at(Level.FAIL) == []
    assert "its log of a run that was killed is taken in by the next start" in report.texts("store")


async def test_a_disk_with_little_room(
    used_home: Path, doctor: Doctor, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctors_store, "COMFORTABLE_FREE_BYTES", 2**62)
    assert "MiB free" in (await doctor()).only_warning().text
    monkeypatch.setattr(doctors_store, "LEAST_FREE_BYTES", 2**62)
    assert "Make room" in (await doctor()).only_failure().next_step


async def test_a_store_url_that_names_a_credential_that_is_not_there(
    home: Path, doctor: Doctor
) -> None:
    write_bootstrap(home)
    finding = (await doctor(CLANKIE_BODY_STORE="broker:database")).only_failure()
    assert (finding.subject, "clankie secret set database" in finding.next_step) == ("store", True)


async def test_a_postgresql_that_does_not_answer(
    home: Path, doctor: Doctor, unused_port: int
) -> None:
    write_bootstrap(home)
    url = f"postgresql://user:MARKER@127.0.0.1:{unused_port}/clankie"
    report = await doctor(CLANKIE_BODY_STORE=url)
    assert report.only_failure().subject == "store"
    assert "MARKER" not in repr(report)


async def test_a_clock_that_is_behind_the_fleets(home: Path, doctor: Doctor) -> None:
    write_bootstrap(home, credentialExpiresAtMs=now_ms() + HALF_DAY_MS + 120_000)
    finding = (await doctor()).only_failure()
    assert finding.subject == "clock"
    assert "at least 1" in finding.text
    assert "behind the fleet's" in finding.text


async def test_a_clock_that_is_behind_what_the_store_has_purged_by(
    used_home: Path, doctor: Doctor
) -> None:
    connection = sqlite3.connect(used_home / "body" / "admissions.db")
    connection.execute("UPDATE body_store SET purged_through_ms = ?", (now_ms(),))
    connection.commit()
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    clock = ManualClock(now_ms() - 25_000)
    finding = (await doctor(clock=clock)).only_failure()
    assert (finding.subject, "new deliveries are refused" in finding.text) == ("clock", True)


@pytest.mark.parametrize(
    ("synchronised", "level"), [(True, Level.OK), (None, Level.OK), (False, Level.WARN)]
)
async def test_what_the_kernel_says_of_its_clock(
    used_home: Path, doctor: Doctor, synchronised: bool | None, level: Level
) -> None:
    report = await doctor(synchronised=synchronised)
    [finding] = [finding for finding in report.findings if finding.subject == "clock"]
    assert finding.level is level


def test_the_kernel_can_be_asked() -> None:
    assert kernel_synchronised() in {True, False, None}


async def test_a_port_that_a_stranger_has(used_home: Path, doctor: Doctor) -> None:
    with socket.create_server(("127.0.0.1", 0)) as stranger:
        stranger.settimeout(0)
        report = await doctor(CLANKIE_BODY_PORT=str(stranger.getsockname()[1]))
    finding = report.only_failure()
    assert (finding.subject, "no body" in finding.text) == ("port", True)


async def test_an_address_that_is_not_this_machines(used_home: Path, doctor: Doctor) -> None:
    report = await doctor(CLANKIE_BODY_HOST="192.0.2.1", CLANKIE_BODY_EXPOSE="true")
    assert report.only_failure().subject == "port"


async def test_a_captain_that_is_not_installed(used_home: Path, doctor: Doctor) -> None:
    finding = (await doctor(CLANKIE_CAPTAIN_KIND="nobody")).only_failure()
    assert (finding.subject, "nobody" in finding.text) == ("captain", True)


async def test_a_captains_options_are_not_tried(used_home: Path, doctor: Doctor) -> None:
    await doctor(CLANKIE_CAPTAIN_OPTIONS_JOURNAL=str(used_home / "journal"))
    assert not (used_home / "journal").exists()
