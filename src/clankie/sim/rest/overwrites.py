"""From what a client sends to permissions and overwrites. Must not know who may set them."""

from typing import Any

from clankie.sim.rest.forms import invalid, snowflake
from clankie.sim.world.entities import Overwrite, OverwriteType
from clankie.sim.world.permissions import Permissions


def permissions_of(value: Any, path: tuple[str | int, ...]) -> Permissions:
    """Permission bits: a decimal string or a number; nothing when null.

    Raises:
        Invalid: it is neither.
    """
    return Permissions(0 if value is None else snowflake(value, path)) & Permissions.ALL


def overwrite_of(
    value: Any, path: tuple[str | int, ...], target_id: int | None = None
) -> Overwrite:
    """One overwrite.

    Args:
        value: Discord's object.
        path: where it stands in the body.
        target_id: whom it is about, when the object does not say.

    Raises:
        Invalid: a field has the wrong form.
    """
    if not isinstance(value, dict) or value.get("type") not in (0, 1):
        raise invalid((*path, "type"), "BASE_TYPE_CHOICES", "Value must be one of (0, 1).")
    return Overwrite(
        id=target_id if target_id is not None else snowflake(value.get("id"), (*path, "id")),
        type=OverwriteType(value["type"]),
        allow=permissions_of(value.get("allow"), (*path, "allow")),
        deny=permissions_of(value.get("deny"), (*path, "deny")),
    )


def overwrites_of(value: Any) -> list[Overwrite]:
    """A list of overwrites; none when null.

    Raises:
        Invalid: a field has the wrong form.
    """
    path = ("permission_overwrites",)
    if value is None:
        return []
    if not isinstance(value, list):
        raise invalid(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType")
    return [overwrite_of(each, (*path, number)) for number, each in enumerate(value)]
