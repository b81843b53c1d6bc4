"""What a request carries: JSON, a form, or `payload_json` with `files[n]` beside it.

Owns reading a body within its bounds. Must not know routes or the world. Ids arrive as JSON numbers above 2**53:
they are read as the integers they are.
"""

import re
from typing import Any, Final, NamedTuple

import msgspec
from litestar import Request
from litestar.datastructures import UploadFile
from litestar.enums import RequestEncodingType
from litestar.exceptions import ClientException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from clankie.sim.errors import MESSAGES, TOO_LARGE, ApiError
from clankie.sim.rest.forms import invalid

MAX_BODY_BYTES: Final = 26_214_400
"""25 MiB: the largest request Discord takes of an application, files included."""
MAX_FILE_BYTES: Final = 10_485_760
"""10 MiB: what an application may upload as one file to a server that nobody boosted."""
MAX_FILES: Final = 10
"""Files in one message."""

INVALID_JSON: Final = 50109

_FILE_FIELD: Final = re.compile(r"files\[([0-9]{1,4})\]", re.ASCII)


class File(NamedTuple):
    """One file of a request, as it was declared."""

    filename: str
    content_type: str
    data: bytes


class Body(NamedTuple):
    """What a request carried.

    Attributes:
        fields: the JSON value, or the form's fields; {} when there was no body.
        files: by the n of their `files[n]`.
    """

    fields: Any
    files: dict[int, File]


async def read_body(request: Request[Any, Any, Any]) -> Body:
    """Read a request whole.

    Raises:
        ApiError: 50109 not JSON; 40005 a file is too large; 50035 more files than a message takes.
        HTTPException: larger than `MAX_BODY_BYTES`.
    """
    encoding = request.content_type[0]
    if encoding == RequestEncodingType.MULTI_PART:
        return await _multipart(request)
    if encoding == RequestEncodingType.URL_ENCODED:
        form = await request.form()
        return Body({name: str(form[name]) for name in form}, {})
    return Body(_json(await request.body()), {})


async def _multipart(request: Request[Any, Any, Any]) -> Body:
    try:
        form = await request.form()
    except (ClientException, UnicodeDecodeError) as error:
        if isinstance(error, RequestEntityTooLarge):
            raise
        raise invalid((), "MULTIPART_PARSE", "The multipart body does not parse.") from None
    fields: Any = {}
    files: dict[int, File] = {}
    for name, value in sorted(form.multi_items(), key=lambda item: item[0]):
        if isinstance(value, UploadFile):
            index = _FILE_FIELD.fullmatch(name)
            number = int(index[1]) if index else len(files)
            files[number] = await _upload(value)
        elif name == "payload_json":
            fields = _json(str(value).encode())
    if len(files) > MAX_FILES:
        raise invalid(
            ("attachments",), "BASE_TYPE_MAX_LENGTH", f"Must be {MAX_FILES} or fewer in length."
        )
    return Body(fields, files)


async def _upload(file: UploadFile) -> File:
    data = await file.read(MAX_FILE_BYTES + 1)
    if len(data) > MAX_FILE_BYTES:
        raise ApiError(413, TOO_LARGE, MESSAGES[TOO_LARGE])
    return File(file.filename, file.content_type, data)


def _json(data: bytes) -> Any:
    if not data:
        return {}
    try:
        return msgspec.json.decode(data)
    except (msgspec.DecodeError, UnicodeDecodeError):
        raise ApiError(400, INVALID_JSON, "The request body contains invalid JSON.") from None
