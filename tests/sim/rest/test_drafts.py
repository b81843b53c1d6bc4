"""From JSON to drafts and edits."""

from typing import Any

import pytest
from msgspec import UNSET

from clankie.sim.errors import ApiError
from clankie.sim.rest.drafts import allowed_mentions_of, draft_of, edit_of
from clankie.sim.rest.reading import File
from clankie.sim.world.entities import AllowedMentions, MessageFlag, ReferenceKind

PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x03\x00\x00\x00\x02"
HERE = 7
FULL_WIDTH_ONE = "\N{FULLWIDTH DIGIT ONE}"


def test_ids_above_two_to_the_53_are_read_exactly_as_numbers_and_as_strings() -> None:
    for value in (1497549923779084389, "1497549923779084389"):
        draft = draft_of({"message_reference": {"message_id": value}}, {}, channel_id=HERE)
        assert draft.reference is not None
        assert draft.reference.message_id == 1497549923779084389
        assert draft.reference.channel_id == HERE


def test_a_reply_must_find_its_message_unless_it_says_otherwise() -> None:
    reference = {"message_id": 1}
    assert draft_of({"message_reference": reference}, {}).fail_if_not_exists
    reference = {"message_id": 1, "fail_if_not_exists": False}
    assert not draft_of({"message_reference": reference}, {}).fail_if_not_exists


def test_a_forward_is_told_from_a_reply_by_its_type() -> None:
    reference = {"type": 1, "message_id": "5", "channel_id": "6"}
    draft = draft_of({"message_reference": reference}, {}, channel_id=HERE)
    assert draft.reference is not None
    assert draft.reference.kind is ReferenceKind.FORWARD
    assert draft.reference.channel_id == 6


def test_files_come_in_the_order_of_their_numbers_with_what_is_said_of_each() -> None:
    files = {
        1: File("b", "application/octet-stream", b"b"),
        0: File("a.png", "application/octet-stream", PNG),
    }
    notes = [
        {"id": 0, "filename": "a.png", "description": "a picture"},
        {"id": "1", "duration_secs": 2.5, "waveform": "AAAA"},
    ]
    first, second = draft_of({"attachments": notes}, files).uploads
    assert (first.filename, first.description, first.content_type) == (
        "a.png",
        "a picture",
        "image/png",
    )
    assert (first.width, first.height) == (3, 2)
    assert (second.content_type, second.duration_secs, second.waveform) == (None, 2.5, "AAAA")
    assert second.width is None


def test_flags_that_are_not_an_applications_to_set_are_passed_over() -> None:
    every = (1 << 20) - 1
    flags = draft_of({"flags": every}, {}).flags
    assert MessageFlag.SUPPRESS_NOTIFICATIONS in flags
    assert MessageFlag.EPHEMERAL not in flags
    assert MessageFlag.HAS_THREAD not in flags
    flags = draft_of({"flags": every}, {}, flags=MessageFlag.EPHEMERAL).flags
    assert MessageFlag.EPHEMERAL in flags


def test_an_edit_leaves_what_it_does_not_name_and_empties_what_is_null() -> None:
    assert edit_of({}, {}).content is UNSET
    assert edit_of({}, {}).keep_attachments is UNSET
    edit = edit_of({"content": None, "embeds": None}, {})
    assert (edit.content, edit.embeds) == ("", ())


def test_an_edit_keeps_the_attachments_it_lists_and_adds_its_files() -> None:
    files = {0: File("new.txt", "", b"x")}
    edit = edit_of({"attachments": [{"id": "99"}, {"id": 0, "description": "new"}]}, files)
    assert edit.keep_attachments == (99,)
    assert [each.description for each in edit.uploads] == ["new"]


def test_absent_allowed_mentions_are_not_the_same_as_empty_ones() -> None:
    assert allowed_mentions_of(None) is None
    nobody = allowed_mentions_of({"parse": []})
    assert nobody is not None
    assert nobody == AllowedMentions()


@pytest.mark.parametrize(
    ("fields", "path", "code"),
    [
        ({"content": ["no text"]}, "content", "STRING_TYPE_CONVERT"),
        ({"embeds": {}}, "embeds", "LIST_TYPE_CONVERT"),
        ({"embeds": ["no embed"]}, "embeds.0", "DICT_TYPE_CONVERT"),
        ({"message_reference": {"message_id": FULL_WIDTH_ONE}}, "message_reference.message_id", "NUMBER_TYPE_COERCE"),
        ({"message_reference": {"message_id": True}}, "message_reference.message_id", "NUMBER_TYPE_COERCE"),
        ({"message_reference": {"message_id": 2**64}}, "message_reference.message_id", "NUMBER_TYPE_COERCE"),
        ({"message_reference": {"type": 2}}, "message_reference.type", "BASE_TYPE_CHOICES"),
        ({"message_reference": {"type": 1, "message_id": 1}}, "message_reference.channel_id", "BASE_TYPE_REQUIRED"),
        ({"allowed_mentions": {"parse": ["all"]}}, "allowed_mentions.parse.0", "BASE_TYPE_CHOICES"),
        ({"allowed_mentions": {"users": ["x"]}}, "allowed_mentions.users.0", "NUMBER_TYPE_COERCE"),
        ({"flags": "64"}, "flags", "NUMBER_TYPE_COERCE"),
        ({"nonce": 1.5}, "nonce", "STRING_TYPE_CONVERT"),
        ({"poll": {"question": "?"}}, "poll.question", "DICT_TYPE_CONVERT"),
        ({"poll": {"question": {}, "answers": [{}]}}, "poll.answers.0.poll_media", "DICT_TYPE_CONVERT"),
    ],
)  # fmt: skip
def test_a_field_of_the_wrong_form_is_named_in_the_nested_errors(
    fields: dict[str, Any], path: str, code: str
) -> None:
    with pytest.raises(ApiError) as refused:
        draft_of(fields, {})
    assert (refused.value.status, refused.value.code) == (400, 50035)
    node: Any = refused.value.errors
    for step in path.split("."):
        node = node[step]
    assert [each["code"] for each in node["_errors"]] == [code]


def test_an_unknown_sticker_is_refused() -> None:
    with pytest.raises(ApiError) as refused:
        draft_of({"sticker_ids": [1]}, {})
    assert refused.value.code == 50081
