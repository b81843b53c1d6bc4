"""What a client meets when a switch is set, and that the switch counts."""

import asyncio

import pytest

from clankie.sim.errors import Invalid
from clankie.sim.faults import MOMENTS, FaultKind, Faults, Moment
from clankie.sim.gateway.codes import Op
from sim.gateway.gateways import Discord


async def test_a_replayed_event_comes_again_under_a_new_number(discord: Discord) -> None:
    async with discord.ready() as client:
        said = discord.say("one")
        await client.event("MESSAGE_CREATE")
        seq = client.seq
        discord.faults.set(FaultKind.REPLAY_LAST)
        assert (await client.event("MESSAGE_CREATE"))["id"] == said
        assert client.seq == seq + 1
        await client.nothing_more()
        assert discord.faults.active() == []


async def test_a_duplicated_event_comes_twice_and_the_next_once(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.DUPLICATE)
        said = [discord.say("one"), discord.say("two")]
        heard = [(await client.event("MESSAGE_CREATE"))["id"] for _ in range(3)]
        assert heard == [said[0], said[0], said[1]]
        await client.nothing_more()


async def test_a_reordered_event_comes_after_the_one_behind_it(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.REORDER)
        said = [discord.say(text) for text in ("one", "two", "three")]
        heard = [(await client.event("MESSAGE_CREATE"))["id"] for _ in range(3)]
        assert heard == [said[1], said[0], said[2]]


async def test_a_reordered_event_with_none_behind_it_comes_with_a_resume(
    discord: Discord,
) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.REORDER)
        said = discord.say("one")
        await client.nothing_more()
        async with discord.client() as again:
            await again.hello()
            await again.resume(discord.token, client.ready["session_id"], client.seq)
            assert (await again.event("MESSAGE_CREATE"))["id"] == said
            await again.event("RESUMED")


async def test_a_delayed_event_holds_back_those_behind_it(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.DELAY, seconds=0.2)
        loop = asyncio.get_running_loop()
        began = loop.time()
        said = [discord.say("one"), discord.say("two")]
        heard = [(await client.event("MESSAGE_CREATE"))["id"] for _ in range(2)]
        assert heard == said
        assert loop.time() - began >= 0.2


async def test_a_dropped_socket_ends_without_a_close_frame(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.DROP)
        assert await client.close_code() == 1006
    async with discord.ready() as client:
        await client.nothing_more()


async def test_a_fault_without_a_count_meets_every_session_until_it_is_cleared(
    discord: Discord,
) -> None:
    fault = discord.faults.set(FaultKind.DROP, count=None)
    for _ in range(3):
        async with discord.client() as client:
            await client.hello()
            await client.send(Op.IDENTIFY, {"token": discord.token, "intents": 1})
            assert await client.close_code() == 1006
    discord.faults.clear(fault.id)
    async with discord.ready() as client:
        await client.nothing_more()


async def test_a_fault_of_one_bot_meets_no_other(discord: Discord) -> None:
    other = discord.world.create_application("Other", discord.sample.owner.id)
    discord.faults.set(FaultKind.DROP, application_id=other.id)
    async with discord.ready() as client:
        await client.nothing_more()
        assert len(discord.faults.active()) == 1


async def test_a_client_is_told_to_reconnect(discord: Discord) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.RECONNECT)
        assert (await client.receive())["op"] == Op.RECONNECT
        await client.socket.close(code=4000)
        async with discord.client() as again:
            await again.hello()
            await again.resume(discord.token, client.ready["session_id"], client.seq)
            await again.event("RESUMED")


@pytest.mark.parametrize("resumable", [True, False])
async def test_a_session_becomes_invalid(discord: Discord, resumable: bool) -> None:
    async with discord.ready() as client:
        discord.faults.set(FaultKind.INVALID_SESSION, resumable=resumable)
        message = await client.receive()
        assert (message["op"], message["d"]) == (Op.INVALID_SESSION, resumable)
        said = discord.say("meanwhile")
        await client.nothing_more()
        await client.resume(discord.token, client.ready["session_id"], client.seq)
        if resumable:
            assert (await client.event("MESSAGE_CREATE"))["id"] == said
            await client.event("RESUMED")
        else:
            message = await client.receive()
            assert (message["op"], message["d"]) == (Op.INVALID_SESSION, False)


async def test_a_server_that_is_out_is_gone_and_comes_back(discord: Discord) -> None:
    guild_id = discord.sample.guild.id
    async with discord.ready() as client:
        discord.world.set_outage(guild_id, outage=True)
        assert await client.event("GUILD_DELETE") == {"id": str(guild_id), "unavailable": True}
        discord.say("nobody hears")
        await client.nothing_more()
        async with discord.ready(guilds=0) as late:
            assert late.ready["guilds"] == [{"id": str(guild_id), "unavailable": True}]
            await late.nothing_more()
            discord.world.set_outage(guild_id, outage=False)
            assert (await late.event("GUILD_CREATE"))["id"] == str(guild_id)
        assert (await client.event("GUILD_CREATE"))["unavailable"] is False


def test_requests_meet_the_oldest_fault_of_theirs() -> None:
    faults = Faults()
    faults.set(FaultKind.SERVER_ERROR, status=502, route="POST /channels/", count=2)
    faults.set(FaultKind.RATE_LIMIT, application_id=1, scope="global", seconds=0.3)
    assert faults.take_request(2, "GET", "/users/@me") is None
    first = faults.take_request(None, "POST", "/channels/5/messages")
    assert first is not None
    assert (first.kind, first.status) == (FaultKind.SERVER_ERROR, 502)
    second = faults.take_request(1, "POST", "/channels/5/messages")
    assert second is not None
    assert second.kind is FaultKind.SERVER_ERROR
    third = faults.take_request(1, "POST", "/channels/5/messages")
    assert third is not None
    assert (third.kind, third.scope, third.seconds) == (FaultKind.RATE_LIMIT, "global", 0.3)
    assert faults.take_request(1, "POST", "/channels/5/messages") is None
    assert faults.active() == []


def test_every_kind_of_fault_has_its_moment() -> None:
    assert set(MOMENTS) == set(FaultKind)
    assert set(MOMENTS.values()) == set(Moment)


@pytest.mark.parametrize(
    "wrong",
    [{"count": 0}, {"seconds": -1}, {"seconds": 3_601}, {"status": 404}, {"scope": "nobody's"}],
)
def test_a_fault_that_makes_no_sense_is_refused(wrong: dict[str, int]) -> None:
    faults = Faults()
    with pytest.raises(Invalid):
        faults.set(FaultKind.DELAY, **wrong)  # type: ignore[arg-type]
    assert faults.active() == []
