"""Unpadded, canonical base64url (wire.md 2): one spelling for each sequence of bytes.

Python's own decoders take padding, line breaks, the other alphabet and stray trailing bits; none of that is the
contract's. Owns the spelling; must not know what is spelled.
"""

import binascii

from clankie.protocol.errors import NotCanonical

_TO_STANDARD = bytes.maketrans(b"-_+/=", b"+/***")  # `*` is in neither alphabet
_TO_URL = bytes.maketrans(b"+/", b"-_")
_PADDING = (b"", b"", b"==", b"=")  # by length modulo 4; 1 never occurs
_ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
# The last character of a text whose bytes do not fill it: its unused low bits are zero.
_LAST: tuple[frozenset[str], ...] = (
    frozenset(_ALPHABET),
    frozenset(),
    frozenset(_ALPHABET[::16]),
    frozenset(_ALPHABET[::4]),
)


def encode(data: bytes) -> str:
    """The one spelling of `data`."""
    return binascii.b2a_base64(data, newline=False).translate(_TO_URL).rstrip(b"=").decode("ascii")


def decode(text: str) -> bytes:
    """The bytes that `text` spells.

    Raises:
        NotCanonical: padding, another alphabet, white space, an impossible length, nonzero trailing bits; not a str.
    """
    if not isinstance(text, str):
        raise NotCanonical("not base64url")
    try:
        over = len(text) % 4
        if over and text[-1] not in _LAST[over]:
            raise NotCanonical("not canonical base64url")
        raw = text.encode("ascii").translate(_TO_STANDARD) + _PADDING[over]
        return binascii.a2b_base64(raw, strict_mode=True)
    except (binascii.Error, UnicodeEncodeError):
        raise NotCanonical("not base64url") from None
