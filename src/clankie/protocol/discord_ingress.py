"""The sealed ingress' own shapes: event, envelope, result, and the digests over them (wire.md 3, 5, 7, 8).

Owns the shapes and their canonical text. Must not know keys, clocks, transports or what a turn does.
"""

from typing import TYPE_CHECKING, Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from clankie.protocol import base64url
from clankie.protocol.arguments import require
from clankie.protocol.channel_turn import (
    MAX_SAFE_INTEGER,
    MAX_TEXT,
    TURN_RESULT,
    Attachments,
    ChannelTurnRequest,
    ChannelTurnResult,
)
from clankie.protocol.errors import InvalidValue
from clankie.protocol.js_json import string_literal
from clankie.protocol.primitives import sha256
from clankie.protocol.text import check_length, is_blank
from clankie.protocol.wire_model import Reader, WireModel, write, write_exactly

DISCORD_INGRESS_DOMAIN = "clankie-discord-ingress-v1"
DISCORD_INGRESS_PATH = "/v1/discord/ingress"

MAX_EVENT_LIFE_MS = 300_000
"""An event lives at most five minutes (S8)."""
MAX_CONTEXT = 20
MAX_CONTEXT_TEXT = 2_000
MAX_CONSENTED_USERS = 25
MAX_PERMIT = 4_096
MAX_INSTRUCTIONS = 12_000
MAX_BRIEFING = 8_000
MAX_TOOL_TEXT = 2_000

TenantId = Annotated[str, Meta(pattern=r"\Atn_[a-z2-7]{20}\Z")]
InstallationId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{22}\Z")]
DeliveryId = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9:_-]{1,128}\Z")]
DiscordId = Annotated[str, Meta(pattern=r"\A[0-9]{1,20}\Z")]
TimeMs = Annotated[int, Meta(ge=0, le=MAX_SAFE_INTEGER)]
EphemeralPublicKey = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{87}\Z")]
Nonce = Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{22}\Z")]


class ContextMessage(WireModel, frozen=True, kw_only=True):
    """A message that was there before the trigger, with the author the connection read (S35)."""

    message_id: DiscordId
    actor_id: DiscordId
    content: str
    at_ms: TimeMs

    def __post_init__(self) -> None:
        check_length(self.content, 1, MAX_CONTEXT_TEXT)


class VoiceBriefingRequest(
    WireModel, frozen=True, kw_only=True, tag_field="action", tag="briefing"
):
    """What should the speaking model know?"""

    consented_user_ids: Annotated[tuple[DiscordId, ...], Meta(max_length=MAX_CONSENTED_USERS)]


class VoiceHandoff(WireModel, frozen=True, kw_only=True, tag_field="action", tag="handoff"):
    """A spoken request for the captain."""

    request: ChannelTurnRequest


class VoiceSelfTool(WireModel, frozen=True, kw_only=True, tag_field="action", tag="self_tool"):
    """One of the three memory tools. `arguments` is any JSON object."""

    tool: Literal["recall_episodes", "get_self_state", "remember_episode"]
    arguments: dict[str, Any]


VoiceAction = VoiceBriefingRequest | VoiceHandoff | VoiceSelfTool


