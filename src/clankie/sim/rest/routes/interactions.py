"""Answering an interaction. Its token in the path says enough: nobody need sign in."""

from typing import Any, Final

from clankie.sim.rest.call import Answer, Api, Call, Route
from clankie.sim.rest.drafts import draft_of, edit_of
from clankie.sim.rest.forms import dictionary, flag, invalid
from clankie.sim.rest.limits import WEBHOOK
from clankie.sim.rest.shown import shown
from clankie.sim.world.entities import Message, MessageDraft, MessageFlag

MESSAGE: Final = 4
DEFERRED_MESSAGE: Final = 5
DEFERRED_UPDATE: Final = 6
UPDATE: Final = 7
SUGGESTIONS: Final = 8
MODAL: Final = 9
KINDS: Final = (MESSAGE, DEFERRED_MESSAGE, DEFERRED_UPDATE, UPDATE, SUGGESTIONS, MODAL)
"""Of the callback types, those that answer something here. A pong (1) answers an interaction that is sent by HTTP."""


def respond(api: Api, call: Call) -> Answer | None:
    kind = call.fields.get("type")
    if kind not in KINDS:
        raise invalid(("type",), "BASE_TYPE_CHOICES", f"Value must be one of {KINDS}.")
    interaction_id, token = call.id("interaction_id"), call.path["token"]
    data = call.fields.get("data")
    data = {} if data is None else dictionary(data, ("data",))
    draft: MessageDraft | None = None
    edit = None
    if kind in (MESSAGE, DEFERRED_MESSAGE):
        draft = draft_of(data, call.files, flags=MessageFlag.EPHEMERAL)
    elif kind == UPDATE:
        edit = edit_of(data, call.files)
    message = api.world.respond_interaction(
        interaction_id, token, kind, draft=draft, edit=edit, data=data
    )
    if not flag(call.query, "with_response"):
        return None
    return Answer(200, _callback(api, call, kind, message))


def _callback(api: Api, call: Call, kind: int, message: Message | None) -> dict[str, Any]:
    interaction = api.world.interaction(call.id("interaction_id"))
    described: dict[str, Any] = {"id": str(interaction.id), "type": int(interaction.type)}
    answer: dict[str, Any] = {"interaction": described}
    if message is None:
        return answer
    described["response_message_id"] = str(message.id)
    described["response_message_loading"] = MessageFlag.LOADING in message.flags
    described["response_message_ephemeral"] = MessageFlag.EPHEMERAL in message.flags
    if kind != DEFERRED_MESSAGE:
        answer["resource"] = {"type": kind, "message": shown(api, call, message)}
    return answer


ROUTES: Final = (
    Route(
        "POST",
        "/interactions/{interaction_id:str}/{token:str}/callback",
        respond,
        WEBHOOK,
        ("interaction_id",),
        open_to_all=True,
    ),
)
