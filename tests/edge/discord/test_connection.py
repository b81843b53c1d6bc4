"""Unmodified discord.py as the edge uses it: raw events in, nothing kept, and told apart why it cannot go on."""

import asyncio
import logging
import threading

import pytest

from clankie.edge.budget import Identify, SessionStartLimit
from clankie.edge.discord.client import DiscordConnection
from clankie.edge.discord.errors import IntentMissing, TokenRefused
from clankie.edge.discord.gateway import EVENTS
from clankie.edge.errors import IdentifyBudgetSpent
from clankie.sim.faults import FaultKind
from clankie.sim.world.permissions import Intent
from edge.discord.talking import SECONDS, Budget, Heard, Talk, connected


async def test_events_arrive_as_discord_sent_them_and_discord_py_keeps_none(talk: Talk) -> None:
    heard = Heard()
    async with connected(talk, heard) as connection:
        (guild,) = await heard.until("GUILD_CREATE")
        assert guild["id"] == str(talk.guild.id)
        said = talk.say("hello")
        (message,) = await heard.until("MESSAGE_CREATE")
        assert (message["id"], message["content"]) == (str(said.id), "hello")
        assert message["guild_id"] == guild["id"]
        client = connection._client
        assert [*client.guilds, *client.cached_messages, *client.private_channels] == []
        assert [each.id for each in client.users] == [talk.bot_id]
        assert connection.bot_user_id == str(talk.bot_id)


async def test_the_hook_holds_for_this_version_of_discord_py(talk: Talk) -> None:
    connection = DiscordConnection(talk.token, Heard(), Budget())
    parsers = connection._client._connection.parsers
    assert set(parsers) == {"READY", "RESUMED", *EVENTS}
    await connection.stop()


async def test_a_cut_socket_is_resumed_with_nothing_lost_and_no_identify(talk: Talk) -> None:
    heard, budget = Heard(), Budget()
    connection = DiscordConnection(talk.token, heard, budget)
    await connection.log_in()
    connection.connect()
    await connection.ready()
    said = [talk.say("one").id]
    await heard.until("MESSAGE_CREATE")
    talk.sim.faults.set(FaultKind.DROP)
    said.append(talk.say("two").id)
    await heard.until("RESUMED")
    await heard.until("MESSAGE_CREATE", 2)
    assert [int(each["id"]) for each in heard.named("MESSAGE_CREATE")] == said
    assert budget.asked == [0]
    status = connection.status()[0]
    assert (status.ready, status.sessions) == (True, 1)
    assert status.acknowledged_age_seconds is not None
    assert status.acknowledged_age_seconds < SECONDS
    await connection.stop()


async def test_each_shard_tells_its_own_servers(talk: Talk) -> None:
    shard = (talk.guild.id >> 22) % 2
    for mine in (shard, 1 - shard):
        heard = Heard()
        async with connected(talk, heard, shard_count=2, shard_ids=[mine]) as connection:
            (ready,) = await heard.until("READY")
            told = [each["id"] for each in ready["guilds"]]
            assert told == ([str(talk.guild.id)] if mine == shard else [])
            assert connection.shard_of(str(talk.guild.id)) == shard
            assert connection.shard_of(None) == 0


async def test_a_wrong_token_is_named_before_anything_is_started(talk: Talk) -> None:
    budget = Budget()
    connection = DiscordConnection("not.a.token", Heard(), budget)
    with pytest.raises(TokenRefused) as refused:
        await connection.log_in()
    await connection.stop()
    assert "not.a.token" not in str(refused.value)
    assert "Reset Token" in refused.value.next_step
    assert budget.asked == []


async def test_a_bot_without_the_content_intent_is_told_so_before_it_starts(talk: Talk) -> None:
    talk.world.edit_application(talk.sim.bots[0].id, privileged=Intent.NONE)
    budget = Budget()
    connection = DiscordConnection(talk.token, Heard(), budget)
    with pytest.raises(IntentMissing) as missing:
        await connection.log_in()
    await connection.stop()
    assert "Message Content" in str(missing.value)
    assert budget.asked == []


async def test_an_intent_taken_away_between_check_and_identify_ends_it_by_name(talk: Talk) -> None:
    connection = DiscordConnection(talk.token, Heard(), Budget())
    await connection.log_in()
    talk.world.edit_application(talk.sim.bots[0].id, privileged=Intent.NONE)
    connection.connect()
    with pytest.raises(IntentMissing):
        async with asyncio.timeout(SECONDS):
            await connection.ended()
    await connection.stop()


async def test_a_spent_budget_sends_no_identify_and_ends_it(talk: Talk) -> None:
    class Spent(Budget):
        async def ask(self, shard: int, limit: SessionStartLimit) -> Identify:
            await super().ask(shard, limit)
            raise IdentifyBudgetSpent("no more today", next_step="Wait until tomorrow.")

    budget, heard = Spent(), Heard()
    connection = DiscordConnection(talk.token, heard, budget)
    await connection.log_in()
    connection.connect()
    with pytest.raises(IdentifyBudgetSpent, match="no more today"):
        async with asyncio.timeout(SECONDS):
            await connection.ready()
    await connection.stop()
    assert budget.asked == [0]
    assert heard.events == []
    assert not [each for each in threading.enumerate() if "keep-alive-handler" in each.name]


async def test_discord_py_never_logs_events_or_requests(
    talk: Talk, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    heard = Heard()
    async with connected(talk, heard) as connection:
        talk.say("a marker nobody may find")
        await heard.until("MESSAGE_CREATE")
        path = "/channels/{channel_id}/messages"
        body = {"content": "another marker"}
        answer = await connection.rest.call("POST", path, body, channel_id=str(talk.general.id))
        assert answer.ok
    written = "\n".join(each.getMessage() for each in caplog.records)
    assert "marker" not in written
    assert talk.token not in written
