"""`clankie trace` puts what this machine's roles know of a delivery on one time line."""

import json
import re
import shutil
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from clankie.cli.trace import collect
from clankie.runtime.config import load_config
from cli.private import PORTS, Up, clankie, environ, free_port


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """The environment of a private system that runs."""
    up = Up(environ(tmp_path_factory.mktemp("trace") / "home"))
    up.start()
    yield up.environ
    assert up.stop() == 0


def said(environ: dict[str, str], text: str) -> str:
    """Say it; the delivery's id."""
    done = clankie(environ, "say", "--id", text)
    assert done.returncode == 0
    word, delivery = done.stderr.split()
    assert word == "delivery"
    return delivery


def traced(environ: dict[str, str], delivery: str) -> str:
    done = clankie(environ, "trace", delivery)
    assert done.returncode == 0, done.stdout
    return done.stdout


def test_a_delivery_is_followed_from_its_permit_to_its_answer(running: dict[str, str]) -> None:
    delivery = said(running, "MARKER-in-content")
    done = clankie(running, "trace", delivery)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=3)[2:] for line in done.stdout.splitlines()]
    whats = [f"{role} {what}" for role, what in lines]
    for expected in (
        "fleet charged for tn_",
        "fleet permit granted",
        "gateway forwarded ",
        "body stored as pending",
        "body admitted permit",
        "body settled as reply",
        "body answered reply",
    ):
        assert any(what.startswith(expected) for what in whats), whats
    (carried,) = (what for what in whats if what.startswith("gateway "))
    assert re.search(r"forwarded \d{3,} bytes, answered \d{2,} bytes, status 200", carried)
    permit = carried.rpartition("permit ")[2]
    assert sum(what.endswith(f"permit {permit}") for what in whats) >= 3
    assert done.stdout.splitlines() == sorted(done.stdout.splitlines())
    assert "MARKER" not in done.stdout


def test_a_gateway_on_a_machine_of_its_own_is_asked_by_the_permits_that_the_fleet_shows(
    running: dict[str, str], tmp_path: Path
) -> None:
    delivery = said(running, "hello")
    permits = re.findall(
        r"fleet +permit granted .*permit (\S+)$", traced(running, delivery), re.MULTILINE
    )
    assert permits
    # The home of a machine with the gateway alone: its bearer, the sign that it runs, and neither store.
    home, alone = Path(running["CLANKIE_HOME"]), tmp_path / "alone"
    alone.mkdir(mode=0o700)
    (alone / "gateway").symlink_to(home / "gateway")
    shutil.copytree(home / "broker", alone / "broker")
    environ = running | {"CLANKIE_HOME": str(alone)}
    done = clankie(environ, "trace", delivery)
    assert (done.returncode, done.stderr) == (1, "")
    assert "gateway: cannot be asked: it knows permits alone" in done.stdout
    assert done.stdout.splitlines()[-1] == (
        f"Next: run `clankie trace {delivery}` where the fleet is, "
        "and give each permit it shows here with --permit."
    )
    given = [argument for permit in permits for argument in ("--permit", permit)]
    done = clankie(environ, "trace", delivery, *given)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(rf"gateway +forwarded .* permit {permits[0]}\n", done.stdout)
    assert "Next:" not in done.stdout


@pytest.mark.parametrize("permit", ["", "a b", "x" * 44, "\x1b[31m"])
def test_what_is_no_permits_id_is_refused(running: dict[str, str], permit: str) -> None:
    done = clankie(running, "trace", "discord:9", "--permit", permit)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == "Error: that is no permit's id"
    assert done.stderr.splitlines()[-1].startswith("Next: ")


def test_programs_get_the_same_as_json(running: dict[str, str]) -> None:
    delivery = said(running, "hello")
    found = json.loads(clankie(running, "trace", delivery, "--json").stdout)
    assert found["delivery"] == delivery
    granted = [seen for seen in found["fleet"]["seen"] if seen["what"] == "permit_granted"]
    admitted = [seen for seen in found["body"]["seen"] if seen["what"] == "admitted"]
    assert [seen["permitId"] for seen in admitted] == [granted[0]["permitId"]]
    assert len(found["fleet"]["charged"]) == 1
    assert [seen["permitId"] for seen in found["gateway"]["seen"]] == [granted[0]["permitId"]]
    assert found["body"]["stored"]["state"] == "reply"
    assert found["notes"] == {}


async def test_the_time_line_is_there_for_other_programs_of_ours(running: dict[str, str]) -> None:
    delivery = said(running, "hello")
    lines = await collect(load_config(running).config, delivery)
    assert {role for _, role, _ in lines} == {"fleet", "gateway", "body"}
    assert lines == sorted(lines)
    assert all(at_ms > 1_700_000_000_000 for at_ms, _, _ in lines)


