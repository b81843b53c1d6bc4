"""What kind of file a name is of. Must not know where files come from or go."""

import mimetypes
from typing import Final

BINARY: Final = "application/octet-stream"
_NAMES: Final = mimetypes.MimeTypes()
"""The library's own table alone: what a machine has in /etc would make answers differ from one to another."""
for _type, _ending in (("audio/ogg", ".ogg"), ("image/webp", ".webp"), ("text/markdown", ".md")):
    _NAMES.add_type(_type, _ending)
_TEXT: Final = ("text/", "application/json", "application/javascript")


def type_of(filename: str, declared: str | None) -> str | None:
    """The content type that Discord would show.

    Args:
        filename: its ending decides.
        declared: by the client; what clients say of any file says nothing.

    Returns:
        None when neither tells.
    """
    guessed = _NAMES.guess_type(filename)[0]
    if guessed is None:
        specific = declared and declared not in (BINARY, "text/plain")
        return declared if specific else None
    return f"{guessed}; charset=utf-8" if guessed.startswith(_TEXT) else guessed
