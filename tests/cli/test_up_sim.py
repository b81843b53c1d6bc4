"""`clankie up --sim`: people talk on the simulated Discord, and this machine answers as its bot."""

import asyncio
import json
from collections import Counter
from pathlib import Path

import httpx2
import pytest

from clankie.cli.sim_way import TracedWay
from cli.private import Up, clankie
from cli.private_bot import bot_environ, talking


@pytest.fixture
def settings(home: Path) -> dict[str, str]:
    return bot_environ(home)


async def test_a_guest_who_mentions_the_bot_is_answered_below_and_the_way_is_told(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        asked = talk.say("@bot MARKER-in-content", who="Guest")
        assert await talk.answers() == ["MARKER-in-content"]
        (answer,) = talk.posted()
        assert answer.reference is not None
        assert answer.reference.message_id == asked.id

        way = await TracedWay(talk.config).hops(f"discord:{asked.id}")
        roles = Counter(hop.role for hop in way.hops)
        assert set(roles) == {"edge", "fleet", "gateway", "body"}
        assert way.hops[0].what.startswith("heard as mention")
        assert "MARKER" not in repr(way)
        traced = await asyncio.to_thread(clankie, settings, "trace", f"discord:{asked.id}")
        assert "edge     done: reply, posted 1 of 1" in traced.stdout


async def test_the_owner_is_answered_in_a_direct_message_and_a_stranger_told_once(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        own = talk.world.open_dm(talk.person().id, talk.bot.bot_user_id)
        talk.say("hello", where=own.id)
        assert await talk.answers(1, own.id) == ["hello"]
        other = talk.world.open_dm(talk.person("Guest").id, talk.bot.bot_user_id)
        talk.say("hello", who="Guest", where=other.id)
        (told,) = await talk.answers(1, other.id)
        assert "you have none linked" in told


async def test_a_command_and_a_thread_are_answered_where_they_are(settings: dict[str, str]) -> None:
    async with talking(settings) as talk:
        (command,) = talk.world.commands(talk.bot.id, None)
        text = [{"type": 3, "name": "text", "value": "by command"}]
        ask = [{"type": 1, "name": "ask", "options": text}]
        used = talk.world.invoke_command(talk.person().id, talk.general.id, command.id, ask)
        await talk.until(lambda: any(each.content == "by command" for each in talk.posted()))
        assert talk.world.original(talk.bot.id, used.token).content == "by command"

        begun = talk.say("a beginning")
        thread = talk.world.create_thread(
            talk.person().id, talk.general.id, "aside", message_id=begun.id
        )
        talk.say("@bot in here", where=thread.id)
        assert await talk.answers(1, thread.id) == ["in here"]


async def test_a_second_start_links_nothing_again_and_remembers_what_was_said(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        first = talk.say("@bot one")
        await talk.answers()
        links = await talk.ask_fleet("link/list")
        owner, guild = str(talk.person().id), str(talk.guild.id)
        assert {(each["kind"], each["discordId"]) for each in links} == {
            ("server", "1"),
            ("server", guild),
            ("user", owner),
        }
    async with talking(settings) as talk:
        assert await talk.ask_fleet("link/list") == links
        talk.say("@bot two")
        assert await talk.answers(2) == ["one", "two"]
        assert talk.world.message(talk.general.id, first.id).content.endswith("one")


async def test_health_and_measurements_say_how_the_edge_is_to_whoever_calls_it_by_its_name(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        talk.say("@bot MARKER-in-content")
        await talk.answers()
        base = f"http://127.0.0.1:{talk.config.edge.local_port}"
        async with httpx2.AsyncClient(trust_env=False) as http:
            health = await http.get(f"{base}/health")
            assert health.status_code == 200
            assert health.json()["discord"]["shards"][0]["ready"]
            assert health.json()["outbox"]["stuck"] == 0
            measured = await http.get(f"{base}/metrics")
            assert 'clankie_edge_messages_heard{what="accepted"} 1.0' in measured.text
            assert "MARKER" not in health.text + measured.text
            foreign = await http.get(f"{base}/health", headers={"host": "evil.example"})
            assert foreign.status_code == 403
            assert (await http.get(f"{base}/v1/operator/outbox")).status_code == 401
            assert (await http.post(f"{base}/health")).status_code == 404


async def test_the_operator_sees_rows_without_text_of_an_edge_that_runs_and_of_one_that_does_not(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        asked = talk.say("@bot MARKER-in-content")
        await talk.answers()
        delivery = f"discord:{asked.id}"

        async def run(*arguments: str) -> tuple[int, str]:
            done = await asyncio.to_thread(clankie, settings, "edge", "outbox", *arguments)
            return done.returncode, done.stdout + done.stderr

        code, listed = await run("list", "--ended")
        assert (code, delivery in listed, "MARKER" in listed) == (0, True, False)
        code, shown = await run("show", delivery, "--text", "--json")
        assert (json.loads(shown)[0]["state"], "MARKER" in shown) == ("done", False)
        code, said = await run("drop", delivery)
        assert (code, "has ended already" in said) == (1, True)
    assert await run("list") == (0, "nothing is open\n")
    code, said = await run("show", "discord:1")
    assert (code, "Next:" in said) == (1, True)


async def test_the_text_of_a_row_is_shown_only_when_asked_for_and_an_open_row_can_be_dropped(
    settings: dict[str, str],
) -> None:
    async with talking(settings) as talk:
        asked = talk.say("@bot !slow 30")
        delivery = f"discord:{asked.id}"
        await talk.until_a_turn_runs()

        async def run(*arguments: str) -> str:
            done = await asyncio.to_thread(clankie, settings, "edge", "outbox", *arguments)
            assert done.returncode == 0, done.stderr
            return done.stdout

        (row,) = json.loads(await run("list", "--json"))
        assert (row["deliveryId"], row["state"]) == (delivery, "asking")
        assert "!slow 30" not in await run("show", delivery)
        assert "!slow 30" in await run("show", delivery, "--text")
        assert await run("drop", delivery) == f"dropped {delivery}\n"
        assert talk.posted() == []


def test_up_sim_says_where_the_page_is_and_what_to_type(home: Path) -> None:
    settings = bot_environ(home)
    up = Up(settings)
    up.start("--sim")
    try:
        up.until("Next: open the page, and say in #general of Sample server: @Helper hello")
        assert any(f"http://127.0.0.1:{settings['CLANKIE_SIM_PORT']}/" in line for line in up.lines)
        both = clankie(settings, "up", "--sim", "--edge")
        assert both.returncode == 2
    finally:
        assert up.stop() == 0


def test_a_missing_token_names_the_command_that_keeps_one(home: Path) -> None:
    done = clankie(bot_environ(home), "edge", "serve")
    assert done.returncode == 1
    assert "clankie secret set clankie-discord-bot-token" in done.stderr
    none = clankie(bot_environ(home), "edge", "outbox", "list")
    assert none.returncode == 1
    assert "Next: `clankie edge serve`" in none.stderr
    assert not (home / "edge").exists()
