"""The simulator is stopped and started again on its file, with a bot that stays up."""

import io
import socket
from pathlib import Path

import pytest

import discord
from sim.bots.town import Bot, Scene, Town, connected, fence, point_discord_at, simulator


async def test_a_bot_is_back_and_everything_that_was_answered_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, port = tmp_path / "discord.db", _free_port()
    # discord.py waits up to a second and more before it tries again
    monkeypatch.setattr("discord.backoff.ExponentialBackoff.delay", lambda _: 0.05)
    bot = Bot()
    async with simulator(state=state, port=port) as role:
        point_discord_at(monkeypatch, role.origin)
        town = Town(role)
        scene = Scene(town, bot)
        running = connected(town, bot, bot.heard)
        await running.__aenter__()
        asked = town.say("before")
        question = await bot.heard.next("message")
        answered = await question.reply("answered", nonce="n")
        await answered.add_reaction("👍")
        thread = await question.create_thread(name="aside")
        await thread.send("file", file=discord.File(io.BytesIO(b"bytes"), "a.bin"))
        await scene.fence()
    await bot.heard.next("disconnect")
    with pytest.raises(OSError, match="Cannot connect"):
        await scene.general.send("nobody is there")
    async with simulator(state=state, port=port) as role:
        town = Town(role)
        await bot.heard.next("ready")
        town.say("after")
        await bot.heard.until(lambda: "after" in bot.heard.messages())
        await fence(town, bot.heard)
        read = [message async for message in scene.general.history(limit=3)]
        assert [message.content for message in read] == ["after", "answered", "before"]
        assert [str(reaction.emoji) for reaction in read[1].reactions] == ["👍"]
        assert read[1].reference is not None
        assert read[1].reference.message_id == asked.id
        (filed,) = [each async for each in thread.history() if each.content == "file"]
        assert await filed.attachments[0].read() == b"bytes"
        assert bot.heard.messages() == ["before", "answered", "", "file", "after"]
        body = {"content": "answered", "nonce": "n", "enforce_nonce": True}
        route = discord.http.Route(
            "POST", "/channels/{channel_id}/messages", channel_id=scene.general.id
        )
        again = await bot.http.request(route, json=body)
        assert int(again["id"]) == answered.id
        await running.__aexit__(None, None, None)
    assert bot.heard.errors == []


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
