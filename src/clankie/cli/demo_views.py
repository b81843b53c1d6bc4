"""What each party of the demo saw of one request, in words. Pure: bytes in, rows out.

Owns what is told of the relay's bytes. Must not know the parties themselves, nor how anything looks.
"""

import json
from typing import Any, Final

from msgspec import UNSET

from clankie.cli.demo_relay import Passage
from clankie.cli.demo_screen import Row
from clankie.protocol import base64url
from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    parse_envelope,
)

HEAD: Final = 10
TAIL: Final = 5
"""Characters shown of a long text's beginning and end: both fit a third of 80 columns."""


def journey_rows(
    sent: DiscordIngressEvent,
    passage: Passage,
    opened: DiscordIngressEvent,
    turns: int,
    result: DiscordIngressResult,
) -> list[Row]:
    """One message's whole way, as rows for the three parties."""
    envelope = parse_envelope(passage.request)
    claims = unverified_claims(envelope.permit)
    answer = json.loads(passage.answer)["sealed"]
    relayed = (
        f"→ POST, {len(passage.request):,} bytes\nsealed {short(envelope.sealed)}\n"
        f"permit, {claims['exp'] - claims['iat']} s, says:\n"
        f"to {claims['tid']}\nof {short(claims['dig'])}"
    )
    asked = f"→ sealed for the body\npermit fetched for digest\n{short(claims['dig'])}"
    admitted = f"admitted on disk\n{counted(turns)} begun"
    relayed_back = f"← {passage.status}, {len(passage.answer):,} bytes\nsealed {short(answer)}"
    return [
        (described(sent), "", ""),
        (asked, relayed, f"→ permit holds; opened:\n{described(opened)}\n{admitted}"),
        (f"← opened: {result_text(result)}", relayed_back, "← sealed for that request"),
    ]


def described(event: DiscordIngressEvent) -> str:
    """An event as a person reads it."""
    who = "owner" if event.owner else "not the owner"
    earlier = 0 if event.context is UNSET else len(event.context)
    context = f"\n+ {earlier} earlier message" if earlier else ""
    return f"{event.kind} by {event.actor_id} ({who})\n“{event.content}”{context}"


def result_text(result: DiscordIngressResult) -> str:
    """A result as a person reads it."""
    match result:
        case Reply(text):
            return f"reply\n“{text}”"
        case Failed(code):
            return f"failed/{code}"
        case Silent():
            return "silent"
        case Pending():
            return "pending"
    return "voice"


def answer_text(passage: Passage) -> str:
    """A refusal as it stands on the wire; a sealed answer in short."""
    if passage.status == 200:
        return f"200, sealed, {len(passage.answer):,} bytes"
    return f"{passage.status} {passage.answer.decode('ascii', 'replace')}"


def counted(turns: int) -> str:
    """`1 turn`, `2 turns`."""
    return f"{turns} turn{'' if turns == 1 else 's'}"


def short(text: str) -> str:
    """A long text's two ends."""
    return text if len(text) <= HEAD + TAIL + 1 else f"{text[:HEAD]}…{text[-TAIL:]}"


def unverified_claims(permit: str) -> dict[str, Any]:
    """What anyone who holds a permit can read in it; nothing is checked."""
    claims: dict[str, Any] = json.loads(base64url.decode(permit.split(".")[1]))
    return claims
