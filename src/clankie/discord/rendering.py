"""An author's words as a model should see them: mentions as name and id, the leading call of the bot taken off.

A mention that Discord does not show as one (in code, in a link, escaped) stays as it was written; one in a quote is
shown, though it addresses nobody. Nothing else is changed: emoji, timestamps and markdown stay.

Owns the rendered forms. Must not know payloads.
"""

import re
from collections.abc import Callable
from typing import Final

from clankie.discord.addressing import shown_as_mention
from clankie.discord.markup import Markup, Mention, MentionKind

NameOf = Callable[[MentionKind, str], str]
"""The name of somebody or something by its id; "" when nobody knows."""

_AFTER_CALL: Final = re.compile(r"\s*(?:[,:]\s+)?")
_SIGNS: Final = {MentionKind.USER: "@", MentionKind.ROLE: "@", MentionKind.CHANNEL: "#"}
_KINDS: Final = {
    MentionKind.USER: "user",
    MentionKind.ROLE: "role",
    MentionKind.CHANNEL: "channel",
}


def rendered(
    text: str, markup: Markup, *, name_of: NameOf, is_bot: Callable[[Mention], bool]
) -> str:
    """The words of `text`, without white space around them.

    Args:
        text: what `markup` was parsed from.
        name_of: gives names, one line each.
        is_bot: whether a mention is of the bot, or of its own role.
    """
    pieces: list[str] = []
    at = _call_end(text, markup, is_bot)
    for mention in markup.mentions:
        if mention.start < at or not shown_as_mention(mention):
            continue
        pieces.append(text[at : mention.start])
        pieces.append(_shown(mention, name_of(mention.kind, mention.id)))
        at = mention.end
    pieces.append(text[at:])
    return "".join(pieces).strip()


def only_calls(text: str, markup: Markup, is_bot: Callable[[Mention], bool]) -> bool:
    """Whether there is nothing in `text` but live mentions of the bot, one at least."""
    end = _call_end(text, markup, is_bot)
    return end > 0 and not text[end:].strip()


def _call_end(text: str, markup: Markup, is_bot: Callable[[Mention], bool]) -> int:
    """Where the words begin after the mentions of the bot that a text begins with; 0 without any."""
    end = 0
    for mention in markup.mentions:
        if mention.inert is not None or text[end : mention.start].strip() or not is_bot(mention):
            break
        gap = _AFTER_CALL.match(text, mention.end)
        end = gap.end() if gap else mention.end
    return end


def _shown(mention: Mention, name: str) -> str:
    what = _KINDS[mention.kind]
    return f"{_SIGNS[mention.kind]}{name}{' ' if name else ''}({what} {mention.id})"
