"""What went wrong for others, a case a line: the ids count the lines of each table of docs/field-notes.md."""

from typing import Any, Final

import pytest

from clankie.discord.attachments import choose_attachments
from clankie.discord.attention import (
    Wake,
    WakePolicy,
    WakeTrigger,
    wake_policy,
    wakes,
    wakes_on_edit,
)
from clankie.discord.event_parts import MENTION_ONLY, build_event
from clankie.discord.facts import Surroundings
from clankie.discord.inbound import InboundMessage
from clankie.discord.interactions import read_interaction
from clankie.discord.posting import after_answer
from clankie.discord.reading import merged, with_target
from clankie.discord.replies import edit_body, plan_reply, plan_result
from clankie.protocol.discord_ingress import Silent
from discord_payloads import (
    AROUND,
    BOT,
    CHANNEL,
    EARLIER,
    EDITED,
    EDITED_MS,
    FORUM,
    MESSAGE,
    OTHER,
    OTHER_BOT,
    OTHER_CHANNEL,
    OTHER_ROLE,
    POST,
    ROLE,
    SENT_AT_MS,
    THREAD,
    Json,
    command,
    direct,
    earlier,
    forward,
    image,
    mention,
    message,
    read,
    reply,
    the_bot,
    user,
    voice,
)

MENTIONED: Final = wake_policy(ambient_channel_ids=[CHANNEL, FORUM])
BY_NAME: Final = wake_policy(trigger=WakeTrigger.NAME, names=["eliza", "rain", "agent"])
FORUM_ALONE: Final = wake_policy(channel_ids=[FORUM])
NO_INTENT: Final = Surroundings(bot_user_id=BOT, content_intent=False)


def seen(
    came: InboundMessage, policy: WakePolicy = MENTIONED, *, former: InboundMessage | None = None
) -> Json:
    """What follows from a message, or from its edit: what a line is compared with."""
    decision = wakes(came, policy) if former is None else wakes_on_edit(came, policy, former=former)
    chosen = choose_attachments(came)
    facts: Json = {
        "text": came.text,
        "state": came.content_state,
        "forwarded": came.forwarded,
        "everyone": came.mention_everyone,
        "reply": came.reply.state,
        "images": [each.id for each in chosen.images],
        "omitted": chosen.omitted,
    }
    if not isinstance(decision, Wake):
        return facts | {"wakes": None, "why": decision.reason, "ambient": decision.ambient}
    event = build_event(
        came,
        decision,
        tenant_id="tn_" + "a" * 20,
        installation_id="i" * 22,
        owner=False,
        context=[came],
    ).event
    context = event.context or ()
    return facts | {
        "wakes": decision.kind,
        "why": decision.because,
        "delivery": decision.delivery_id,
        "content": event.content,
        "context": [each.message_id for each in context],
    }


def after(former: Json, update: Json) -> InboundMessage:
    return read(dict(merged(former, {"id": MESSAGE, "channel_id": CHANNEL} | update)))


ADDED: Final = after(message(), mention(edited_timestamp=EDITED))

