"""How an admitted event becomes a captain turn, and a turn's result becomes an answer (wire.md 9).

Nothing that a caller nested decides identity: the six identity fields and the delivery id are always ours. The
turn's shapes live in `channel_turn` and are exported here too. Must not know authority, sessions or stores.
"""

from datetime import UTC, datetime

import msgspec
from msgspec import UNSET

from clankie.protocol.arguments import require
from clankie.protocol.channel_turn import (
    Attachment,
    ChannelTurnRequest,
    ChannelTurnResult,
    TurnAbsorbed,
    TurnContextMessage,
    TurnContextVisual,
    TurnFailed,
    TurnIdentity,
    TurnMedia,
    TurnRoom,
    TurnSettled,
    TurnSilent,
    TurnTrigger,
    TurnWaitingUser,
    parse_turn_request,
    parse_turn_result,
    turn_request_json,
    turn_result_json,
)
from clankie.protocol.discord_ingress import (
    ContextMessage,
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Reply,
    Silent,
    VoiceHandoff,
)
from clankie.protocol.errors import InvalidValue

__all__ = [
    "APPROVAL_NOTICE",
    "HOSTED_CHARACTER",
    "HOSTED_CREDENTIAL",
    "HOSTED_PROFILE",
    "Attachment",
    "ChannelTurnRequest",
    "ChannelTurnResult",
    "TurnAbsorbed",
    "TurnContextMessage",
    "TurnContextVisual",
    "TurnFailed",
    "TurnIdentity",
    "TurnMedia",
    "TurnRoom",
    "TurnSettled",
    "TurnSilent",
    "TurnTrigger",
    "TurnWaitingUser",
    "ingress_result_for",
    "parse_turn_request",
    "parse_turn_result",
    "turn_request_for",
    "turn_request_json",
    "turn_result_json",
]

HOSTED_PROFILE = "hosted-discord-v1"
HOSTED_CHARACTER = "clankie"
HOSTED_CREDENTIAL = "hosted_discord"
APPROVAL_NOTICE = "This needs the owner's approval. It is waiting on the owner's own machine."
"""All that leaves the machine of a prompt that needs approval (S60)."""

_TRIGGER_KINDS = {"slash": "slash_handoff", "reply": "mention"}


def turn_request_for(event: DiscordIngressEvent) -> ChannelTurnRequest:
    """The captain turn of an event.

    Raises:
        InvalidValue: a context message's time has no four-digit year, or the event is a briefing or a self-tool,
            which make no captain turn.
    """
    require(event, DiscordIngressEvent, "event")
    try:
        return _text_turn(event) if event.voice is UNSET else _handoff(event)
    except (TypeError, AttributeError):  # made in Python: a constructor checks no types
        raise InvalidValue("a field of the event has another type than the contract's") from None


def _text_turn(event: DiscordIngressEvent) -> ChannelTurnRequest:
    return ChannelTurnRequest(
        schema_version=1,
        delivery_id=event.delivery_id,
        identity=_hosted_identity(event),
        trigger=TurnTrigger(
            kind=_TRIGGER_KINDS.get(event.kind, event.kind),  # type: ignore[arg-type]  # the table's values are kinds
            id=event.message_id,
            guild_id=event.guild_id,
            channel_id=event.channel_id,
            message_id=event.message_id,
            actor_id=event.actor_id,
            body=event.content or UNSET,
            attachments=event.attachments,
        ),
        context_messages=() if event.context is UNSET else tuple(map(_context, event.context)),
    )


def ingress_result_for(result: ChannelTurnResult) -> DiscordIngressResult:
    """What leaves the machine of a text turn's result (wire.md 9). Raises InvalidValue when it is none."""
    match result:
        case TurnSettled():
            return Reply(result.response)
        case TurnWaitingUser():
            return Reply(APPROVAL_NOTICE if result.approval_required else result.prompt)
        case TurnSilent() | TurnAbsorbed():
            return Silent()
        case TurnFailed():
            return Failed("unavailable")
    raise InvalidValue("not the result of a turn")


def _hosted_identity(event: DiscordIngressEvent) -> TurnIdentity:
    return TurnIdentity(
        presence_session_id=f"discord:{event.channel_id}",
        correlation_id=event.delivery_id,
        profile_hash=HOSTED_PROFILE,
        character_id=HOSTED_CHARACTER,
        credential_ref=HOSTED_CREDENTIAL,
        transport_kind="bot",
    )


def _handoff(event: DiscordIngressEvent) -> ChannelTurnRequest:
    if not isinstance(event.voice, VoiceHandoff):
        raise InvalidValue("only a handoff makes a captain turn")
    nested = event.voice.request
    identity = msgspec.structs.replace(
        _hosted_identity(event),
        mission_id=nested.identity.mission_id,
        task_id=nested.identity.task_id,
        worker_run_id=nested.identity.worker_run_id,
    )
    return msgspec.structs.replace(nested, delivery_id=event.delivery_id, identity=identity)


def _context(message: ContextMessage) -> TurnContextMessage:
    return TurnContextMessage(
        id=message.message_id,
        author_id=message.actor_id,
        body=message.content,
        created_at=_iso_time(message.at_ms),
    )


def _iso_time(at_ms: int) -> str:
    seconds, milliseconds = divmod(at_ms, 1000)
    try:
        moment = datetime.fromtimestamp(seconds, UTC)
    except (OverflowError, ValueError, OSError):
        raise InvalidValue("a context time has no four-digit year") from None
    return f"{moment:%Y-%m-%dT%H:%M:%S}.{milliseconds:03d}Z"
