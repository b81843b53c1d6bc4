"""Over PostgreSQL a store is read whether or not its role runs, and looking makes no table in it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.private import Up, clankie, environ
from postgres import PostgresServer


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    server = PostgresServer()
    yield server
    server.destroy()


@pytest.fixture
def settings(server: PostgresServer, tmp_path: Path) -> dict[str, str]:
    """A home whose fleet and body keep what they keep in PostgreSQL."""
    return environ(
        tmp_path / "home",
        CLANKIE_FLEET_STORE=server.create_schema("fleet"),
        CLANKIE_BODY_STORE=server.create_schema("body"),
    )


def test_a_delivery_is_told_by_running_roles_and_then_by_their_stores(
    server: PostgresServer, settings: dict[str, str], tmp_path: Path
) -> None:
    looked = clankie(settings, "fleet", "account", "list")
    assert (looked.returncode, "there is no fleet in" in looked.stderr) == (1, True), looked.stderr
    nothing = clankie(settings, "trace", "discord:9")
    assert (nothing.returncode, nothing.stderr) == (1, "")
    assert "has kept nothing in this home" in nothing.stdout
    assert server.sql("public", "SELECT count(*) FROM pg_tables WHERE schemaname = 'fleet'") == "0"
    assert not (tmp_path / "home").exists()

    up = Up(settings)
    up.start()
    try:
        said = clankie(settings, "say", "--id", "MARKER-in-content")
        delivery = said.stderr.split()[1]
        running = clankie(settings, "trace", delivery).stdout
        assert clankie(settings, "fleet", "account", "list").returncode == 0
    finally:
        assert up.stop() == 0
    for expected in ("permit granted", "forwarded ", "settled as reply"):
        assert expected in running
    assert "store holds" not in running

    stopped = clankie(settings, "trace", delivery)
    assert (stopped.returncode, stopped.stderr) == (0, "")
    for expected in ("charged for tn_", "stored as pending", "settled as reply"):
        assert expected in stopped.stdout
    assert stopped.stdout.count("this is what its store holds") == 2
    assert "MARKER" not in running + stopped.stdout
