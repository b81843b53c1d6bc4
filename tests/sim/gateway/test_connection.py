"""A connection's clock: heartbeats and rates, without a socket."""

from clankie.sim.gateway.codes import Close, Op
from clankie.sim.gateway.connection import HEARTBEAT_MS, State
from conftest import ManualClock
from sim.gateway.lines import Line


def test_a_client_that_beats_stays(clock: ManualClock) -> None:
    line = Line(clock)
    for _ in range(100):
        clock.advance(HEARTBEAT_MS / 1_000)
        line.connection.tick()
        assert line.send(Op.HEARTBEAT)[-1]["op"] == Op.HEARTBEAT_ACK
    assert line.connection.state is State.WAITING


def test_a_client_that_stops_beating_is_closed_half_an_interval_late(clock: ManualClock) -> None:
    line = Line(clock)
    clock.advance(HEARTBEAT_MS / 1_000 * 1.5 - 0.1)
    line.connection.tick()
    assert line.connection.state is State.WAITING
    clock.advance(0.1)
    line.connection.tick()
    assert line.connection.close_code is Close.SESSION_TIMED_OUT


def test_commands_that_are_a_minute_old_count_no_more(clock: ManualClock) -> None:
    line = Line(clock)
    for _ in range(4):
        for _ in range(120):
            assert line.send(Op.HEARTBEAT)
        clock.advance(60)
    for _ in range(120):
        line.send(Op.HEARTBEAT)
    clock.advance(59.9)
    line.send(Op.HEARTBEAT)
    assert line.connection.close_code is Close.RATE_LIMITED


def test_a_closed_connection_takes_and_says_nothing(clock: ManualClock) -> None:
    line = Line(clock)
    line.taken()
    line.send(Op.PRESENCE)
    assert line.connection.close_code is Close.NOT_AUTHENTICATED
    assert line.send(Op.HEARTBEAT) == []
    token = line.sample.application.token
    assert line.send(Op.IDENTIFY, {"token": token, "intents": 1}) == []
    starts = line.world.session_start_limit(line.sample.application.id)
    assert starts.remaining == starts.total


def test_numbers_rise_by_one_from_ready_on(clock: ManualClock) -> None:
    line = Line(clock)
    token = line.sample.application.token
    line.send(Op.HEARTBEAT)
    told = line.send(Op.IDENTIFY, {"token": token, "intents": 1})
    assert [(each["t"], each["s"]) for each in told] == [("READY", 1), ("GUILD_CREATE", 2)]
    line.world.create_channel(line.sample.owner.id, line.sample.guild.id, "more")
    assert [(each["t"], each["s"]) for each in line.taken()] == [("CHANNEL_CREATE", 3)]
