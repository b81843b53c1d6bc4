"""`clankie trace` puts what this machine's roles know of a delivery on one time line."""

import json
import socket
from collections.abc import Iterator

import pytest

from cli.private import Up, clankie, environ


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


def test_a_delivery_is_followed_from_its_permit_to_its_answer(running: dict[str, str]) -> None:
    delivery = said(running, "MARKER-in-content")
    done = clankie(running, "trace", delivery)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [line.split(maxsplit=3)[2:] for line in done.stdout.splitlines()[:-1]]
    whats = [f"{role} {what}" for role, what in lines]
    for expected in (
        "fleet permit granted",
        "body stored as pending",
        "body admitted permit",
        "body settled as reply",
        "body answered reply",
    ):
        assert any(what.startswith(expected) for what in whats), whats
    permits = {what.split("permit ")[-1] for what in whats if "permit " in what.split(" ed_")[-1]}
    assert len(permits) >= 1
    assert "MARKER" not in done.stdout


def test_programs_get_the_same_as_json(running: dict[str, str]) -> None:
    delivery = said(running, "hello")
    found = json.loads(clankie(running, "trace", delivery, "--json").stdout)
    assert found["delivery"] == delivery
    granted = [seen for seen in found["fleet"]["seen"] if seen["what"] == "permit_granted"]
    admitted = [seen for seen in found["body"]["seen"] if seen["what"] == "admitted"]
    assert [seen["permitId"] for seen in admitted] == [granted[0]["permitId"]]
    assert len(found["fleet"]["charged"]) == 1


def test_what_nobody_knows_and_who_is_not_there_is_said(
    running: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> None:
    done = clankie(running, "trace", "discord:9")
    assert done.returncode == 0
    assert done.stdout.startswith("nothing is known of discord:9 here\n")
    alone = environ(tmp_path_factory.mktemp("alone") / "home")
    done = clankie(alone, "trace", "discord:9")
    assert "fleet: does not run now\nbody: does not run now\n" in done.stdout


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
    with socket.socket() as fleet, socket.socket() as body:
        for stranger, name in ((fleet, "FLEET_LOCAL_PORT"), (body, "BODY_PORT")):
            stranger.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            stranger.bind(("127.0.0.1", int(up.environ[f"CLANKIE_{name}"])))
            stranger.listen()
            stranger.setblocking(False)
        done = clankie(up.environ, "trace", "discord:9")
        assert (done.returncode, "does not run now" in done.stdout) == (0, True)
        for stranger in (fleet, body):
            with pytest.raises(BlockingIOError):
                stranger.accept()  # nobody called