READING: Final = [
    (
        "edge-01-the-same-id-after-a-resume",
        seen(read(mention())),
        {"delivery": f"discord:{MESSAGE}"},
    ),
    ("edge-01-again", seen(read(mention())), {"delivery": f"discord:{MESSAGE}"}),
    (
        "edge-02-a-threads-second-event",
        seen(read(mention(type=18))),
        {"wakes": None, "why": "system"},
    ),
    (
        "edge-02-the-same-words-again",
        seen(read(mention(id="1290000000000000002"))),
        {"delivery": "discord:1290000000000000002"},
    ),
    (
        "edge-03-forward",
        seen(read(forward(content="words", attachments=[image("1")]))),
        {
            "text": "[forwarded, author unknown: words]",
            "forwarded": True,
            "images": ["1"],
            "wakes": None,
            "ambient": True,
        },
    ),
    (
        "edge-04-sticker",
        seen(read(message("", sticker_items=[{"id": "1", "name": "wave"}]))),
        {"text": "[sticker: wave]", "ambient": True},
    ),
    ("edge-04-nothing", seen(read(message(""))), {"wakes": None, "why": "empty", "ambient": False}),
    (
        "edge-05-voice",
        seen(read(direct("", attachments=[voice()]))),
        {"wakes": "dm", "content": "[voice message, 12 s, not transcribed]", "images": []},
    ),
    (
        "edge-06-text-and-image",
        seen(read(mention(attachments=[image("1")]))),
        {"content": "hello", "images": ["1"]},
    ),
    (
        "edge-07-embeds-alone",
        seen(read(direct("", embeds=[{"title": "T", "description": "D"}]))),
        {"content": "[embed: T\nD]"},
    ),
    (
        "edge-08-an-edit-adds-the-mention",
        seen(ADDED, former=read(message())),
        {"wakes": "mention", "delivery": f"discord:{MESSAGE}:{EDITED_MS}"},
    ),
    (
        "edge-08-the-next-edit-mends-a-typo",
        seen(
            after(mention(edited_timestamp=EDITED), {"edited_timestamp": "2026-01-02T03:06:00Z"}),
            former=ADDED,
        ),
        {"wakes": None, "why": "edit_adds_no_address"},
    ),
    (
        "edge-09-a-link-preview",
        seen(after(mention(), {"embeds": [{"title": "T"}]}), former=read(mention())),
        {"text": "hello\n[embed: T]", "wakes": None, "why": "edit_adds_no_address"},
    ),
    (
        "edge-10-forum-post",
        seen(read(mention(id=POST, channel_id=POST)), FORUM_ALONE),
        {"wakes": "mention", "content": "[title of the post: Cannot log in]\nhello"},
    ),
    (
        "edge-11-no-content-intent",
        seen(read(message(""), NO_INTENT)),
        {"state": "withheld", "why": "withheld"},
    ),
    ("edge-11-empty-with-it", seen(read(message(""))), {"state": "empty", "why": "empty"}),
    ("edge-12-unknown", seen(read(reply(referenced_message=...))), {"reply": "unknown"}),
    ("edge-12-id-only", seen(read(reply(to={"id": EARLIER}))), {"reply": "unknown"}),
    ("edge-12-deleted", seen(read(reply(referenced_message=None))), {"reply": "deleted"}),
    ("edge-12-present", seen(read(reply())), {"reply": "present", "wakes": "reply"}),
    (
        "edge-12-fetching-failed",
        seen(with_target(read(reply(referenced_message=...)), {}, AROUND)),
        {"reply": "unknown", "wakes": "reply"},
    ),
    (
        "edge-15-a-document-among-images",
        seen(
            read(
                mention(
                    attachments=[
                        image("1"),
                        image("2", content_type="application/msword", filename="a.docx"),
                        image("3", content_type="text/html", filename="Image_2_1.html"),
                        image("4"),
                    ]
                )
            )
        ),
        {"images": ["1", "4"], "omitted": 2, "content": "hello\n[2 files not shown]"},
    ),
    (
        "edge-16-an-embeds-picture",
        seen(read(mention(embeds=[{"image": {"url": "http://169.254.169.254/a.png"}}]))),
        {"images": [], "omitted": 0, "content": "hello"},
    ),
    ("wake-01-own-role", seen(read(message(f"<@&{ROLE}> hi"))), {"wakes": "mention"}),
    ("wake-01-other-role", seen(read(message(f"<@&{OTHER_ROLE}> hi"))), {"why": "for_others"}),
    ("wake-02-implicit", seen(read(reply(pinged=False))), {"wakes": "reply"}),
    (
        "wake-02-switched-off",
        seen(read(reply(pinged=False)), wake_policy(reply_without_ping=False)),
        {"wakes": None, "why": "reply_without_ping"},
    ),
    ("wake-03-a-bots-reply", seen(read(reply(author=user(OTHER_BOT, bot=True)))), {"why": "bot"}),
    ("wake-03-suppressed", seen(read(mention(mentions=[]))), {"why": "not_addressed"}),
    (
        "wake-04-everyone",
        seen(read(message("@everyone", mention_everyone=True))),
        {"wakes": None, "everyone": True},
    ),
    (
        "wake-04-everyone-of-a-bot",
        seen(read(message(mention_everyone=True, author=user(OTHER_BOT, bot=True)))),
        {"wakes": None, "everyone": False},
    ),
    (
        "wake-05-elizabeth",
        seen(read(message("elizabeth opened the door")), BY_NAME),
        {"wakes": None},
    ),
    ("wake-05-brain", seen(read(message("brain")), BY_NAME), {"wakes": None}),
    ("wake-05-eliza", seen(read(message("Eliza?")), BY_NAME), {"wakes": "message"}),
    ("wake-06-quoted", seen(read(mention(f"> <@{BOT}> said\nno"))), {"why": "inert_mention"}),
    (
        "wake-06-for-another-agent",
        seen(read(message(f"<@&{OTHER_ROLE}> hi")), wake_policy(trigger=WakeTrigger.ANY)),
        {"wakes": None, "why": "for_others"},
    ),
    (
        "wake-07-mention-only",
        seen(read(mention(f"<@!{BOT}>"))),
        {"wakes": "mention", "content": MENTION_ONLY},
    ),
    (
        "wake-08-leading-mention",
        seen(
            read(
                mention(
                    f"<@{BOT}> summarise what <@{OTHER}> said",
                    mentions=[the_bot(), user(OTHER, "other")],
                )
            )
        ),
        {"content": f"summarise what @other (user {OTHER}) said"},
    ),
    (
        "wake-09-elsewhere",
        seen(read(message(channel_id=OTHER_CHANNEL)), MENTIONED),
        {"wakes": None, "why": "not_addressed", "ambient": False},
    ),
    (
        "wake-09-where-all-wakes",
        seen(read(message()), wake_policy(trigger=WakeTrigger.ANY)),
        {"wakes": "message", "why": "any"},
    ),
    ("wake-10-bot-to-bot", seen(read(mention(author=user(OTHER_BOT, bot=True)))), {"why": "bot"}),
    ("wake-11-agent", seen(read(message("agent, do X")), BY_NAME), {"wakes": "message"}),
    ("wake-11-agent-based", seen(read(message("my agent-based model")), BY_NAME), {"wakes": None}),
    ("context-01-not-the-trigger", seen(read(mention())), {"context": []}),
    ("context-03-kept-before-the-gate", seen(read(message(channel_id=THREAD))), {"ambient": True}),
    (
        "context-05-the-targets-files",
        seen(
            read(
                reply(
                    to=earlier(attachments=[image("7")], author=the_bot()), attachments=[image("1")]
                )
            )
        ),
        {"images": ["1", "7"], "context": [EARLIER]},
    ),
    (
        "context-06-unresolved",
        seen(read(reply(pinged=False, referenced_message=...))),
        {"wakes": None, "why": "reply_unknown", "reply": "unknown"},
    ),
]


