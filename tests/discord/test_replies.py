"""What is posted for the end of a turn."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clankie.discord.delivery import post_nonce
from clankie.discord.errors import ReplyTooLong
from clankie.discord.replies import (
    MAX_PARTS,
    NOTICE,
    ReplyPlan,
    edit_body,
    malformed_mentions,
    may_be_told,
    plan_reply,
    plan_result,
)
from clankie.protocol.discord_ingress import (
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    VoiceReply,
    VoiceToolAnswer,
)
from discord_payloads import CHANNEL, MESSAGE, message, read, the_bot, user

DELIVERY = f"discord:{MESSAGE}"


def planned(text: str, **more: Any) -> ReplyPlan:
    fields: dict[str, Any] = {
        "delivery_id": DELIVERY,
        "channel_id": CHANNEL,
        "reply_to": MESSAGE,
    }
    return plan_reply(text, **fields | more)


def test_the_first_message_answers_the_trigger_and_the_others_follow() -> None:
    first, second, third = planned("x" * 5_000).posts
    assert first.create_body() == {
        "content": "x" * 2_000,
        "nonce": first.nonce,
        "enforce_nonce": True,
        "allowed_mentions": {"parse": [], "replied_user": False},
        "message_reference": {
            "message_id": MESSAGE,
            "channel_id": CHANNEL,
            "fail_if_not_exists": False,
        },
    }
    assert [each.index for each in (first, second, third)] == [0, 1, 2]
    assert [each.reply_to for each in (second, third)] == [None, None]
    assert "message_reference" not in second.create_body()


@pytest.mark.parametrize("text", ["@everyone", "@here <@1> <@&2>", "many " * 2_000])
def test_nobody_is_pinged_by_a_create_or_by_an_edit(text: str) -> None:
    nobody = {"parse": [], "replied_user": False}
    bodies = [each.create_body() for each in planned(text).posts]
    bodies += [each.plain().create_body() for each in planned(text).posts]
    bodies.append(edit_body(text))
    assert all(body["allowed_mentions"] == nobody for body in bodies)


def test_an_edit_changes_the_text_alone() -> None:
    assert set(edit_body("hello")) == {"content", "allowed_mentions"}


def test_without_a_message_to_answer_the_first_post_is_plain() -> None:
    (post,) = planned("hello", reply_to=None).posts
    assert "message_reference" not in post.create_body()


def test_the_plain_form_differs_in_the_link_alone() -> None:
    (post,) = planned("hello").posts
    with_link, plain = post.create_body(), post.plain().create_body()
    assert with_link.pop("message_reference")
    assert plain == with_link


def test_nonces_are_the_same_at_each_try_and_differ_between_posts() -> None:
    again = [each.nonce for each in planned("x" * 9_000).posts]
    assert again == [each.nonce for each in planned("x" * 9_000).posts]
    others = [
        planned("x", delivery_id="discord:2").posts[0].nonce,
        planned("x", channel_id="4999").posts[0].nonce,
        planned("x", what=NOTICE).posts[0].nonce,
    ]
    assert len({*again, *others}) == len(again) + len(others)


@given(st.text(max_size=150), st.text(max_size=25), st.integers(0, 10**6))
def test_any_nonce_is_short_enough_for_discord(delivery: str, channel: str, index: int) -> None:
    assert 1 <= len(post_nonce(delivery, channel, "reply", index)) <= 25


def test_what_failed_is_tried_again_before_what_follows_it() -> None:
    plan = planned("x" * 9_000)
    assert plan.left_after(0) == plan.posts
    assert [each.index for each in plan.left_after(2)] == [2, 3, 4]
    assert plan.left_after(5) == ()


@pytest.mark.parametrize(
    "result",
    [
        Silent(),
        Pending(),
        Failed(code="interrupted"),
        VoiceReply(result=VoiceToolAnswer(text="x", is_error=False)),
        Reply(text=" \n"),
    ],
)
def test_what_is_no_answer_posts_nothing(result: DiscordIngressResult) -> None:
    plan = plan_result(result, delivery_id=DELIVERY, channel_id=CHANNEL, reply_to=MESSAGE)
    assert plan == ReplyPlan(posts=(), malformed=())


def test_a_reply_is_posted() -> None:
    plan = plan_result(
        Reply(text="hello"), delivery_id=DELIVERY, channel_id=CHANNEL, reply_to=MESSAGE
    )
    assert plan == planned("hello")


def test_an_answer_of_too_many_messages_is_refused_whole() -> None:
    assert len(planned("x" * 2_000 * MAX_PARTS).posts) == MAX_PARTS
    with pytest.raises(ReplyTooLong):
        planned("x" * (2_000 * MAX_PARTS + 1))


@pytest.mark.parametrize(
    "token",
    ["<@name>", "<@>", "<@!>", "<@ 12>", "<@12 >", "<@&role>", "<#general>", "@<12>", "<@１２>"],  # noqa: RUF001
)
def test_a_malformed_mention_is_found_where_it_stands(token: str) -> None:
    text = f"ask {token} now"
    (found,) = planned(text).malformed
    assert text[found.start : found.end] == token


@pytest.mark.parametrize(
    "text",
    [
        "<@12>",
        "<@!12>",
        "<@&12>",
        "<#12>",
        "<:a:1>",
        "a < @b",
        "`<@name>`",
        "```\n<@x>\n```",
        "@name",
    ],
)
def test_what_is_well_formed_or_code_is_left_alone(text: str) -> None:
    assert malformed_mentions(text) == ()


def test_a_failure_is_told_to_people_alone() -> None:
    assert may_be_told(read(message()).author)
    for payload in (
        message(author=user(bot=True)),
        message(author=the_bot()),
        message(webhook_id="8001"),
        message(type=7),
    ):
        assert not may_be_told(read(payload).author)


def test_no_repr_shows_an_answer() -> None:
    plan = planned("MARKER")
    assert "MARKER" not in repr((plan, plan.posts))
