"""What follows the first answer to an interaction: the answer itself, and further messages.

Discord gives these the paths of webhooks, with the application's id and the interaction's token. Must not know a
channel's webhooks.
"""

from typing import Any

from clankie.sim.rest.call import Api, Call
from clankie.sim.rest.drafts import draft_of, edit_of
from clankie.sim.rest.shown import shown
from clankie.sim.world.entities import Message, MessageFlag

ORIGINAL = "@original"


def send(api: Api, call: Call) -> Any:
    draft = draft_of(call.fields, call.files, flags=MessageFlag.EPHEMERAL)
    return shown(api, call, api.world.followup(*_place(call), draft))


def get(api: Api, call: Call) -> Any:
    return shown(api, call, _message(api, call))


def edit(api: Api, call: Call) -> Any:
    changes = edit_of(call.fields, call.files)
    if call.path["message_id"] == ORIGINAL:
        message = api.world.edit_original(*_place(call), changes)
    else:
        message = api.world.edit_followup(*_place(call), call.id("message_id"), changes)
    return shown(api, call, message)


def delete(api: Api, call: Call) -> None:
    if call.path["message_id"] == ORIGINAL:
        api.world.delete_original(*_place(call))
    else:
        api.world.delete_followup(*_place(call), call.id("message_id"))


def _message(api: Api, call: Call) -> Message:
    if call.path["message_id"] == ORIGINAL:
        return api.world.original(*_place(call))
    return api.world.followup_message(*_place(call), call.id("message_id"))


def _place(call: Call) -> tuple[int, str]:
    return call.id("webhook_id"), call.path["token"]
