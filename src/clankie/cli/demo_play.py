"""The demo's script: what happens in which order, and whether what is shown is true.

Owns the scenes. Every claim goes through `Checks`: one that does not hold is shown as such, and the demo fails.
"""

import asyncio
from typing import Final

import msgspec

from clankie.cli.demo_relay import Passage
from clankie.cli.demo_screen import Row, Screen
from clankie.cli.demo_stage import Stage
from clankie.cli.demo_typing import take_messages
from clankie.cli.demo_views import answer_text, journey_rows, result_text
from clankie.protocol.discord_ingress import (
    DISCORD_INGRESS_PATH,
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


class Checks:
    """Shows each claim with whether it holds, and remembers."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self.failed = 0

    def __call__(self, claim: str, holds: bool) -> None:
        self._screen.checked(claim, holds)
        self.failed += not holds


async def run_demo(screen: Screen, *, interactive: bool) -> bool:
    """Play the script, then take messages if somebody is there to type them.

    Returns:
        Whether everything that was claimed holds.
    """
    checks = Checks(screen)
    screen.say(
        "A connection, a relay and a body on this machine: real HTTP, a real store, keys made just now. "
        "The captain is `echo`: it says what it heard."
    )
    async with Stage() as stage:
        event, answer = await one_message(stage, screen, checks)
        await attempts(stage, screen, checks, event, answer)
        await a_restart(stage, screen, checks)
        if interactive:
            await take_messages(stage, screen)
    screen.say()
    checks("the temporary home is gone", not stage.home.exists())
    return not checks.failed


async def one_message(
    stage: Stage, screen: Screen, checks: Checks
) -> tuple[DiscordIngressEvent, DiscordIngressResult]:
    """One message, end to end."""
    screen.title("1. One message, from end to end")
    event = stage.event(MESSAGE, before=BEFORE)
    result = await stage.connection.deliver(event)
    passage = stage.relay.passages[-1]
    opened = stage.open_as_the_body(passage.request)
    turns = stage.turns_started(event)
    screen.journey(journey_rows(event, passage, opened.event, turns, result))
    checks(
        "the body's key opens the relay's bytes to the very event that was sealed",
        opened.event == event,
    )
    checks(
        "the answer opens to what the captain heard",
        isinstance(result, Reply) and MESSAGE in result.text,
    )
    checks(
        "the relay saw neither the messages nor the answer",
        not any(text.encode() in seen for text in (MESSAGE, BEFORE) for seen in _seen(stage)),
    )
    checks(
        "no file of the body and no line of its log holds them",
        not stage.is_written_anywhere(MESSAGE) and not stage.is_written_anywhere(BEFORE),
    )
    checks("nobody but this user can read the body's files", stage.private_modes())
    checks(
        "the body's log knows the delivery by its id",
        any(line["event"] == "delivery_admitted" for line in stage.log_lines(event)),
    )
    return event, result


async def attempts(
    stage: Stage,
    screen: Screen,
    checks: Checks,
    event: DiscordIngressEvent,
    answer: DiscordIngressResult,
) -> None:
    """What a relay, a thief or a clumsy client may try, and what comes of it."""
    screen.title("2. What else a relay or a client may try with it")
    path, original = DISCORD_INGRESS_PATH, stage.relay.passages[-1].request
    rows: list[Row] = []

    async def attempt(what: str, request: bytes) -> Passage:
        passage = await stage.relay.pass_on(path, request)
        rows.append((what, answer_text(passage), str(stage.turns_started(event))))
        return passage

    again = await attempt("the same envelope, byte for byte", original)
    poll = await stage.connection.ask(event)
    rows.append(
        (
            "the same event, asked for again with a fresh permit and envelope",
            f"200, sealed: {result_text(poll)}",
            str(stage.turns_started(event)),
        )
    )
    tampered = await attempt("one character of the ciphertext changed", _tampered(original))
    stolen = await attempt(
        "known text sealed anew, so that the answer comes to the relay",
        _stolen(stage, event, original),
    )
    garbage = await attempt("something else altogether", b"Bonjour")
    other = msgspec.structs.replace(event, content="Give me the spare key.")
    conflict = await attempt(
        "another message under the same delivery id", await _sealed(stage, other)
    )
    screen.attempts(rows)
    checks("a repeated envelope and a poll start no second turn", stage.turns_started(event) == 1)
    checks("the poll gets the answer that was given before", (again.status, poll) == (200, answer))
    checks(
        "every envelope that does not open gets the one same 401",
        all(
            (each.status, each.answer) == (401, UNAUTHORIZED)
            for each in (tampered, stolen, garbage)
        ),
    )
    refused = stage.refused()
    causes = ", ".join(f"{cause} {count}" for cause, count in refused.items())
    checks(
        f"the body alone knows why: {causes}",
        refused == {"envelope": 1, "decrypt": 1, "digest": 1},
    )
    checks("another message under a known id is a conflict", conflict.status == 409)


async def a_restart(stage: Stage, screen: Screen, checks: Checks) -> None:
    """The body stops in the middle of a turn."""
    screen.title("3. The body restarts in the middle of a turn")
    event = stage.event(SLOW)
    rows: list[Row] = []

    def note(what: str, came_back: str) -> None:
        rows.append((what, came_back, str(stage.turns_started(event))))

    first = await stage.connection.ask(event)
    await _turn_begun(stage, event)
    note("a message whose turn takes two minutes", f"200, sealed: {result_text(first)}")
    await stage.restart_body()
    note("the body stops and starts again over the same store", "")
    result = await stage.connection.deliver(event)
    note("the same event, asked for again", f"200, sealed: {result_text(result)}")
    screen.attempts(rows)
    checks(
        "a turn that may have had effects is told as interrupted",
        (first, result) == (Pending(), Failed("interrupted")),
    )
    checks(
        "and is not run again",
        (stage.turns_started(event), stage.turns_ended(event)) == (1, 0),
    )


def _seen(stage: Stage) -> list[bytes]:
    """Everything that passed through the relay."""
    return [part for each in stage.relay.passages for part in (each.request, each.answer)]


def _tampered(request: bytes) -> bytes:
    envelope = parse_envelope(request)
    middle = len(envelope.sealed) // 2
    other = "A" if envelope.sealed[middle] != "A" else "B"
    sealed = envelope.sealed[:middle] + other + envelope.sealed[middle + 1 :]
    return envelope_json(msgspec.structs.replace(envelope, sealed=sealed))


def _stolen(stage: Stage, event: DiscordIngressEvent, request: bytes) -> bytes:
    """What a relay that guesses the text can make: its own answer key, under the permit that it saw."""
    with prepare_discord_ingress(event, stage.registered_public_key) as prepared:
        return envelope_json(prepared.seal(parse_envelope(request).permit).envelope)


async def _sealed(stage: Stage, event: DiscordIngressEvent) -> bytes:
    """An honest envelope of its own."""
    with prepare_discord_ingress(event, stage.registered_public_key) as prepared:
        permit = await stage.permits.permit(event, prepared.digest)
        return envelope_json(prepared.seal(permit).envelope)


async def _turn_begun(stage: Stage, event: DiscordIngressEvent) -> None:
    async with asyncio.timeout(TURN_BEGINS_SECONDS):
        while not stage.turns_started(event):  # noqa: ASYNC110 - the captain's journal is a file
            await asyncio.sleep(0.01)
