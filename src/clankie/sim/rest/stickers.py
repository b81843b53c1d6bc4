"""The stickers that an application can send.

Owns their names and numbers. They are the simulator's own; a person's page may post others.
"""

from typing import Any, Final

from clankie.sim.errors import ApiError
from clankie.sim.world.entities import Sticker

INVALID_STICKER: Final = 50081
PACK_ID: Final = 847199849233514549
_PACK: Final = {
    749054660769218631: "Wave",
    749052944682582036: "Sleepy",
    749053689419006003: "Party",
    751606379340365864: "Hug",
}


def sticker(sticker_id: int) -> Sticker:
    """A sticker.

    Raises:
        ApiError: 50081, there is none with this id.
    """
    name = _PACK.get(sticker_id)
    if name is None:
        raise ApiError(400, INVALID_STICKER, "Invalid sticker")
    return Sticker(sticker_id, name)


def pack() -> dict[str, Any]:
    """Discord's "Sticker Pack Object" with all of them."""
    return {
        "id": str(PACK_ID),
        "name": "Greetings",
        "description": "What anybody may say with a picture",
        "sku_id": str(PACK_ID),
        "stickers": [full(sticker(each)) for each in _PACK],
    }


def full(one: Sticker) -> dict[str, Any]:
    """Discord's "Sticker Object"."""
    return {
        "id": str(one.id),
        "pack_id": str(PACK_ID),
        "name": one.name,
        "description": "",
        "tags": one.name.lower(),
        "type": 1,
        "format_type": one.format_type,
        "sort_value": 1,
    }
