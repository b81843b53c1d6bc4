"""The simulator's process is killed in the middle of people's talk: what was answered is there."""

import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx2

PROGRAM = "from clankie.cli.main import run; run()"
BEFORE = 100
"""Answers to each of two talks before the kill."""
SECONDS = 30


@contextmanager
def simulator(home: Path, state: Path) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """A simulator in a process of its own, its address, and its bot's token. It ends by SIGKILL."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "sim", "--port", "0", "--state", str(state)],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={"PATH": os.environ["PATH"], "CLANKIE_HOME": str(home)},
    )
    with process:
        assert process.stdout is not None
        said = ""
        for line in process.stdout:
            said += line
            found = re.search(r"page\s+(http://\S+?)/\s.*DISCORD_TOKEN=(\S+)", said, re.DOTALL)
            if found:
                break
        assert found, said
        try:
            yield process, found[1], found[2]
        finally:
            process.kill()


class Talker(threading.Thread):
    """Posts one message after the other until nobody answers, and keeps the ids of those that were answered."""

    def __init__(self, client: httpx2.Client, path: str, body: dict[str, str]) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.refused: list[int] = []
        self.enough = threading.Event()
        self._client, self._path, self._body = client, path, body

    def run(self) -> None:
        number = 0
        while True:
            body = {**self._body, "content": f"{number}"}
            try:
                answer = self._client.post(self._path, json=body)
            except httpx2.TransportError:
                return
            if answer.is_success:
                self.ids.append(answer.json()["id"])
            else:
                self.refused.append(answer.status_code)
            number += 1
            if len(self.ids) >= BEFORE:
                self.enough.set()


def test_what_was_answered_before_a_kill_is_there_after_it(home: Path, tmp_path: Path) -> None:
    state = tmp_path / "discord.db"
    with (
        simulator(home, state) as (process, origin, token),
        httpx2.Client(
            base_url=origin, trust_env=False, timeout=SECONDS, headers={"x-clankie-sim": "1"}
        ) as client,
    ):
        world = client.get("/sim/api/v1/world").json()
        me = world["me"]["id"]
        channels = {each["name"]: each["id"] for each in world["guilds"][0]["channels"]}
        guest = Talker(client, f"/sim/api/v1/channels/{channels['general']}/messages", {"as": me})
        ideas = Talker(client, f"/sim/api/v1/channels/{channels['ideas']}/messages", {"as": me})
        for talker in (guest, ideas):
            talker.start()
        for talker in (guest, ideas):
            assert talker.enough.wait(SECONDS)
        process.kill()
        for talker in (guest, ideas):
            talker.join(SECONDS)
    assert guest.refused == ideas.refused == []
    with simulator(home, state) as (_, origin, same_token):
        assert same_token == token
        with httpx2.Client(base_url=origin, trust_env=False, timeout=SECONDS) as client:
            for talker, name in ((guest, "general"), (ideas, "ideas")):
                ids = _history(client, channels[name], me)
                assert set(talker.ids) <= set(ids)
                assert (
                    len(ids) == len(set(ids)) <= len(talker.ids) + 2
                )  # the greeting, one in flight


def _history(client: httpx2.Client, channel: str, me: str) -> list[str]:
    """All ids, oldest first."""
    ids: list[str] = []
    while True:
        query = {"as": me, "limit": "100"} | ({"before": ids[0]} if ids else {})
        answer = client.get(f"/sim/api/v1/channels/{channel}/messages", params=query)
        page = [message["id"] for message in answer.json()["messages"]]
        ids = page + ids
        if len(page) < 100:
            return ids