async def test_roles_that_never_ran_add_nothing_and_are_no_error(tmp_path: Path) -> None:
    home = tmp_path / "home"
    assert await collect(load_config(environ(home)).config, "discord:9") == []
    assert not home.exists()


def test_what_nobody_knows_and_who_is_not_there_is_said(
    running: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = clankie(running, "trace", "discord:9")
    assert done.returncode == 1
    assert done.stdout.startswith("nothing is known of discord:9 here\n")
    as_json = clankie(running, "trace", "discord:9", "--json")
    assert as_json.returncode == 1
    assert json.loads(as_json.stdout)["fleet"]["seen"] == []
    alone = environ(tmp_path_factory.mktemp("alone") / "home")
    done = clankie(alone, "trace", "discord:9")
    for role in ("fleet", "body"):
        assert f"{role}: does not run now, and has kept nothing in this home" in done.stdout
    assert "gateway: does not run now in this home" in done.stdout
    assert "Next: see that the id is right" in done.stdout
    assert not Path(alone["CLANKIE_HOME"]).exists()


@pytest.mark.parametrize("ending", [signal.SIGTERM, signal.SIGKILL], ids=["stopped", "killed"])
def test_of_a_role_that_does_not_run_its_store_is_read_and_left_as_it_is(
    tmp_path: Path, ending: signal.Signals
) -> None:
    up = Up(environ(tmp_path / "home"))
    up.start()
    try:
        delivery = said(up.environ, "MARKER-in-content")
    finally:
        up.stop(ending)
    stores = [
        tmp_path / "home" / "fleet" / "fleet.db",
        tmp_path / "home" / "body" / "admissions.db",
    ]
    before = [store.read_bytes() for store in stores]
    done = clankie(up.environ, "trace", delivery)
    assert (done.returncode, done.stderr) == (0, "")
    whats = [line.split(maxsplit=2)[-1] for line in done.stdout.splitlines()]
    for expected in ("charged for tn_", "stored as pending", "settled as reply"):
        assert any(expected in what for what in whats), done.stdout
    for role in ("fleet", "body"):
        assert f"{role}: does not run now; this is what its store holds" in done.stdout
    assert "gateway: does not run now in this home, and keeps nothing" in done.stdout
    assert [store.read_bytes() for store in stores] == before
    again = Up(up.environ)
    again.start()  # nothing was left behind that a start would stumble over
    assert again.stop() == 0


def test_a_role_whose_port_was_changed_since_it_started_is_said_to_run(
    running: dict[str, str],
) -> None:
    moved = running | {f"CLANKIE_{name}": str(free_port()) for name in PORTS}
    done = clankie(moved, "trace", "discord:9")
    port = moved["CLANKIE_FLEET_LOCAL_PORT"]
    assert f"fleet: runs, and does not answer on port {port} (fleet.local_port)" in done.stdout
    done = clankie(running | {"CLANKIE_BODY_PORT": "0"}, "trace", "discord:9")
    assert "body: runs, and cannot be asked: body.port is 0" in done.stdout


def test_a_store_that_cannot_be_read_is_said_and_the_others_are_shown(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for role, name in (("fleet", "fleet.db"), ("body", "admissions.db")):
        (home / role).mkdir(mode=0o700, parents=True)
        (home / role / name).write_bytes(b"no store")
        (home / role / name).chmod(0o600)
    done = clankie(environ(home), "trace", "discord:9")
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout.count("it is not a SQLite database") == 2


@pytest.mark.parametrize("delivery", ["", "../../health", "x?y=1#z", "disc\x1b[31mord:1", "é"])
def test_what_is_no_id_is_refused_and_asked_of_nobody(
    running: dict[str, str], delivery: str
) -> None:
    done = clankie(running, "trace", delivery)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.splitlines()[0] == "Error: that is no delivery's id"
    assert done.stderr.splitlines()[-1].startswith("Next: ")


def test_no_bearer_goes_to_whoever_listens_on_a_port_while_its_role_is_away(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    up = Up(environ(tmp_path_factory.mktemp("away") / "home"))
    up.start()
    assert up.stop() == 0
    with socket.socket() as fleet, socket.socket() as body, socket.socket() as gateway:
        ports = (
            (fleet, "FLEET_LOCAL_PORT"),
            (body, "BODY_PORT"),
            (gateway, "GATEWAY_LOCAL_PORT"),
        )
        for stranger, name in ports:
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stranger.bind(("127.0.0.1", int(up.environ[f"CLANKIE_{name}"])))
            stranger.listen()
            stranger.setblocking(False)
        done = clankie(up.environ, "trace", "discord:9")
        assert (done.returncode, "does not run now" in done.stdout) == (1, True)
        for stranger in (fleet, body, gateway):
            with pytest.raises(BlockingIOError):
                stranger.accept()  # nobody called
