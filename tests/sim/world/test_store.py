"""What survives: a restart, a kill, a store that fails."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pytest

from clankie.runtime.database_errors import DatabaseCorrupt, DatabaseInUse, DatabaseTooNew
from clankie.sim import payloads
from clankie.sim.errors import StoreFailed
from clankie.sim.sample import build
from clankie.sim.store import Store
from clankie.sim.world.entities import (
    ChannelType,
    Emoji,
    MessageDraft,
    MessageEdit,
    Upload,
)
from clankie.sim.world.tables import Tables
from clankie.sim.world.world import World
from conftest import ManualClock
from sim.world.worlds import Town


def everything(tables: Tables) -> dict[str, object]:
    """All records, to be compared."""
    logs = {place: log.by_id for place, log in tables.messages.items() if log.ids}
    members = {guild: dict(found) for guild, found in tables.members.items() if found}
    plain = (
        "users", "applications", "guilds", "channels", "webhooks", "commands", "interactions",
        "dms", "application_by_token", "interaction_by_token", "last_id",
    )  # fmt: skip
    return {name: getattr(tables, name) for name in plain} | {"logs": logs, "members": members}


def test_a_world_is_the_same_after_a_restart(home: Path, clock: ManualClock) -> None:
    town = Town(clock, Store.open(home / "sim.db"))
    world = town.world
    message = town.say("hello", uploads=(Upload("a.bin", bytes(range(256))),), nonce="1")
    gone = town.say("gone", uploads=(Upload("b.bin", b"b"),))
    world.delete_message(town.owner, town.general, gone.id)
    world.add_reaction(town.member, town.general, message.id, Emoji("👀"))
    world.edit_message(town.owner, town.general, message.id, MessageEdit(content="hello!"))
    thread = world.create_thread(town.owner, town.general, "topic", message_id=message.id)
    world.create_webhook(town.owner, town.general, "Hook")
    world.open_dm(town.owner, town.bot)
    (command,) = world.set_commands(
        town.application.id, None, [{"name": "ask", "description": "x"}]
    )
    interaction = world.invoke_command(town.owner, town.general, command.id)
    world.respond_interaction(interaction.id, interaction.token, 5)
    world.spend_session_start(town.application.id)
    before = everything(world.tables)
    world.close()

    again = World(clock, store=Store.open(home / "sim.db"))
    assert not again.is_empty
    assert everything(again.tables) == before
    assert again.attachment_bytes(message.attachments[0].id) == bytes(range(256))
    assert again.attachment_bytes(gone.attachments[0].id) is None
    draft = MessageDraft("hello", nonce="1", enforce_nonce=True)
    assert again.post_message(town.owner, town.general, draft).id == message.id
    later = again.post_message(town.owner, thread.id, MessageDraft("later"))
    assert later.id > max(message.id, interaction.id)
    again.close()


def test_ten_thousand_messages_are_there_within_a_second(home: Path, clock: ManualClock) -> None:
    town = Town(clock, Store.open(home / "sim.db"))
    for number in range(10_000):
        town.say(f"message {number}")
    town.world.close()
    store = Store.open(home / "sim.db")
    began = time.perf_counter()
    again = World(clock, store=store)
    assert time.perf_counter() - began < 1
    newest = again.history(town.general, limit=1)
    assert [each.content for each in newest] == ["message 9999"]
    again.close()


KILLED = """
import sys
from pathlib import Path
from clankie.runtime.clock import SystemClock
from clankie.sim.sample import build
from clankie.sim.store import Store
from clankie.sim.world.entities import MessageDraft
from clankie.sim.world.world import World

world = World(SystemClock(), store=Store.open(Path(sys.argv[1])))
sample = build(world)
general = world.channels(sample.guild.id)[0].id
while True:
    message = world.post_message(sample.owner.id, general, MessageDraft("hello"))
    print(message.id, flush=True)
"""


def test_a_killed_process_loses_nothing_that_it_answered(home: Path, clock: ManualClock) -> None:
    path = home / "sim.db"
    process = subprocess.Popen(
        [sys.executable, "-c", KILLED, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    answered = [int(process.stdout.readline()) for _ in range(200)]
    os.kill(process.pid, signal.SIGKILL)
    answered += [int(line) for line in process.stdout if line.endswith("\n")]
    process.wait()
    process.stdout.close()
    world = World(clock, store=Store.open(path))
    (guild,) = world.guilds()
    general = world.channels(guild.id)[0].id
    kept = {each.id for each in world.history(general, limit=len(answered) + 10)}
    assert kept >= set(answered)
    world.close()


def test_what_cannot_be_stored_did_not_happen(home: Path, clock: ManualClock) -> None:
    town = Town(clock, Store.open(home / "sim.db"))
    town.say("before")
    town.heard.clear()
    town.world._store._connection.execute("PRAGMA query_only = ON")
    with pytest.raises(StoreFailed, match="could not be written"):
        town.say("lost", uploads=(Upload("a.bin", b"a"),))
    assert town.heard == []
    assert [each.content for each in town.world.history(town.general)] == ["before"]
    town.world._store._connection.execute("PRAGMA query_only = OFF")
    town.say("after")
    town.world.close()


def test_a_file_has_one_process(home: Path) -> None:
    store = Store.open(home / "sim.db")
    with pytest.raises(DatabaseInUse):
        Store.open(home / "sim.db")
    store.close()
    Store.open(home / "sim.db").close()


@pytest.mark.parametrize(
    "damage",
    ["UPDATE record SET body = '{'", "UPDATE record SET kind = kind || 'x'", "DROP TABLE record"],
)
def test_a_damaged_file_is_refused(home: Path, clock: ManualClock, damage: str) -> None:
    Town(clock, Store.open(home / "sim.db")).world.close()
    connection = sqlite3.connect(home / "sim.db")
    with connection:
        connection.execute(damage)
    connection.close()
    store = Store.open(home / "sim.db")
    with pytest.raises(DatabaseCorrupt):
        World(clock, store=store)
    store.close()


def test_a_newer_file_is_refused(home: Path) -> None:
    Store.open(home / "sim.db").close()
    connection = sqlite3.connect(home / "sim.db")
    connection.execute("PRAGMA user_version = 2")
    connection.close()
    with pytest.raises(DatabaseTooNew):
        Store.open(home / "sim.db")


def test_the_sample_world_shows_one_of_each(clock: ManualClock) -> None:
    world = World(clock)
    assert world.is_empty
    sample = build(world)
    channels = world.channels(sample.guild.id)
    assert {each.type for each in channels} == {
        ChannelType.TEXT, ChannelType.VOICE, ChannelType.FORUM,
    }  # fmt: skip
    member = next(each for each in world.users() if each.username == "member")
    seen = [each.name for each in world.visible_channels(member.id, sample.guild.id)]
    assert seen == ["general", "ideas", "help", "Voice"]
    assert sample.application.token not in repr(sample)
    assert world.application_by_token(sample.application.token) == sample.application
    shown = payloads.application(world.tables, sample.application)
    assert sample.application.client_secret not in str(shown)
