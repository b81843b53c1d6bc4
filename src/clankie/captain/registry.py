"""Finds a captain by its kind and makes it.

Adding a captain is one file and one entry point in the group `clankie.captains`: the entry point's name is
the kind, and it names a `CaptainFactory`. Owns the lookup; must not know what any captain does.
"""

from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import cast

from clankie.captain.errors import CaptainError, CaptainNotLoadable, UnknownCaptain
from clankie.captain.port import Captain, CaptainFactory

ENTRY_POINT_GROUP = "clankie.captains"

# The captains in this package need no metadata, so that a bare checkout has them. They are looked up first:
# an installed package must not be able to take the place of one of them unnoticed.
SHIPPED = {"echo": "clankie.captain.echo:create"}


def known_kinds() -> list[str]:
    """The kinds that can be asked for, in alphabetical order. Loads none of them."""
    return sorted(SHIPPED.keys() | {point.name for point in entry_points(group=ENTRY_POINT_GROUP)})


def create_captain(kind: str, options: Mapping[str, str]) -> Captain:
    """Make the captain of this kind.

    Args:
        kind: the value of the setting `captain.kind`.
        options: handed to the captain's factory as they are.

    Raises:
        UnknownCaptain: nothing of that kind is installed; the message lists what is.
        CaptainNotLoadable: it is installed, but importing or calling it raised something.
        CaptainOptionInvalid: the captain refused its options.
    """
    factory = captain_factory(kind)
    try:
        return factory(options)
    except CaptainError:
        raise
    except Exception as error:
        raise _not_loadable(kind, error) from error


def captain_factory(kind: str) -> CaptainFactory:
    """What makes captains of this kind; none is made, so nothing outside this process is touched.

    Raises:
        UnknownCaptain: nothing of that kind is installed; the message lists what is.
        CaptainNotLoadable: it is installed, but importing it raised something.
    """
    point = _entry_point(kind)
    try:
        return cast("CaptainFactory", point.load())
    except Exception as error:
        raise _not_loadable(kind, error) from error


def _not_loadable(kind: str, error: Exception) -> CaptainNotLoadable:
    point = _entry_point(kind)
    return CaptainNotLoadable(
        f"captain {kind!r} ({point.value}) could not be loaded: {type(error).__name__}: {error}",
        next_step=f"Reinstall or remove {_owner(point)}, or choose another captain.kind.",
    )


def _entry_point(kind: str) -> EntryPoint:
    if kind in SHIPPED:
        return EntryPoint(name=kind, value=SHIPPED[kind], group=ENTRY_POINT_GROUP)
    found = list(entry_points(group=ENTRY_POINT_GROUP, name=kind))
    if not found:
        raise UnknownCaptain(
            f"there is no captain {kind!r} here; known: {', '.join(known_kinds())}",
            next_step="Set captain.kind to one of them, or install the package that brings it.",
        )
    if len(found) > 1:
        owners = ", ".join(sorted(_owner(point) for point in found))
        raise CaptainNotLoadable(
            f"captain {kind!r} is claimed by {owners}",
            next_step="Uninstall all of them but one.",
        )
    return found[0]


def _owner(point: EntryPoint) -> str:
    return point.dist.name if point.dist is not None else point.value
