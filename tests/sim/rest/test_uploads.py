"""Files: sent with a message, kept, and served again."""

import json
import os
from typing import Any

import httpx2

from clankie.sim.rest.reading import MAX_FILE_BYTES
from sim.rest.places import Place, codes

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x03\x00\x00\x00\x02"
Files = list[tuple[str, tuple[str, bytes, str]]]


def files(*named: tuple[str, bytes]) -> Files:
    return [
        (f"files[{number}]", (name, data, "application/octet-stream"))
        for number, (name, data) in enumerate(named)
    ]


async def send(place: Place, parts: Files, **fields: Any) -> httpx2.Response:
    return await place.bot.post(
        place.messages, data={"payload_json": json.dumps(fields)}, files=parts
    )


async def test_a_file_comes_back_as_it_was_sent(place: Place) -> None:
    data = os.urandom(200_000)
    sent = await send(place, files(("a.png", PNG), ("name with space é.bin", data)), content="two")
    assert sent.status_code == 200, sent.text
    picture, binary = sent.json()["attachments"]
    assert (picture["content_type"], picture["width"], picture["height"]) == ("image/png", 3, 2)
    assert binary["size"] == len(data)
    for attachment, expected in ((picture, PNG), (binary, data)):
        for query in ("", "?ex=1&is=2&hm=3"):
            served = await place.nobody.get(attachment["url"] + query)
            assert (served.status_code, served.content) == (200, expected)
            assert served.headers["content-type"] == attachment.get(
                "content_type", "application/octet-stream"
            )


async def test_an_uploaded_page_does_not_run_as_one(place: Place) -> None:
    sent = await send(place, files(("page.html", b"<script>alert(1)</script>")))
    served = await place.nobody.get(sent.json()["attachments"][0]["url"])
    assert served.headers["content-disposition"] == "attachment"
    assert served.headers["content-security-policy"].startswith("sandbox")
    assert served.headers["x-content-type-options"] == "nosniff"


async def test_a_message_with_a_file_needs_no_text(place: Place) -> None:
    sent = await send(place, files(("a", b"x")))
    assert sent.status_code == 200
    assert sent.json()["content"] == ""


async def test_a_deleted_messages_file_is_gone(place: Place) -> None:
    message = (await send(place, files(("a", b"x")))).json()
    assert (await place.bot.delete(f"{place.messages}/{message['id']}")).status_code == 204
    assert (await place.nobody.get(message["attachments"][0]["url"])).status_code == 404


async def test_an_edit_keeps_one_file_drops_one_and_adds_one(place: Place) -> None:
    message = (await send(place, files(("a", b"a"), ("b", b"b")))).json()
    kept = message["attachments"][1]
    fields = {"attachments": [{"id": kept["id"]}, {"id": 0, "filename": "c"}]}
    edited = await place.bot.patch(
        f"{place.messages}/{message['id']}",
        data={"payload_json": json.dumps(fields)},
        files=files(("c", b"c")),
    )
    assert [each["filename"] for each in edited.json()["attachments"]] == ["b", "c"]
    gone = message["attachments"][0]["url"]
    assert (await place.nobody.get(gone)).status_code == 404
    assert (await place.nobody.get(kept["url"])).content == b"b"


async def test_too_large_a_file_is_refused_and_nothing_is_posted(place: Place) -> None:
    refused = await send(place, files(("a", bytes(MAX_FILE_BYTES + 1))), content="x")
    assert (refused.status_code, refused.json()["code"]) == (413, 40005)
    assert place.count() == 0
    largest = await send(place, files(("a", bytes(MAX_FILE_BYTES))))
    assert largest.status_code == 200


async def test_too_large_a_request_is_refused_before_it_is_read_whole(place: Place) -> None:
    parts = files(*((str(number), bytes(MAX_FILE_BYTES)) for number in range(3)))
    refused = await send(place, parts)
    assert (refused.status_code, refused.json()["code"]) == (413, 40005)
    assert place.count() == 0


async def test_ten_files_are_a_message_and_eleven_are_none(place: Place) -> None:
    ten = files(*((f"{number}.txt", b"x") for number in range(10)))
    sent = await send(place, ten)
    assert [each["filename"] for each in sent.json()["attachments"]] == [
        f"{number}.txt" for number in range(10)
    ]
    refused = await send(place, [*ten, ("files[10]", ("10.txt", b"x", "text/plain"))])
    assert codes(refused, "attachments") == ["BASE_TYPE_MAX_LENGTH"]
    assert place.count() == 1


async def test_a_broken_multipart_body_is_refused(place: Place) -> None:
    for body, kind in (
        (b"no parts", "multipart/form-data; boundary=x"),
        (b"--x\r\nContent-Disposition: form-data; name=payload_json\r\n\r\n{}", "multipart/form-data; boundary=x"),
        (b"", "multipart/form-data"),
    ):  # fmt: skip
        headers = {"content-type": kind}
        refused = await place.bot.post(place.messages, content=body, headers=headers)
        assert (refused.status_code, refused.json()["code"]) == (400, 50035), body
    assert place.count() == 0


async def test_everybody_has_a_picture(place: Place) -> None:
    for path in ("/embed/avatars/0.png", "/embed/avatars/x.png", f"/avatars/{place.bot_id}/a.png"):
        served = await place.nobody.get(place.address + path)
        assert served.headers["content-type"] == "image/png"
        assert served.content.startswith(b"\x89PNG")
