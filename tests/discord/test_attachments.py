"""Which files of a message go into its event."""

from typing import Any

import pytest

from clankie.discord.attachments import choose_attachments
from clankie.protocol.channel_turn import MAX_ATTACHMENT_BYTES
from discord_payloads import Json, earlier, forward, image, message, read, reply, voice


def chosen(*files: Json) -> tuple[list[str], int]:
    found = choose_attachments(read(message("look", attachments=list(files))))
    return [each.id for each in found.images], found.omitted


def test_an_image_is_chosen_as_it_was_declared() -> None:
    found = choose_attachments(read(message("", attachments=[image("7001")])))
    (picture,) = found.images
    assert (picture.id, picture.media_type, picture.byte_size) == ("7001", "image/png", 1_000)
    assert picture.url == image("7001")["url"]
    assert picture.filename == "7001.png"
    assert found.omitted == 0


def test_at_most_four_are_chosen_in_order_and_the_rest_are_counted() -> None:
    assert chosen(*(image(str(index)) for index in range(1, 8))) == (["1", "2", "3", "4"], 3)


def test_a_file_that_is_no_image_costs_no_image() -> None:
    files = (
        image("1"),
        image("2", filename="report.docx", content_type="application/msword"),
        image("3", filename="Image_2_1.html", content_type="text/html"),
        image("4"),
    )
    assert chosen(*files) == (["1", "4"], 2)


@pytest.mark.parametrize(
    ("declared", "filename", "media_type"),
    [
        ("image/png", "a.png", "image/png"),
        ("image/webp", "a.png", "image/webp"),  # what it is shows where it is fetched
        ("IMAGE/JPEG; charset=x", "a", "image/jpeg"),
        ("image/jpg", "a", "image/jpeg"),
        ("image/gif", "a", "image/gif"),
        (None, "a.JPG", "image/jpeg"),
        ("", "a.webp", "image/webp"),
        (None, "a", None),
        ("image/svg+xml", "a.png", None),
        ("image/avif", "a.png", None),
        ("text/html", "a.png", None),
    ],
)
def test_the_declared_type_decides_and_the_name_only_without_one(
    declared: str | None, filename: str, media_type: str | None
) -> None:
    file = image("1", content_type=declared, filename=filename)
    found = choose_attachments(read(message("", attachments=[file])))
    assert [each.media_type for each in found.images] == ([media_type] if media_type else [])
    assert found.omitted == (0 if media_type else 1)


@pytest.mark.parametrize(
    ("size", "taken"),
    [
        (1, True),
        (MAX_ATTACHMENT_BYTES, True),
        (MAX_ATTACHMENT_BYTES + 1, False),
        (0, False),
        ("10", False),
        (None, False),
        (True, False),
        (1.5, False),
    ],
)
def test_the_declared_size_is_within_the_contracts_bounds(size: Any, taken: bool) -> None:
    assert chosen(image("1", size=size)) == (["1"] if taken else [], 0 if taken else 1)


@pytest.mark.parametrize(
    "url", ["ftp://a.example/a.png", "data:image/png,x", "https://", "javascript:1", "a.png"]
)
def test_an_address_that_nothing_can_be_fetched_from_is_left_out(url: str) -> None:
    assert chosen(image("1", url=url)) == ([], 1)


@pytest.mark.parametrize("filename", ["", "\n", 5, "x" * 400 + ".png", "😀" * 200])
def test_a_name_that_the_contract_would_refuse_costs_the_name_alone(filename: Any) -> None:
    assert chosen(image("1", filename=filename)) == (["1"], 0)


def test_a_voice_message_is_no_file_left_out() -> None:
    assert chosen(image("1"), voice()) == (["1"], 0)


def test_what_the_message_answers_comes_after_its_own() -> None:
    target = earlier("look", attachments=[image("7"), image("8"), image("9")])
    found = choose_attachments(read(reply(to=target, attachments=[image("1"), image("2")])))
    assert [each.id for each in found.images] == ["1", "2", "7", "8"]
    assert found.omitted == 1


def test_an_unresolved_target_gives_no_files() -> None:
    found = choose_attachments(read(reply(referenced_message=..., attachments=[image("1")])))
    assert [each.id for each in found.images] == ["1"]


def test_a_forwards_files_are_its_own() -> None:
    found = choose_attachments(read(forward(attachments=[image("1")])))
    assert [each.id for each in found.images] == ["1"]


def test_the_same_file_twice_is_one() -> None:
    assert chosen(image("1"), image("1")) == (["1"], 0)
