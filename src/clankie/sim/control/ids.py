"""Ids as the control API spells them, and as the world takes them."""

from clankie.sim.control.refusals import NotSaid

MAX_ID = (1 << 63) - 1


def to_id(text: str) -> int:
    """The number. Raises NotSaid when it is none of Discord's."""
    if not (text.isascii() and text.isdigit()) or len(text) > 20 or int(text) > MAX_ID:
        raise NotSaid("That is no id.", "Ids are decimal numbers, as the world lists them.")
    return int(text)


def to_ids(texts: tuple[str, ...]) -> list[int]:
    """Each of them."""
    return [to_id(text) for text in texts]
