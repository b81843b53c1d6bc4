"""The captain without a model: it answers with what the turn said, or does what its script says.

The default captain, and what tests and demos put in an agent's place. Owns how a scripted turn ends. Must
not know how a turn came here or where its result goes. Options (see `echo_script` and `turn_journal`):

    script   the script, default the plain echo
    journal  path of a turn journal to keep, default none
"""

import asyncio
from collections.abc import Mapping
from itertools import cycle
from pathlib import Path
from typing import Final

from clankie.captain.echo_script import (
    ECHO,
    MAX_LONG_UNITS,
    Action,
    Directive,
    Script,
    parse_directive,
    parse_script,
)
from clankie.captain.errors import CaptainOptionInvalid, ScriptInvalid
from clankie.captain.port import Captain, TurnContext
from clankie.captain.turn_journal import TurnJournal
from clankie.protocol.discord_turn import (
    ChannelTurnRequest,
    ChannelTurnResult,
    TurnFailed,
    TurnSettled,
    TurnSilent,
    TurnWaitingUser,
)
from clankie.protocol.js_json import utf16_length
from clankie.protocol.text import trim

_OPTIONS = frozenset({"script", "journal"})
_DIRECTIVE_MARK: Final = "!"
_LONG_FILLER: Final = "All work and no play makes a long reply. "
_DEFAULT_PROMPT: Final = "What should I do next?"


def create(options: Mapping[str, str]) -> Captain:
    """Make the echo captain: the `CaptainFactory` of kind `echo`.

    Raises:
        CaptainOptionInvalid: an unknown option, a script that does not parse, or a journal that cannot be opened.
    """
    if unknown := sorted(options.keys() - _OPTIONS):
        raise CaptainOptionInvalid(
            f"the echo captain has no option {', '.join(unknown)}",
            next_step=f"Keep to {' and '.join(sorted(_OPTIONS))}.",
        )
    script = parse_script(options.get("script", ""))
    journal = options.get("journal", "")
    return EchoCaptain(script, TurnJournal(Path(journal)) if journal else None)


class ScriptedFailure(RuntimeError):
    """What the script's `raise` raises."""


class EchoCaptain:
    """Answers deterministically: the same script and the same turns in the same order, the same results."""

    def __init__(self, script: Script, journal: TurnJournal | None = None) -> None:
        self._by_message = script.by_message
        self._directives = cycle(script.directives)
        self._journal = journal

    async def submit(self, turn: ChannelTurnRequest, context: TurnContext) -> ChannelTurnResult:
        """Answer by the script. Raises ScriptedFailure when it says so."""
        if self._journal is None:
            return await self._answer(turn, context)
        await self._journal.started(turn.delivery_id)
        result = await self._answer(turn, context)
        await self._journal.ended(turn.delivery_id)
        return result

    async def close(self) -> None:
        if self._journal is not None:
            self._journal.close()

    def health(self) -> str | None:
        return None

    async def _answer(self, turn: ChannelTurnRequest, context: TurnContext) -> ChannelTurnResult:
        try:
            directive = self._directive_for(turn)
        except ScriptInvalid as error:  # the writer's own words go back to the writer alone
            return _settled(turn, context, str(error))
        if directive.seconds:
            await asyncio.sleep(directive.seconds)
        return _end(directive, turn, context)

    def _directive_for(self, turn: ChannelTurnRequest) -> Directive:
        if not self._by_message:
            return next(self._directives)
        body = turn.trigger.body
        if isinstance(body, str) and body.startswith(_DIRECTIVE_MARK):
            return parse_directive(body.removeprefix(_DIRECTIVE_MARK))
        return ECHO


def _end(directive: Directive, turn: ChannelTurnRequest, context: TurnContext) -> ChannelTurnResult:
    session, turn_id = context.captain_session_id, turn.delivery_id
    match directive.action:
        case Action.REPLY:
            return _settled(turn, context, directive.text or describe(turn))
        case Action.LONG:
            return _settled(turn, context, _filler(directive.units))
        case Action.SILENCE:
            return TurnSilent(captain_session_id=session, turn_id=turn_id)
        case Action.FAIL:
            return TurnFailed(code="scripted", captain_session_id=session, turn_id=turn_id)
        case Action.RAISE:
            raise ScriptedFailure("the script says raise")
        case Action.WAIT | Action.APPROVAL:
            return TurnWaitingUser(
                captain_session_id=session,
                turn_id=turn_id,
                prompt=_bounded(directive.text) or _DEFAULT_PROMPT,
                approval_required=directive.action is Action.APPROVAL,
            )


def _bounded(text: str) -> str:
    """Trimmed, and cut to the contract's length without cutting a character in half."""
    text = trim(text)
    if utf16_length(text) <= MAX_LONG_UNITS:
        return text
    units = text.encode("utf-16-le", "surrogatepass")[: 2 * MAX_LONG_UNITS]
    if 0xD8 <= units[-1] <= 0xDB:  # the first half of a pair: its other half was cut off
        units = units[:-2]
    return trim(units.decode("utf-16-le", "surrogatepass"))


def _settled(turn: ChannelTurnRequest, context: TurnContext, text: str) -> TurnSettled:
    return TurnSettled(
        captain_session_id=context.captain_session_id,
        turn_id=turn.delivery_id,
        response=_bounded(text) or "(nothing to echo)",
    )


def describe(turn: ChannelTurnRequest) -> str:
    """The turn's own text, and how many attachments and earlier messages came with it."""
    body = turn.trigger.body
    extras = []
    if attachments := len(turn.trigger.attachments):
        extras.append(_count(attachments, "attachment"))
    if context := len(turn.context_messages):
        extras.append(_count(context, "earlier message"))
    text = body if isinstance(body, str) else ""
    return f"{text}\n({', '.join(extras)})" if extras else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _filler(units: int) -> str:
    # Ends in a full stop, so that trimming cannot make it shorter than was asked for.
    return (_LONG_FILLER * (units // len(_LONG_FILLER) + 1))[: units - 1] + "."
