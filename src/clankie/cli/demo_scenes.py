"""The demo's scenes: what is done in each, and what is claimed of it.

Every claim goes through `Checks`: one that does not hold is shown as such, and the demo fails. Must not know how
anything looks.
"""

import asyncio
import json
from typing import Final

import msgspec

from clankie.cli.demo_evidence import answered, forwarded, refused
from clankie.cli.demo_relay import Passage
from clankie.cli.demo_screen import JourneyRow, Row, Screen
from clankie.cli.demo_stage import Stage
from clankie.cli.demo_views import answer_text, journey_rows, result_text, unverified_claims
from clankie.connection.fleet_permits import PERMITS_PATH
from clankie.protocol.discord_ingress import (
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    envelope_json,
    parse_envelope,
)
from clankie.protocol.discord_ingress_crypto import prepare_discord_ingress

MESSAGE: Final = "Where is the spare key?"
BEFORE: Final = "It used to be under the blue pot."
SLOW: Final = "!slow 120 reply This answer never comes."
TURN_BEGINS_SECONDS: Final = 10.0
"""How long a turn may take to begin on a busy machine."""
UNAUTHORIZED: Final = b'{"error":"unauthorized"}'
SEALED_ONLY: Final = {"sealed"}
HTTP_OK: Final = 200


