"""Padded, canonical, standard base64 (wire.md 11): the spelling of bodies in the tunnel's frames.

Elsewhere the contract spells bytes in `base64url`. Owns the spelling; must not know what is spelled.
"""

import binascii

from clankie.protocol.errors import NotCanonical

_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
# The last character before one or two pads: its unused low bits are zero.
_LAST = {1: frozenset(_ALPHABET[::4]), 2: frozenset(_ALPHABET[::16])}


def encode(data: bytes) -> str:
    """The one spelling of `data`."""
    return binascii.b2a_base64(data, newline=False).decode("ascii")


def decode(text: str) -> bytes:
    """The bytes that `text` spells.

    Raises:
        NotCanonical: missing padding, another alphabet, white space, nonzero trailing bits; not a str.
    """
    if not isinstance(text, str):
        raise NotCanonical("not base64")
    pads = 2 if text.endswith("==") else 1 if text.endswith("=") else 0
    if pads and text[-pads - 1 : -pads] not in _LAST[pads]:
        raise NotCanonical("not canonical base64")
    try:
        return binascii.a2b_base64(text.encode("ascii"), strict_mode=True)
    except (binascii.Error, UnicodeEncodeError):
        raise NotCanonical("not base64") from None
