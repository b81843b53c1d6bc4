"""A bot's own file, as it is, in a process of its own: `clankie sim` in another, and a person by the control API."""

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest

PROGRAM = "from clankie.cli.main import run; run()"
BOT = '''"""A bot as anybody writes it."""

import os

import discord
from discord.ext import commands

bot = commands.Bot("!", intents=discord.Intents.all())


@bot.event
async def on_ready():
    print("ready as", bot.user, flush=True)


@bot.command()
async def shout(context, *, what):
    file = discord.File(__file__, "bot.py")
    await context.reply(what.upper(), file=file, mention_author=False)


bot.run(os.environ["DISCORD_TOKEN"], log_handler=None)
'''
SECONDS = 30


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "CLANKIE_HOME": str(home), "CLANKIE_LOG_FORMAT": "json"}


@pytest.fixture
def port(environ: dict[str, str]) -> Iterator[int]:
    """Of a simulator in a process of its own."""
    with _running(environ, "sim", "--port", "0") as process:
        yield int(_read_until(process, r"page\s+http://127\.0\.0\.1:(\d+)/")[1])


def test_a_bots_file_answers_what_a_person_posts(
    port: int, environ: dict[str, str], tmp_path: Path
) -> None:
    script = tmp_path / "bot.py"
    script.write_text(BOT)
    with (
        _running(environ, "sim", "run", "--port", str(port), str(script)) as bot,
        httpx2.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client,
    ):
        _read_until(bot, "ready as helper")
        world = client.get("/sim/api/v1/world").json()
        guest = next(each for each in world["people"] if each["global_name"] == "Guest")
        general = next(each for each in world["guilds"][0]["channels"] if each["name"] == "general")
        place = f"/sim/api/v1/channels/{general['id']}/messages"
        with client.stream(
            "GET", "/sim/api/v1/events", params={"as": guest["id"], "since": world["eventId"]}
        ) as stream:
            posted = client.post(
                place,
                json={"as": guest["id"], "content": "!shout hello"},
                headers={"x-clankie-sim": "1"},
            ).json()
            answer = _answer(stream, posted["id"])
        assert answer["content"] == "HELLO"
        assert answer["author"]["bot"]
        assert answer["message_reference"]["message_id"] == posted["id"]
        assert answer["mentions"] == []
        (file,) = answer["attachments"]
        assert client.get(file["url"]).text == BOT
        shown = client.get(place, params={"as": guest["id"]}).json()["messages"]
        texts = [each["content"] for each in shown if each["author"]["id"] != guest["id"]]
        assert texts.count("HELLO") == 1


def _answer(stream: httpx2.Response, asked: str) -> Any:
    """The first message that refers to another."""
    for line in stream.iter_lines():
        if not line.startswith("data:"):
            continue
        data = json.loads(line.removeprefix("data:")).get("d") or {}
        if (data.get("message_reference") or {}).get("message_id") == asked:
            return data
    raise AssertionError("the stream ended before the answer")


@contextmanager
def _running(environ: dict[str, str], *arguments: str) -> Iterator["subprocess.Popen[str]"]:
    """`clankie` with these arguments, until Ctrl-C; then it ends as one that was asked to."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=environ,
    )
    with process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            ended = process.wait(SECONDS)
    assert ended == 0


def _read_until(process: "subprocess.Popen[str]", pattern: str) -> re.Match[str]:
    assert process.stdout is not None
    said = ""
    for line in process.stdout:
        said += line
        found = re.search(pattern, said)
        if found:
            return found
    raise AssertionError(said)