class Checks:
    """Shows each claim with whether it holds, and remembers."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.failed = 0

    def __call__(self, claim: str, holds: bool) -> None:
        self._screen.checked(claim, holds)
        self.failed += not holds


def stage_journey(
    stage: Stage, event: DiscordIngressEvent, result: DiscordIngressResult
) -> list[JourneyRow]:
    """The way of the message that was delivered last."""
    passage = stage.to_gateway.last(stage.path)
    opened = stage.evidence.open_as_the_body(passage.request)
    turns = stage.evidence.turns_started(event)
    asked = stage.to_fleet.last(PERMITS_PATH)
    return journey_rows(event, asked, passage, opened.event, turns, result)


async def one_message(
    stage: Stage, screen: Screen, checks: Checks
) -> tuple[DiscordIngressEvent, DiscordIngressResult]:
    """One message, end to end."""
    screen.title("1. One message, from end to end")
    event = stage.event(MESSAGE, before=BEFORE)
    result = await stage.connection.deliver(event)
    screen.journey(stage_journey(stage, event, result))
    passage = stage.to_gateway.last(stage.path)
    evidence = stage.evidence
    checks(
        "the body's key opens the gateway's bytes to the very event that was sealed",
        evidence.open_as_the_body(passage.request).event == event,
    )
    checks(
        "the answer opens to what the captain heard",
        isinstance(result, Reply) and MESSAGE in result.text,
    )
    checks("the gateway saw ciphertext and a permit, and no word", _only_sealed(stage, passage))
    checks("the fleet was told ids and a digest, and no word", _only_ids(stage, event))
    checks(
        "no file and no log line of fleet, gateway or body holds a word",
        not evidence.is_written_anywhere(MESSAGE) and not evidence.is_written_anywhere(BEFORE),
    )
    checks("nobody but this user can reach their files", evidence.private_modes())
    opened_here = sum(each.status == HTTP_OK for each in stage.to_gateway.passages)
    checks(
        "all that the body answered came out of the tunnel that it dialled",
        forwarded(stage.system) == answered(stage.system) == opened_here == 1,
    )
    checks(
        "the body's log knows the delivery by its id",
        any(line["event"] == "turn_ended" for line in evidence.log_lines(event)),
    )
    return event, result


async def attempts(
    stage: Stage,
    screen: Screen,
    checks: Checks,
    event: DiscordIngressEvent,
    answer: DiscordIngressResult,
) -> None:
    """What a gateway, a thief or a clumsy client may try, and what comes of it."""
    screen.title("2. What else a gateway or a client may try with it")
    original = stage.to_gateway.last(stage.path).request
    rows: list[Row] = []

    async def attempt(what: str, request: bytes) -> Passage:
        passage = await stage.to_gateway.pass_on("POST", stage.path, request)
        rows.append((what, answer_text(passage), str(stage.evidence.turns_started(event))))
        return passage

    again = await attempt("the same envelope, byte for byte", original)
    poll = await stage.connection.ask(event)
    rows.append(
        (
            "the same event, asked for again with a fresh permit and envelope",
            f"200, sealed: {result_text(poll)}",
            str(stage.evidence.turns_started(event)),
        )
    )
    tampered = await attempt("one character of the ciphertext changed", _tampered(original))
    stolen = await attempt(
        "known text sealed anew, so that the answer comes to the gateway",
        _stolen(stage, event, original),
    )
    garbage = await attempt("something else altogether", b"Bonjour")
    other = msgspec.structs.replace(event, content="Give me the spare key.")
    conflict = await attempt(
        "another message under the same delivery id", await _sealed(stage, other)
    )
    elsewhere = await stage.to_gateway.pass_on("GET", f"/h/{stage.route.host_id}/health")
    rows.append(("another path of the machine", answer_text(elsewhere), ""))
    unpermitted = await _permit_for_a_stranger(stage)
    rows.append(("a permit, asked for by a stranger", answer_text(unpermitted), ""))
    screen.attempts(rows)
    checks(
        "a repeated envelope and a poll start no second turn",
        stage.evidence.turns_started(event) == 1,
    )
    checks("the poll gets the answer that was given before", (again.status, poll) == (200, answer))
    checks(
        "every envelope that does not open gets the one same 401",
        all(
            (each.status, each.answer) == (401, UNAUTHORIZED)
            for each in (tampered, stolen, garbage)
        ),
    )
    counts = refused(stage.system)
    causes = ", ".join(f"{cause} {count}" for cause, count in counts.items())
    checks(
        f"the body alone knows why: {causes}", counts == {"envelope": 1, "decrypt": 1, "digest": 1}
    )
    checks("another message under a known id is a conflict", conflict.status == 409)
    checks(
        "the gateway leads nowhere else, and the fleet permits its own edges alone",
        (elsewhere.status, unpermitted.status) == (404, 401),
    )


async def a_restart(stage: Stage, screen: Screen, checks: Checks) -> None:
    """Everything stops in the middle of a turn."""
    screen.title("3. Everything restarts in the middle of a turn")
    event = stage.event(SLOW)
    rows: list[Row] = []

    def note(what: str, came_back: str) -> None:
        rows.append((what, came_back, str(stage.evidence.turns_started(event))))

    first = await stage.connection.ask(event)
    await _turn_begun(stage, event)
    note("a message whose turn takes two minutes", f"200, sealed: {result_text(first)}")
    await stage.restart()
    note("fleet, gateway and body stop, and start again over the same stores", "")
    result = await stage.connection.deliver(event)
    note("the same event, asked for again", f"200, sealed: {result_text(result)}")
    screen.attempts(rows)
    checks(
        "a turn that may have had effects is told as interrupted",
        (first, result) == (Pending(), Failed("interrupted")),
    )
    evidence = stage.evidence
    checks(
        "and is not run again",
        (evidence.turns_started(event), evidence.turns_ended(event)) == (1, 0),
    )


def _only_sealed(stage: Stage, passage: Passage) -> bool:
    """Whether what passed is an envelope and a sealed answer, and the texts stand nowhere in it, headers included."""
    parse_envelope(passage.request)  # strict: nothing else can be in it
    return set(json.loads(passage.answer)) == SEALED_ONLY and not _shown(stage.to_gateway.passages)


def _only_ids(stage: Stage, event: DiscordIngressEvent) -> bool:
    """Whether the fleet was asked for a permit by ids and the digest alone, and heard the texts in no other call."""
    envelope = parse_envelope(stage.to_gateway.last(stage.path).request)
    told = json.loads(stage.to_fleet.last(PERMITS_PATH).request)
    ids = {
        "tenantId": event.tenant_id,
        "installationId": event.installation_id,
        "deliveryId": event.delivery_id,
        "guildId": event.guild_id,
        "digest": unverified_claims(envelope.permit)["dig"],
        "wake": False,
    }
    return bool(told == ids) and not _shown(stage.to_fleet.passages)


def _shown(passages: list[Passage]) -> bool:
    return any(each.shows(text) for each in passages for text in (MESSAGE, BEFORE))


def _tampered(request: bytes) -> bytes:
    envelope = parse_envelope(request)
    middle = len(envelope.sealed) // 2
    other = "A" if envelope.sealed[middle] != "A" else "B"
    sealed = envelope.sealed[:middle] + other + envelope.sealed[middle + 1 :]
    return envelope_json(msgspec.structs.replace(envelope, sealed=sealed))


def _stolen(stage: Stage, event: DiscordIngressEvent, request: bytes) -> bytes:
    """What a gateway that guesses the text can make: its own answer key, under the permit that it saw."""
    with prepare_discord_ingress(event, stage.route.ingress_public_key or "") as prepared:
        return envelope_json(prepared.seal(parse_envelope(request).permit).envelope)


async def _sealed(stage: Stage, event: DiscordIngressEvent) -> bytes:
    """An honest envelope of its own."""
    with prepare_discord_ingress(event, stage.route.ingress_public_key or "") as prepared:
        permit = await stage.permits.permit(event, prepared.digest)
        return envelope_json(prepared.seal(permit).envelope)


async def _permit_for_a_stranger(stage: Stage) -> Passage:
    """The fleet's answer to an edge it does not know."""
    request = stage.to_fleet.last(PERMITS_PATH).request
    headers = [(b"authorization", b"Bearer ed_" + b"a" * 20 + b"." + b"A" * 43)]
    return await stage.to_fleet.pass_on("POST", PERMITS_PATH, request, headers)


async def _turn_begun(stage: Stage, event: DiscordIngressEvent) -> None:
    async with asyncio.timeout(TURN_BEGINS_SECONDS):
        while not stage.evidence.turns_started(event):  # noqa: ASYNC110 - the captain's journal is a file
            await asyncio.sleep(0.01)
