"""What a client that comes back gets."""

import asyncio

from clankie.sim.faults import FaultKind
from clankie.sim.gateway.codes import Op
from clankie.sim.gateway.connection import MAX_OUTBOX_BYTES
from clankie.sim.gateway.session import KEPT_EVENTS
from clankie.sim.gateway.sessions import SESSION_SECONDS
from conftest import ManualClock
from sim.gateway.gateways import Client, Discord, running


async def resumed(client: Client, discord: Discord, session_id: str, seq: int) -> list[str]:
    """Resume, and take everything up to RESUMED: the ids of the messages missed."""
    await client.hello()
    await client.resume(discord.token, session_id, seq)
    missed = []
    while (message := await client.receive())["t"] != "RESUMED":
        assert message["op"] == Op.DISPATCH
        missed.append(message["d"]["id"])
    assert message["d"] == {}
    return missed


async def test_a_dropped_socket_loses_nothing_and_doubles_nothing(discord: Discord) -> None:
    async with discord.ready() as client:
        heard = [discord.say("one")]
        await client.event("MESSAGE_CREATE")
        discord.faults.set(FaultKind.DROP)
        assert await client.close_code() == 1006
        missed = [discord.say(text) for text in ("two", "three")]
        async with discord.client() as again:
            found = await resumed(again, discord, client.ready["session_id"], client.seq)
            assert found == missed
            later = discord.say("four")
            assert (await again.event("MESSAGE_CREATE"))["id"] == later
            assert later not in heard + missed
            await again.nothing_more()


async def test_what_came_but_was_not_counted_is_sent_again(discord: Discord) -> None:
    async with discord.ready() as client:
        before = client.seq
        said = discord.say("one")
        await client.event("MESSAGE_CREATE")
        await client.socket.close(code=4000)
        async with discord.client() as again:
            assert await resumed(again, discord, client.ready["session_id"], before) == [said]


async def test_a_client_that_says_goodbye_has_nothing_to_resume(discord: Discord) -> None:
    async with discord.ready() as client:
        await client.socket.close(code=1000)
    async with discord.client() as again:
        await again.hello()
        await again.resume(discord.token, client.ready["session_id"], client.seq)
        message = await again.receive()
        assert (message["op"], message["d"]) == (Op.INVALID_SESSION, False)
        await again.identify(discord.token)  # on the same socket


async def test_a_session_that_nobody_knows_is_invalid(discord: Discord) -> None:
    async with discord.client() as client:
        await client.hello()
        await client.resume(discord.token, "nobody's", 1)
        message = await client.receive()
        assert (message["op"], message["d"]) == (Op.INVALID_SESSION, False)


async def test_another_bots_session_is_not_found(discord: Discord) -> None:
    other = discord.world.create_application("Other", discord.sample.owner.id)
    async with discord.ready() as client, discord.client() as thief:
        await thief.hello()
        await thief.resume(other.token, client.ready["session_id"], client.seq)
        assert (await thief.receive())["op"] == Op.INVALID_SESSION
        await client.nothing_more()


async def test_a_wrong_token_resumes_nothing(discord: Discord) -> None:
    async with discord.ready() as client, discord.client() as again:
        await again.hello()
        await again.resume("wrong", client.ready["session_id"], client.seq)
        assert await again.close_code() == 4004


async def test_a_number_that_was_never_sent_is_refused(discord: Discord) -> None:
    async with discord.ready() as client:
        await client.socket.close(code=4000)
        async with discord.client() as again:
            await again.hello()
            await again.resume(discord.token, client.ready["session_id"], client.seq + 1)
            assert await again.close_code() == 4007
    assert len(discord.app.sessions) == 0


async def test_a_client_that_was_away_too_long_begins_anew(clock: ManualClock) -> None:
    async with running(clock) as discord, discord.ready() as client:
        await client.socket.close(code=4000)
        session = discord.app.sessions.find(client.ready["session_id"], discord.sample.application)
        assert session is not None
        while session.detached_at is None:  # noqa: ASYNC110 - nothing announces it
            await asyncio.sleep(0)
        async with discord.client() as again:
            await again.hello()
            clock.advance(SESSION_SECONDS + 1)
            await again.resume(discord.token, client.ready["session_id"], client.seq)
            assert (await again.receive())["d"] is False


async def test_a_client_that_missed_more_than_is_kept_begins_anew(discord: Discord) -> None:
    async with discord.ready() as client:
        await client.socket.close(code=4000)
    for _ in range(KEPT_EVENTS + 1):
        discord.world.start_typing(discord.sample.owner.id, discord.general.id)
    async with discord.client() as again:
        await again.hello()
        await again.resume(discord.token, client.ready["session_id"], client.seq)
        assert (await again.receive())["d"] is False
    assert len(discord.app.sessions) == 0


async def test_a_session_goes_on_with_its_newest_socket(discord: Discord) -> None:
    async with discord.ready() as client, discord.client() as again:
        assert await resumed(again, discord, client.ready["session_id"], client.seq) == []
        assert await client.close_code() == 1006
        discord.say("hello")
        await again.event("MESSAGE_CREATE")
        await again.nothing_more()


async def test_a_client_that_takes_nothing_is_cut_and_can_resume(discord: Discord) -> None:
    async with discord.client("?v=10&encoding=json") as client:
        await client.hello()
        await client.identify(discord.token)
        session = discord.app.sessions.find(client.ready["session_id"], discord.sample.application)
        assert session is not None
        client.socket.transport.pause_reading()
        sent = 0
        while session.detached_at is None:
            session.emit_object("GUILD_MEMBERS_CHUNK", {"padding": "x" * 1_000_000})
            sent += 1
            await asyncio.sleep(0)
        assert sent * 1_000_000 < 2 * MAX_OUTBOX_BYTES  # and what the system's own buffers take
        client.socket.transport.resume_reading()
        assert await client.close_code() == 1006
    kept = session.missed(session.seq - 3)
    assert kept is not None
    assert len(kept) == 3
