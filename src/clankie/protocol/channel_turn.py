"""A captain turn and its result, as the TypeScript side spells them (wire.md 4, 8).

Owns the two shapes. Must not know where a turn comes from, nor who may do what.
"""

from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, UnsetType
from msgspec.structs import force_setattr

from clankie.protocol.arguments import require
from clankie.protocol.errors import InvalidValue
from clankie.protocol.text import check_iso_time, check_length, is_blank, trim, trimmed_url
from clankie.protocol.wire_model import Reader, WireModel, write

MAX_TEXT = 16_384
"""UTF-16 code units of a message, an answer or a prompt."""
MAX_ATTACHMENTS = 4
MAX_ATTACHMENT_BYTES = 8_388_608
MAX_FILENAME = 256
MAX_CONTEXT_MESSAGES = 50
MAX_ROOM_NAME = 100
MAX_FAILURE_CODE = 128
MAX_MEDIA_FILENAME = 200
MAX_SAFE_INTEGER = 2**53 - 1

Text1 = Annotated[str, Meta(min_length=1)]
Positive = Annotated[int, Meta(gt=0, le=MAX_SAFE_INTEGER)]

_ARTIFACT = (
    r"\Asha256:[0-9a-f]{64}:"
    r"(?:(?:generated|browser|tldraw|shares)/(?!\.{1,2}\Z)[A-Za-z0-9._-]+"
    r"|delivered/[0-9a-f]{32}/[0-9a-f]{48}/content)\Z"
)


class Attachment(WireModel, frozen=True, kw_only=True):
    """One image, by reference. `byte_size` is in bytes."""

    id: Text1
    url: str
    motion_url: str | UnsetType = UNSET
    media_type: Literal["image/png", "image/jpeg", "image/gif", "image/webp"]
    filename: str | UnsetType = UNSET
    byte_size: Annotated[int, Meta(ge=1, le=MAX_ATTACHMENT_BYTES)] | UnsetType = UNSET

    def __post_init__(self) -> None:
        force_setattr(self, "url", trimmed_url(self.url))
        if self.motion_url is not UNSET:
            force_setattr(self, "motion_url", trimmed_url(self.motion_url))
        if self.filename is not UNSET:
            check_length(self.filename, 1, MAX_FILENAME)


Attachments = Annotated[tuple[Attachment, ...], Meta(max_length=MAX_ATTACHMENTS)]


class TurnIdentity(WireModel, frozen=True, kw_only=True):
    """Whom the turn belongs to: a mission or a presence session, and how it came."""

    mission_id: Text1 | UnsetType = UNSET
    task_id: Text1 | UnsetType = UNSET
    worker_run_id: Text1 | UnsetType = UNSET
    presence_session_id: Text1 | UnsetType = UNSET
    correlation_id: Text1
    profile_hash: Text1
    character_id: Text1
    credential_ref: Text1
    transport_kind: Literal["bot", "user_session"]

    def __post_init__(self) -> None:
        if self.mission_id is UNSET and self.presence_session_id is UNSET:
            raise InvalidValue("missionId or presenceSessionId is needed")


class TurnRoom(WireModel, frozen=True, kw_only=True):
    """Names of the place, for people; each trimmed, 1–100."""

    guild_name: str | UnsetType = UNSET
    channel_name: str | UnsetType = UNSET
    peer_name: str | UnsetType = UNSET

    def __post_init__(self) -> None:
        for name in ("guild_name", "channel_name", "peer_name"):
            _trim_field(self, name, MAX_ROOM_NAME)


class TurnTrigger(WireModel, frozen=True, kw_only=True):
    """What the captain answers: the one message, and who wrote it where."""

    kind: Literal["message", "mention", "dm", "reaction", "voice_event", "slash_handoff"]
    id: Text1
    guild_id: Text1 | UnsetType = UNSET
    channel_id: Text1
    message_id: Text1 | UnsetType = UNSET
    actor_id: Text1
    body: str | UnsetType = UNSET
    attachments: Attachments = ()
    attachments_omitted: Positive | UnsetType = UNSET
    unprompted: bool | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.body is not UNSET:
            check_length(self.body, 1, MAX_TEXT)
        if not self.attachments and (self.body is UNSET or is_blank(self.body)):
            raise InvalidValue("a body that is not blank, or an attachment, is needed")


class TurnContextMessage(WireModel, frozen=True, kw_only=True):
    """One message before the trigger. Never a trigger itself (S34)."""

    id: Text1
    author_id: Text1
    body: str
    created_at: str

    def __post_init__(self) -> None:
        check_length(self.body, 0, MAX_TEXT)
        check_iso_time(self.created_at)


class TurnContextVisual(WireModel, frozen=True, kw_only=True):
    """The picture of one of the context messages."""

    source_message_id: Text1
    attachment: Attachment | UnsetType = UNSET
    attachments_omitted: Positive | UnsetType = UNSET

    def __post_init__(self) -> None:
        if self.attachment is UNSET and self.attachments_omitted is UNSET:
            raise InvalidValue("attachment or attachmentsOmitted is needed")


