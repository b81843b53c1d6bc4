"""What a text mentions, by Discord's rules for allowed_mentions.

    no allowed_mentions      everything in the text counts, and the author of what is replied to
    parse                    everything of these kinds counts
    users, roles             these ids count, if the text mentions them
    replied_user             the author of what is replied to counts; without allowed_mentions it does

What does not count is in no list of the message, though the text says it. Mentions in code do not count. Owns reading
the text. Must not know who exists.
"""

import re
from typing import Final, NamedTuple

from clankie.sim.errors import field_error
from clankie.sim.world.entities import AllowedMentions

MAX_MENTIONS: Final = 100
"""Ids in one of allowed_mentions' lists (Discord's documentation, "Allowed Mentions Object")."""
EVERYTHING: Final = AllowedMentions(frozenset({"users", "roles", "everyone"}), replied_user=True)
"""What a message without allowed_mentions allows."""
_CODE: Final = re.compile(r"(`{3,})[\s\S]*?\1|(`{1,2})(?!`)[\s\S]+?(?<!`)\2(?!`)")
_USER: Final = re.compile(r"(?<!\\)<@!?([0-9]{1,19})>", re.ASCII)
_ROLE: Final = re.compile(r"(?<!\\)<@&([0-9]{1,19})>", re.ASCII)
_EVERYONE: Final = re.compile(r"(?<!\\)@(?:everyone|here)\b")


class Mentions(NamedTuple):
    """What a text mentions and its author lets count; whether these exist is not known here."""

    user_ids: tuple[int, ...]
    role_ids: tuple[int, ...]
    everyone: bool


def check(allowed: AllowedMentions | None) -> None:
    """That a kind is allowed either whole or by ids.

    Raises:
        Invalid: 50035.
    """
    if allowed is None:
        return
    for kind, ids in (("users", allowed.users), ("roles", allowed.roles)):
        if kind in allowed.parse and ids:
            raise field_error(
                "allowed_mentions",
                "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )
        if len(ids) > MAX_MENTIONS:
            raise field_error(
                f"allowed_mentions.{kind}",
                "BASE_TYPE_MAX_LENGTH",
                f"Must be {MAX_MENTIONS} or fewer in length.",
            )


def read(content: str, allowed: AllowedMentions | None) -> Mentions:
    """What counts of a text."""
    rules = EVERYTHING if allowed is None else allowed
    text = _CODE.sub("", content)
    users = dict.fromkeys(int(each) for each in _USER.findall(text))
    roles = dict.fromkeys(int(each) for each in _ROLE.findall(text))
    return Mentions(
        tuple(each for each in users if "users" in rules.parse or each in rules.users),
        tuple(each for each in roles if "roles" in rules.parse or each in rules.roles),
        "everyone" in rules.parse and _EVERYONE.search(text) is not None,
    )


def replied_user_counts(allowed: AllowedMentions | None) -> bool:
    """Whether a reply mentions whom it answers."""
    return allowed is None or allowed.replied_user
