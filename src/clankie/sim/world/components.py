"""Components of messages and forms: which one is used, and whether it can be used so.

Owns those rules (Discord's documentation, "Component Reference"). Must not know messages, or who uses one.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from clankie.sim.errors import field_error

BUTTON, TEXTS, USERS, ROLES, MENTIONABLES, CHANNELS = 2, 3, 5, 6, 7, 8
"""Discord's numbers of what one presses, and of the menus that offer texts, users, roles, both, or channels."""
MENUS: Final = {TEXTS, USERS, ROLES, MENTIONABLES, CHANNELS}


def check_use(
    components: Iterable[dict[str, Any]], custom_id: str, kind: int, values: Sequence[str]
) -> None:
    """That a message has this component, of this kind, and that it can be used so.

    Args:
        values: what was chosen in a menu.

    Raises:
        Invalid: 50035: no such component, one that is disabled, or other values than it offers.
    """
    found = next((each for each in walk(components) if each.get("custom_id") == custom_id), None)
    if found is None or found["type"] != kind:
        raise field_error("data.custom_id", "COMPONENT_CUSTOM_ID_UNKNOWN", "Component not found")
    if found.get("disabled"):
        raise field_error("data.custom_id", "COMPONENT_VALIDATION_FAILED", "Component is disabled")
    if kind not in MENUS:
        return
    least, most = found.get("min_values", 1), found.get("max_values", 1)
    if not least <= len(values) <= most or len(set(values)) < len(values):
        message = f"Must be between {least} and {most} in length, each once."
        raise field_error("data.values", "BASE_TYPE_BAD_LENGTH", message)
    offered = {option["value"] for option in found.get("options") or ()}
    if kind == TEXTS and not offered.issuperset(values):
        raise field_error("data.values", "BASE_TYPE_CHOICES", "Value is not one of the options")


def walk(components: Iterable[dict[str, Any]]) -> Iterable[dict[str, Any]]:
    """All components, nested ones too."""
    for component in components:
        yield component
        yield from walk(component.get("components") or ())
        for inner in (component.get("accessory"), component.get("component")):
            if isinstance(inner, dict):
                yield from walk([inner])
