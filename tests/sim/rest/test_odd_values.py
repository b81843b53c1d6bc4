"""Whatever stands in a field: it is taken or refused by name, and never a bug."""

from typing import Any

from sim.rest.places import Place

ODD: tuple[Any, ...] = (
    None, True, -1, 1.5, 2**70, "x", "", "\0", [], [None], [[]], [1], ["x"], {}, [{}], {"id": None},
    [{"id": 1, "name": 1, "type": 1, "description": 1, "options": 1}],
    [{"id": "x", "type": [], "fields": [1], "title": 5, "footer": 7, "author": [], "poll_media": 3}],
    {"text": 1}, {"question": {"text": 5}, "answers": [{"poll_media": {"text": 5}}], "duration": "x"},
)  # fmt: skip
MESSAGE_FIELDS = (
    "content", "embeds", "message_reference", "allowed_mentions", "components", "sticker_ids", "poll", "flags",
    "nonce", "enforce_nonce", "attachments", "tts",
)  # fmt: skip
COMMAND_FIELDS = (
    "type", "name", "description", "options", "default_member_permissions", "nsfw", "contexts", "name_localizations",
)  # fmt: skip
CHANNEL_FIELDS = (
    "name", "type", "topic", "position", "permission_overwrites", "parent_id", "nsfw", "rate_limit_per_user",
    "available_tags", "archived", "applied_tags", "auto_archive_duration", "message",
)  # fmt: skip


async def test_no_odd_value_in_any_field_is_a_bug(place: Place) -> None:
    own = (await place.post(content="mine")).json()["id"]
    commands = f"/applications/{place.application.id}/commands"
    calls = (
        ("POST", place.messages, MESSAGE_FIELDS),
        ("PATCH", f"{place.messages}/{own}", MESSAGE_FIELDS),
        ("POST", f"/channels/{place.general.id}/threads", CHANNEL_FIELDS),
        ("PATCH", f"/channels/{place.general.id}", CHANNEL_FIELDS),
        ("POST", f"/guilds/{place.guild.id}/channels", CHANNEL_FIELDS),
        ("POST", commands, COMMAND_FIELDS),
        ("POST", "/users/@me/channels", ("recipient_id",)),
    )
    for method, path, fields in calls:
        for field in fields:
            for value in ODD:
                body = {"name": "name", "content": "c", "description": "d", field: value}
                answer = await place.bot.request(method, path, json=body)
                assert answer.status_code < 500, (method, path, field, value)


async def test_no_odd_value_in_an_answer_to_an_interaction_is_a_bug(place: Place) -> None:
    command = place.world.put_command(
        place.application.id, None, {"name": "ask", "description": "Ask"}
    )
    for field in MESSAGE_FIELDS:
        for value in ODD:
            used = place.world.invoke_command(place.guest.id, place.general.id, command.id)
            answer = await place.nobody.post(
                f"/interactions/{used.id}/{used.token}/callback",
                json={"type": 4, "data": {"content": "c", field: value}},
            )
            assert answer.status_code < 500, (field, value)
