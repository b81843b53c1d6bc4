"""A signing key's life, as one table. Pure.

    state       verifies  signs    next
    published   yes       no       signing    once every body and gateway in use has learned it
    signing     yes       yes      retiring   when the next key begins to sign
    retiring    yes       no       retired    once nothing it signed is in use any more
    retired     no        no       -          kept, so that a body that was off for weeks can renew its credential

There is one signing key, and at most one other that verifies: bodies and gateways hold two keys (wire.md 6).
"""

from enum import StrEnum


class KeyState(StrEnum):
    """Where a key is in its life."""

    PUBLISHED = "published"
    SIGNING = "signing"
    RETIRING = "retiring"
    RETIRED = "retired"


VERIFYING = (KeyState.PUBLISHED, KeyState.SIGNING, KeyState.RETIRING)
"""States of the keys that bodies and gateways hold."""


class Step(StrEnum):
    """What `clankie fleet key rotate` does next."""

    PUBLISH = "publish"
    SIGN = "sign"
    RETIRE = "retire"


def next_step(states: frozenset[KeyState]) -> Step:
    """The step that comes next, by the states of the keys there are."""
    if KeyState.RETIRING in states:
        return Step.RETIRE
    return Step.SIGN if KeyState.PUBLISHED in states else Step.PUBLISH
