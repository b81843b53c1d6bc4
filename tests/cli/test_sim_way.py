"""The strip's source over roles that run, and over what is left of them once they stopped."""

import asyncio
from pathlib import Path

from clankie.cli.sim_way import TracedWay
from clankie.runtime.config import load_config
from cli.private import Up, clankie, environ


def test_each_role_tells_its_part_and_what_stopped_tells_what_it_kept(tmp_path: Path) -> None:
    up = Up(environ(tmp_path / "home"))
    up.start()
    try:
        said = clankie(up.environ, "say", "--id", "MARKER-in-content")
        delivery = said.stderr.split()[-1]
        source = TracedWay(load_config(up.environ).config)
        way = asyncio.run(source.hops(delivery))
    finally:
        assert up.stop() == 0
    assert {hop.role for hop in way.hops} == {"fleet", "gateway", "body"}
    assert way.notes == []
    (carried,) = (hop for hop in way.hops if hop.role == "gateway")
    assert carried.what.startswith("forwarded ")
    assert carried.detail.startswith("permit ")
    assert "MARKER" not in repr(way)

    kept = asyncio.run(source.hops(delivery))
    assert ("body", "settled as reply") in {(hop.role, hop.what) for hop in kept.hops}
    assert {note.text.partition(":")[0] for note in kept.notes} == {"fleet", "gateway", "body"}