class DiscordIngressEvent(WireModel, frozen=True, kw_only=True):
    """What a trusted connection says happened (wire.md 3). Times are milliseconds since 1970."""

    schema_version: Literal[1]
    tenant_id: TenantId
    installation_id: InstallationId
    delivery_id: DeliveryId
    event_at_ms: TimeMs
    expires_at_ms: Annotated[int, Meta(gt=0, le=MAX_SAFE_INTEGER)]
    guild_id: DiscordId | UnsetType = UNSET
    channel_id: DiscordId
    message_id: DiscordId
    actor_id: DiscordId
    owner: bool
    kind: Literal["mention", "dm", "reply", "slash", "voice", "message"]
    voice: VoiceAction | UnsetType = UNSET
    content: str
    attachments: Attachments = ()
    context: Annotated[tuple[ContextMessage, ...], Meta(max_length=MAX_CONTEXT)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        try:
            self._check()
        except (TypeError, AttributeError):  # made in Python: a constructor checks no types
            raise InvalidValue("a field has another type than the contract's") from None

    def _check(self) -> None:
        if not 0 < self.expires_at_ms - self.event_at_ms <= MAX_EVENT_LIFE_MS:
            raise InvalidValue("expiresAtMs must be at most 300000 after eventAtMs, and after it")
        if (self.guild_id is UNSET) != (self.kind == "dm"):
            raise InvalidValue("guildId is absent exactly when kind is dm")
        if (self.voice is UNSET) == (self.kind == "voice"):
            raise InvalidValue("voice is present exactly when kind is voice")
        check_length(self.content, 0, MAX_TEXT)
        if not self.attachments and is_blank(self.content):
            raise InvalidValue("content is blank and there is no attachment")
        if self.kind == "voice":
            self._check_voice()

    def _check_voice(self) -> None:
        if self.context is not UNSET:
            raise InvalidValue("voice carries no context")
        if isinstance(self.voice, VoiceHandoff):
            trigger, identity = self.voice.request.trigger, self.voice.request.identity
            if trigger.kind != "voice_event" or (
                (trigger.guild_id, trigger.channel_id, trigger.actor_id)
                != (self.guild_id, self.channel_id, self.actor_id)
            ):
                raise InvalidValue(
                    "a handoff is a voice_event of the event's guild, channel and actor"
                )
            if (identity.transport_kind, identity.credential_ref) != ("bot", "hosted_discord"):
                raise InvalidValue("a handoff's identity is bot and hosted_discord")


class DiscordIngressEnvelope(WireModel, frozen=True, kw_only=True):
    """What travels (wire.md 7): shapes only; points, signatures and spellings are checked where they are decoded."""

    version: Literal[1]
    permit: str
    ephemeral_public_key: EphemeralPublicKey
    nonce: Nonce
    sealed: Annotated[str, Meta(pattern=r"\A[A-Za-z0-9_-]{40,100000}\Z")]

    def __post_init__(self) -> None:
        check_length(self.permit, 1, MAX_PERMIT)


class Pending(WireModel, frozen=True, tag_field="state", tag="pending"):
    """Admitted; ask again."""


class Reply(WireModel, frozen=True, tag_field="state", tag="reply"):
    """The answer, 1–16 384."""

    text: str

    def __post_init__(self) -> None:
        check_length(self.text, 1, MAX_TEXT)


class Silent(WireModel, frozen=True, tag_field="state", tag="silent"):
    """The captain chose to say nothing."""


class Failed(WireModel, frozen=True, tag_field="state", tag="failed"):
    """No answer: `interrupted` may have had effects and is never run again; `unavailable` gave none."""

    code: Literal["interrupted", "unavailable"]


class VoiceBriefing(WireModel, frozen=True, kw_only=True):
    """The answer to a briefing."""

    instructions: str
    briefing: str

    def __post_init__(self) -> None:
        check_length(self.instructions, 0, MAX_INSTRUCTIONS)
        check_length(self.briefing, 0, MAX_BRIEFING)


class VoiceToolAnswer(WireModel, frozen=True, kw_only=True):
    """The answer to a self-tool."""

    text: str
    is_error: bool

    def __post_init__(self) -> None:
        check_length(self.text, 0, MAX_TOOL_TEXT)


if TYPE_CHECKING:
    VoiceResult = VoiceBriefing | VoiceToolAnswer | ChannelTurnResult
else:
    # msgspec reads no union of tagged and untagged shapes: VoiceReply chooses by the keys.
    VoiceResult = Any


class VoiceReply(WireModel, frozen=True, tag_field="state", tag="voice"):
    """The bounded result of a voice operation (S63)."""

    result: VoiceResult

    def __post_init__(self) -> None:
        if isinstance(self.result, dict):
            force_setattr(self, "result", _voice_result(self.result))
        elif not isinstance(self.result, VoiceBriefing | VoiceToolAnswer | ChannelTurnResult):
            raise InvalidValue("not a voice result")


DiscordIngressResult = Pending | Reply | Silent | Failed | VoiceReply
_RESULTS = get_args(DiscordIngressResult)

_BRIEFING: Reader[VoiceBriefing] = Reader(VoiceBriefing)
_TOOL_ANSWER: Reader[VoiceToolAnswer] = Reader(VoiceToolAnswer)
_EVENT: Reader[DiscordIngressEvent] = Reader(DiscordIngressEvent, records=frozenset({"arguments"}))
_ENVELOPE: Reader[DiscordIngressEnvelope] = Reader(DiscordIngressEnvelope)
_RESULT: Reader[DiscordIngressResult] = Reader(DiscordIngressResult)


def parse_event(text: str | bytes) -> DiscordIngressEvent:
    """Reads an event. Raises MalformedJson, InvalidValue (wire.md 3)."""
    event = _EVENT.read(text)
    # `arguments` holds any JSON, and only the exact way reads that as JavaScript does.
    return event if event.voice is UNSET else _EVENT.read_exactly(text)


def event_json(event: DiscordIngressEvent) -> bytes:
    """The canonical text of an event: the UTF-8 of JSON.stringify. Raises InvalidValue."""
    require(event, DiscordIngressEvent, "event")
    return write(event) if event.voice is UNSET else write_exactly(event)


def event_digest(event: DiscordIngressEvent) -> str:
    """What makes two requests the same event (wire.md 5): 43 base64url characters. Raises InvalidValue."""
    return digest_of(event_json(event))


def request_digest(event: DiscordIngressEvent, ephemeral_public_key: str, nonce: str) -> str:
    """What a permit names; it binds the recipient of the answer (S11, S12). 43 base64url characters.

    Raises:
        InvalidValue: the event holds something that is not JSON, or the key or the nonce is no text.
    """
    require(ephemeral_public_key, str, "ephemeral_public_key")
    require(nonce, str, "nonce")
    return request_digest_of(event_json(event), ephemeral_public_key, nonce)


def digest_of(text: bytes) -> str:
    """SHA-256 in base64url, 43 characters."""
    return base64url.encode(sha256(text))


def request_digest_of(event_text: bytes, ephemeral_public_key: str, nonce: str) -> str:
    """The request digest over an event's canonical text."""
    recipient = f",{string_literal(ephemeral_public_key)},{string_literal(nonce)}]"
    return digest_of(_DIGEST_PREFIX + event_text + recipient.encode("utf-8"))


_DIGEST_PREFIX = f'["{DISCORD_INGRESS_DOMAIN}",'.encode("ascii")


def parse_result(text: str | bytes) -> DiscordIngressResult:
    """Reads a result. Raises MalformedJson, InvalidValue (wire.md 8)."""
    return _RESULT.read(text)


def result_json(result: DiscordIngressResult) -> bytes:
    """The UTF-8 of what JSON.stringify gives for a result. Raises InvalidValue."""
    require(result, _RESULTS, "result")
    return write(result)


def parse_envelope(text: str | bytes) -> DiscordIngressEnvelope:
    """Reads an envelope's shape. Raises MalformedJson, InvalidValue (wire.md 7)."""
    return _ENVELOPE.read(text)


def envelope_json(envelope: DiscordIngressEnvelope) -> bytes:
    """The HTTP body of an envelope. Raises InvalidValue."""
    require(envelope, DiscordIngressEnvelope, "envelope")
    return write(envelope)


def _voice_result(value: dict[str, Any]) -> Any:
    if "state" in value:
        return TURN_RESULT.from_value(value)
    if "isError" in value:
        return _TOOL_ANSWER.from_value(value)
    return _BRIEFING.from_value(value)
