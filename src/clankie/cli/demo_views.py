"""What each party of the demo saw of one delivery, in words. Pure: bytes in, rows out.

Owns what is told of the relays' bytes. Must not know the parties themselves, nor how anything looks.
"""

import json
from typing import Any, Final

from msgspec import UNSET

from clankie.cli.demo_relay import Passage
from clankie.cli.demo_screen import JourneyRow
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
"""Characters shown of a long text's beginning and end: both fit a quarter of 80 columns."""


def journey_rows(
    sent: DiscordIngressEvent,
    asked: Passage,
    passage: Passage,
    opened: DiscordIngressEvent,
    turns: int,
    result: DiscordIngressResult,
) -> list[JourneyRow]:
    """One message's whole way, as rows for the four parties.

    Args:
        asked: the permit's passage to the fleet.
        passage: the envelope's passage to the gateway.
        opened: what the body made of the envelope.
        turns: how many the captain began.
    """
    envelope = parse_envelope(passage.request)
    claims = unverified_claims(envelope.permit)
    told = json.loads(asked.request)
    answer = json.loads(passage.answer)["sealed"]
    permitted = (
        f"← asked about\n{short(told['deliveryId'])}\nserver {told.get('guildId', '-')}\n"
        f"to\n{short(told['tenantId'])}\ndigest\n{short(told['digest'])}\n"
        f"→ {claims['exp'] - claims['iat']} s permit"
    )
    carried = (
        f"← {len(passage.request):,} bytes\nsealed\n{short(envelope.sealed)}\n"
        f"permit says: to\n{short(claims['tid'])}\ndigest\n{short(claims['dig'])}"
    )
    taken = (
        f"← by its tunnel; permit holds; opened:\n{described(opened)}\n"
        f"admitted on disk\n{counted(turns)} begun"
    )
    carried_back = f"→ {passage.status}, {len(passage.answer):,} bytes\nsealed\n{short(answer)}"
    return [
        (described(sent), "", "", ""),
        ("→ may I? a digest\n→ sealed for the body", permitted, carried, taken),
        (f"← opened: {result_text(result)}", "", carried_back, "→ sealed for that request"),
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
