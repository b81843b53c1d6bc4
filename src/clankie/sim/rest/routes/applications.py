"""An application about itself, and what it may send."""

from typing import Any, Final

from clankie.sim import payloads
from clankie.sim.rest.call import Api, Call, Route
from clankie.sim.rest.stickers import full, pack, sticker


def get_application(api: Api, call: Call) -> Any:
    return payloads.application(api.world.tables, call.application)


def list_sticker_packs(_: Api, __: Call) -> Any:
    return {"sticker_packs": [pack()]}


def get_sticker(_: Api, call: Call) -> Any:
    return full(sticker(call.id("sticker_id")))


ROUTES: Final = (
    Route("GET", "/oauth2/applications/@me", get_application),
    Route("GET", "/applications/@me", get_application),
    Route("GET", "/sticker-packs", list_sticker_packs),
    Route("GET", "/stickers/{sticker_id:str}", get_sticker),
)
