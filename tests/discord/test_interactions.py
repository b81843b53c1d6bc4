"""Interactions as the gateway sends them."""

from typing import Any

import pytest

from clankie.discord.attention import Wake, wake_policy, wakes
from clankie.discord.errors import NotReadable
from clankie.discord.facts import Surroundings
from clankie.discord.interactions import Acknowledge, read_interaction
from discord_payloads import (
    AROUND,
    BOT,
    CHANNEL,
    GUEST,
    GUILD,
    MESSAGE,
    OTHER,
    OTHER_ROLE,
    SENT_AT_MS,
    THREAD,
    Json,
    command,
    image,
    user,
)


def asked(payload: Json, around: Surroundings = AROUND) -> Any:
    found = read_interaction(payload, around).message
    assert found is not None
    return found


def test_a_command_is_a_message_of_whoever_used_it_under_the_interactions_id() -> None:
    found = asked(command())
    assert (found.id, found.author.id, found.place.guild_id) == (MESSAGE, GUEST, GUILD)
    assert (found.place.channel_id, found.sent_at_ms) == (CHANNEL, SENT_AT_MS)


@pytest.mark.seed("S40")
@pytest.mark.parametrize(("dm", "kind"), [(False, "slash"), (True, "dm")])
def test_a_command_wakes_whatever_the_trigger_and_in_a_dm_it_is_a_dm(dm: bool, kind: str) -> None:
    found = wakes(asked(command(dm=dm)), wake_policy())
    assert isinstance(found, Wake)
    assert (found.kind, found.because) == (kind, "slash")
    assert found.delivery_id == f"discord:{MESSAGE}"


def option(kind: int, value: Any, name: str = "what") -> Json:
    return {"name": name, "type": kind, "value": value}


RESOLVED: Json = {
    "users": {OTHER: user(OTHER, "other")},
    "members": {OTHER: {"nick": "The Other"}},
    "roles": {OTHER_ROLE: {"id": OTHER_ROLE, "name": "Moderators"}},
    "channels": {CHANNEL: {"id": CHANNEL, "name": "general"}},
    "attachments": {"7001": image("7001")},
}


@pytest.mark.parametrize(
    ("options", "content"),
    [
        ([], "/ask"),
        ([option(3, "how are\nyou?")], "/ask what: how are\nyou?"),
        ([option(3, "a", "x"), option(4, 7, "y")], "/ask x: a y: 7"),
        ([option(5, True)], "/ask what: true"),
        ([option(10, 0.5)], "/ask what: 0.5"),
        ([option(6, OTHER)], f"/ask what: @The Other (user {OTHER})"),
        ([option(9, OTHER_ROLE)], f"/ask what: @Moderators (role {OTHER_ROLE})"),
        ([option(7, CHANNEL)], f"/ask what: #general (channel {CHANNEL})"),
        ([option(6, "5999")], "/ask what: (5999)"),
        ([option(11, "7001")], "/ask what: 7001.png"),
        (
            [
                {
                    "name": "memory",
                    "type": 2,
                    "options": [{"name": "forget", "type": 1, "options": [option(3, "it")]}],
                }
            ],
            "/ask memory forget what: it",
        ),
    ],
)
def test_options_are_written_after_the_commands_name(options: list[Json], content: str) -> None:
    payload = command(options=options)
    payload["data"]["resolved"] = RESOLVED
    assert asked(payload).text == content


def test_options_without_end_are_read_as_deep_as_discord_nests_them() -> None:
    nested: Json = {"name": "x", "type": 1, "options": []}
    for _ in range(5_000):
        nested = {"name": "x", "type": 1, "options": [nested]}
    assert asked(command(options=[nested])).text == "/ask x x x x"


@pytest.mark.parametrize("name", ["stop", "new"])
def test_a_command_without_options_is_exactly_its_name(name: str) -> None:
    assert asked(command(name)).content == f"/{name}"


def test_files_of_options_are_the_commands_attachments() -> None:
    payload = command(options=[option(11, "7001")])
    payload["data"]["resolved"] = RESOLVED
    assert [each.id for each in asked(payload).attachments] == ["7001"]


def test_a_thread_that_the_cache_does_not_know_is_read_from_the_interaction() -> None:
    channel = {"id": THREAD, "type": 11, "parent_id": CHANNEL}
    found = asked(command(channel_id=THREAD, channel=channel), Surroundings(bot_user_id=BOT)).place
    assert (found.thread, found.parent_id) == (True, CHANNEL)


@pytest.mark.parametrize(
    ("kind", "acknowledge"),
    [
        (1, Acknowledge.PONG),
        (2, Acknowledge.DEFERRED_REPLY),
        (3, Acknowledge.DEFERRED_UPDATE),
        (4, Acknowledge.NO_CHOICES),
        (5, Acknowledge.DEFERRED_REPLY),
    ],
)
def test_each_kind_says_how_and_until_when_it_is_acknowledged(
    kind: int, acknowledge: Acknowledge
) -> None:
    found = read_interaction(command(type=kind), AROUND)
    assert found.acknowledge is acknowledge
    assert found.acknowledge_before_ms == SENT_AT_MS + 3_000
    assert found.follow_up_before_ms == SENT_AT_MS + 900_000
    assert (found.message is not None) == (kind == 2)


@pytest.mark.parametrize("kind", [2, 3])
def test_a_command_of_a_context_menu_asks_nothing_of_ours(kind: int) -> None:
    payload = command()
    payload["data"]["type"] = kind
    assert read_interaction(payload, AROUND).message is None


@pytest.mark.parametrize(
    ("more", "field"),
    [
        ({"id": 5}, "id"),
        ({"type": 9}, "type"),
        ({"type": None}, "type"),
        ({"application_id": None}, "application_id"),
        ({"token": None}, "token"),
        ({"data": None}, "data"),
        ({"data": {}}, "data.name"),
        ({"member": None}, "user"),
        ({"channel_id": None, "channel": None}, "channel_id"),
        ({"guild_id": 7}, "guild_id"),
    ],
)
def test_without_what_it_needs_an_interaction_is_not_readable(more: Json, field: str) -> None:
    with pytest.raises(NotReadable) as raised:
        read_interaction(command() | more, AROUND)
    assert raised.value.field == field


def test_the_token_is_in_no_repr() -> None:
    assert "a-token" not in repr(read_interaction(command(), AROUND))