class ChannelTurnRequest(WireModel, frozen=True, kw_only=True):
    """A turn for the captain (wire.md 4)."""

    schema_version: Literal[1]
    delivery_id: Text1
    identity: TurnIdentity
    room: TurnRoom | UnsetType = UNSET
    trigger: TurnTrigger
    context_messages: Annotated[
        tuple[TurnContextMessage, ...], Meta(max_length=MAX_CONTEXT_MESSAGES)
    ] = ()
    context_visual: TurnContextVisual | UnsetType = UNSET

    def __post_init__(self) -> None:
        visual = self.context_visual
        if visual is UNSET:
            return
        try:
            named = any(visual.source_message_id == each.id for each in self.context_messages)
        except (TypeError, AttributeError):  # made in Python: a constructor checks no types
            raise InvalidValue("a field has another type than the contract's") from None
        if not named:
            raise InvalidValue("contextVisual names no context message")


DeliveryStage = Literal[
    "stored",
    "delivered",
    "consumed",
    "responded",
    "unavailable",
    "uncertain",
    "expired",
    "rejected",
]


class TurnMedia(WireModel, frozen=True, kw_only=True):
    """A file that goes with the answer, by content."""

    artifact_ref: Annotated[str, Meta(pattern=_ARTIFACT)]
    filename: str

    def __post_init__(self) -> None:
        check_length(self.filename, 1, MAX_MEDIA_FILENAME)


class TurnSettled(WireModel, frozen=True, kw_only=True, tag_field="state", tag="settled"):
    """The captain answered; `response` is trimmed, 1–16 384."""

    delivery_stage: DeliveryStage | UnsetType = UNSET
    captain_session_id: Text1
    turn_id: Text1
    response: str
    media: TurnMedia | UnsetType = UNSET

    def __post_init__(self) -> None:
        _trim_field(self, "response", MAX_TEXT)


class TurnSilent(WireModel, frozen=True, kw_only=True, tag_field="state", tag="silent"):
    """The captain chose to say nothing: an outcome, not a failure."""

    delivery_stage: DeliveryStage | UnsetType = UNSET
    captain_session_id: Text1
    turn_id: Text1


class TurnAbsorbed(WireModel, frozen=True, kw_only=True, tag_field="state", tag="absorbed"):
    """The turn was folded into a running one, which answers for both."""

    delivery_stage: DeliveryStage | UnsetType = UNSET
    reply_delivery_id: Text1 | UnsetType = UNSET
    captain_session_id: Text1
    turn_id: Text1


class TurnWaitingUser(WireModel, frozen=True, kw_only=True, tag_field="state", tag="waiting_user"):
    """The captain asks; with `approval_required` the prompt is for the operator surface alone (S60)."""

    delivery_stage: DeliveryStage | UnsetType = UNSET
    captain_session_id: Text1
    turn_id: Text1
    prompt: str
    approval_required: bool

    def __post_init__(self) -> None:
        _trim_field(self, "prompt", MAX_TEXT)


class TurnFailed(WireModel, frozen=True, kw_only=True, tag_field="state", tag="failed"):
    """The turn ended without an answer."""

    delivery_stage: DeliveryStage | UnsetType = UNSET
    captain_session_id: Text1 | UnsetType = UNSET
    turn_id: Text1 | UnsetType = UNSET
    code: str

    def __post_init__(self) -> None:
        check_length(self.code, 1, MAX_FAILURE_CODE)


ChannelTurnResult = TurnSettled | TurnSilent | TurnAbsorbed | TurnWaitingUser | TurnFailed

_RESULTS = get_args(ChannelTurnResult)
_TURN_REQUEST: Reader[ChannelTurnRequest] = Reader(ChannelTurnRequest)
TURN_RESULT: Reader[ChannelTurnResult] = Reader(ChannelTurnResult)


def parse_turn_request(text: str | bytes) -> ChannelTurnRequest:
    """Reads a turn request. Raises MalformedJson, InvalidValue."""
    return _TURN_REQUEST.read(text)


def turn_request_json(turn: ChannelTurnRequest) -> bytes:
    """The UTF-8 of what JSON.stringify gives for a turn request. Raises InvalidValue."""
    require(turn, ChannelTurnRequest, "turn")
    return write(turn)


def parse_turn_result(text: str | bytes) -> ChannelTurnResult:
    """Reads a turn's result. Raises MalformedJson, InvalidValue."""
    return TURN_RESULT.read(text)


def turn_result_json(result: ChannelTurnResult) -> bytes:
    """The UTF-8 of what JSON.stringify gives for a turn's result. Raises InvalidValue."""
    require(result, _RESULTS, "result")
    return write(result)


def _trim_field(model: Any, name: str, longest: int) -> None:
    text = getattr(model, name)
    if text is not UNSET:
        require(text, str, "text")
        text = trim(text)
        check_length(text, 1, longest)
        force_setattr(model, name, text)