@pytest.mark.parametrize(
    ("found", "expected"),
    [pytest.param(found, expected, id=id_) for id_, found, expected in READING],
)
def test_a_line_about_what_is_read_and_what_wakes(found: Json, expected: Json) -> None:
    assert {key: found.get(key) for key in expected} == expected


def planned(text: str) -> list[Json]:
    plan = plan_reply(text, delivery_id=f"discord:{MESSAGE}", channel_id=CHANNEL, reply_to=MESSAGE)
    return [each.create_body() for each in plan.posts]


def lengths(text: str) -> list[int]:
    return [len(body["content"]) for body in planned(text)]


BLOCK: Final = "intro\n```py\n" + "line of code\n" * 400 + "```\noutro"
NOBODY: Final[Json] = {"parse": [], "replied_user": False}
SILENCE: Final = plan_result(
    Silent(), delivery_id=f"discord:{MESSAGE}", channel_id=CHANNEL, reply_to=MESSAGE
)

POSTING: Final[list[tuple[str, Any, Any]]] = [
    (
        "replies-01-closed-and-opened-again",
        [body["content"][:6] for body in planned(BLOCK)],
        ["intro\n", "```py\n", "```py\n"],
    ),
    ("replies-01-even", {body["content"].count("```") % 2 for body in planned(BLOCK)}, {0}),
    ("replies-01-no-stall", len(planned("```py\n" + "x" * 4_100 + "\n```")), 3),
    ("replies-02-code-points", lengths("😀" * 4_000), [2_000, 2_000]),
    ("replies-02-half-a-character", planned("a\ud83d")[0]["content"], "a\ufffd"),
    ("replies-03-create", planned("@everyone")[0]["allowed_mentions"], NOBODY),
    ("replies-03-edit", edit_body("@everyone")["allowed_mentions"], NOBODY),
    ("replies-04-gone", after_answer(404, code=10008, linked=True), "plain"),
    ("replies-04-invalid", after_answer(400, code=50035, linked=True), "plain"),
    ("replies-04-unrelated", after_answer(403, code=50013, linked=True), "refused"),
    ("replies-05-short-limit", after_answer(429, retry_after=0.3), "wait"),
    ("replies-05-global-limit", after_answer(429, retry_after=0.3, is_global=True), "outbox"),
    ("replies-05-long-limit", after_answer(429, retry_after=300.0), "outbox"),
    ("replies-06-an-edit-pings-nobody", edit_body(f"<@{OTHER}> done")["allowed_mentions"], NOBODY),
    ("replies-07-silence", SILENCE.posts, ()),
    (
        "replies-08-until-when",
        (
            read_interaction(command(), AROUND).acknowledge_before_ms,
            read_interaction(command(), AROUND).follow_up_before_ms,
        ),
        (SENT_AT_MS + 3_000, SENT_AT_MS + 900_000),
    ),
    (
        "replies-10-malformed",
        [
            (each.start, each.end)
            for each in plan_reply(
                "ask <@name>", delivery_id="discord:1", channel_id=CHANNEL, reply_to=None
            ).malformed
        ],
        [(4, 11)],
    ),
    ("replies-11-one-answer-a-turn", planned("a")[0]["nonce"], planned("b")[0]["nonce"]),
]


@pytest.mark.parametrize(
    ("found", "expected"),
    [pytest.param(found, expected, id=id_) for id_, found, expected in POSTING],
)
def test_a_line_about_what_is_posted(found: Any, expected: Any) -> None:
    assert found == expected
