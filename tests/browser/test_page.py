"""The page itself: colours, narrow screens, focus, names, hostile content, broken streams, ten thousand messages."""

import re
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import expect

from browser.pages import PHONE, Chat, menu, message, send, writing
from clankie.runtime.clock import SystemClock
from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from clankie.sim.store import Store
from clankie.sim.world.entities import Emoji, MessageDraft, Upload
from clankie.sim.world.world import World

pytestmark = pytest.mark.asyncio(loop_scope="module")

HOSTILE = (
    "<img src=x onerror=alert(1)>",
    "<script>alert(1)</script>",
    "[click](javascript:alert(1)) <javascript:alert(1)>",
    "```html\n<svg onload=alert(1)>\n```",
    "||<iframe srcdoc='<script>alert(1)</script>'>||",
    '<@&1> <@1> <#1> <:x"onerror=alert(1):1> <t:99999999999999:R>',
    "**" * 400 + "_" * 400,
    'https://example.org/"onmouseover=alert(1)',
)
UNNAMED = """() => [...document.querySelectorAll(
  "button, a[href], input, select, textarea, [role=option], [role=tab], [role=menuitem], [tabindex='0']"
)].filter((item) => item.checkVisibility({visibilityProperty: true}) && !item.closest("[aria-hidden=true]"))
.filter((item) => {
  const by = (item.getAttribute("aria-labelledby") ?? "").split(" ").filter(Boolean);
  const named = by.map((id) => document.getElementById(id)?.textContent ?? "").join("").trim();
  const label = item.labels?.length ? [...item.labels].map((each) => each.textContent).join("") : "";
  return !(item.getAttribute("aria-label") || named || label.trim() || item.textContent.trim());
}).map((item) => item.outerHTML.slice(0, 120))"""
"""Controls without a name, by the first steps of the accessible name computation."""


async def test_content_is_shown_as_written_and_does_nothing(chat: Chat, sim: SimRole) -> None:
    guest, general = chat.person("Guest"), chat.channel("general")
    for text in HOSTILE:
        chat.say(guest, general, text)
    card = {
        "title": HOSTILE[0],
        "url": "javascript:alert(1)",
        "image": {"url": "http://127.0.0.1:9/x"},
    }
    sim.world.post_message(guest.id, general.id, MessageDraft(embeds=(card,)))
    picture = Upload("<img src=x>.svg", b"<svg onload='alert(1)'/>", "image/svg+xml")
    posted = sim.world.post_message(guest.id, general.id, MessageDraft(uploads=(picture,)))
    sim.world.add_reaction(guest.id, general.id, posted.id, Emoji("👍"))
    sim.world.create_person("<b onclick=alert(1)>X</b>")
    owner = await chat.window("Owner")
    owner.on("dialog", lambda dialog: chat.complaints.append(f"dialog: {dialog.message}"))
    await expect(message(owner, HOSTILE[0])).to_be_visible()
    await expect(owner.get_by_text(HOSTILE[1], exact=True)).to_be_visible()
    assert (
        await owner.locator(
            ".feed script, .feed iframe, .feed svg[onload], .feed [onerror]"
        ).count()
        == 0
    )
    links = await owner.locator(".feed a").evaluate_all("all => all.map((one) => one.protocol)")
    assert set(links) <= {"http:", "https:"}
    async with (
        owner.expect_console_message(lambda told: "TrustedHTML" in told.text),
        owner.expect_console_message(lambda told: "policy: require-trusted" in told.text),
    ):
        refused = await owner.evaluate(
            "() => { try { document.createElement('p').innerHTML = '<b>x</b>'; return false }"
            " catch { return true } }"
        )
    assert refused, "a string became HTML"
    chat.expect_complaint("TrustedHTML")
    chat.expect_complaint("policy: require-trusted-types-for")


MARKDOWN = [
    ("**a *b* c**", "paragraph(strong(a |em(b)| c))"),
    ("***x***", "paragraph(strong(em(x)))"),
    ("snake_case_name and _this_", "paragraph(snake_case_name and |em(this))"),
    ("2 * 3 * 4", "paragraph(2 * 3 * 4)"),
    ("~~a~~ __b__ ||c||", "paragraph(strike(a)| |underline(b)| |spoiler(c))"),
    ("`**a**` ``a`b``", "paragraph(code:**a**| |code:a`b)"),
    ("\\*a\\* **open", "paragraph(*a* **open)"),
    ("<@1><@!2><@&3><#4>@here", "paragraph(user:1|user:2|role:3|channel:4|everyone:@here)"),
    ("(https://example.org/a_(b)).", "paragraph((|link:https://example.org/a_(b)|).)"),
    (
        "[text](https://example.org) [no](javascript:x)",
        "paragraph(link:https://example.org| [no](javascript:x))",
    ),
    ("# A\n## B\n-# c\n#d", "heading(A) / heading(B) / small(c) / paragraph(#d)"),
    ("> a\n> b\nc", "quote / paragraph(c)"),
    (">>> a\nb", "quote"),
    ("- a\n  - b\n1. c", "list / list"),
    ("```py\nx = 1\n```after", "code-block:x = 1 / paragraph(after)"),
    ("before```x```", "paragraph(before) / code-block:x"),
    ("```", "paragraph(```)"),
]
SHAPES = """async (sources) => {
  const { parse } = await import("/js/text/markdown.js");
  const one = (node) => {
    if (node.type === "text") return node.value;
    if (node.type === "link") return `link:${node.url}`;
    if (["quote", "list"].includes(node.type)) return node.type;
    if (node.children) return `${node.type}(${node.children.map(one).join("|")})`;
    return `${node.type}:${node.value ?? node.id}`;
  };
  return sources.map((source) => {
    const blocks = parse(source);
    return blocks.map((block) => one(block)).join(" / ");
  });
}"""


async def test_markdown_is_read_as_discord_reads_it(chat: Chat) -> None:
    page = await chat.window("Owner")
    shapes = await page.evaluate(SHAPES, [source for source, _ in MARKDOWN])
    assert shapes == [shape for _, shape in MARKDOWN]


async def test_the_colours_follow_the_system_and_the_switch_and_stay(chat: Chat) -> None:
    owner = await chat.window("Owner", color_scheme="dark")
    ground = "() => getComputedStyle(document.body).backgroundColor"
    dark = await owner.evaluate(ground)
    await owner.get_by_role("button", name="Switch to light colours").click()
    light = await owner.evaluate(ground)
    assert _sum(dark) < 150
    assert _sum(light) > 600
    await owner.reload()
    await owner.locator("body[data-ready]").wait_for()
    assert await owner.evaluate(ground) == light


def _sum(colour: str) -> int:
    return sum(map(int, re.findall(r"\d+", colour)))


@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_text_has_contrast(chat: Chat, sim: SimRole, scheme: Any) -> None:
    chat.say(
        chat.bot, chat.channel("general"), f"<@{chat.person('Owner').id}> `code` > quote\n-# small"
    )
    owner = await chat.window("Owner", color_scheme=scheme)
    assert await owner.evaluate(CONTRAST) == []


CONTRAST = """() => {
  const light = (colour) => {
    const linear = (v) => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = colour.match(/[\\d.]+/g).map((v) => linear(Number(v) / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const ground = (item) => {
    for (let at = item; at; at = at.parentElement) {
      const colour = getComputedStyle(at).backgroundColor;
      if (!/rgba\\(.*, 0\\)|transparent/.test(colour)) return colour;
    }
    return "rgb(255, 255, 255)";
  };
  const bad = [];
  for (const item of document.querySelectorAll("body *")) {
    const own = [...item.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    const seen = item.checkVisibility({opacityProperty: true, visibilityProperty: true});
    if (!own || !seen || item.closest(".visually-hidden, .skip")) continue;
    const [a, b] = [light(getComputedStyle(item).color), light(ground(item))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    if (ratio < 4.5) bad.push(`${ratio.toFixed(2)} ${item.className} ${item.textContent.slice(0, 30)}`);
  }
  return bad;
}"""
"""Texts below the ratio that WCAG 2.2 asks of small text."""


async def test_on_a_phone_the_navigation_is_a_drawer_and_nothing_overflows(chat: Chat) -> None:
    chat.say(chat.person("Guest"), chat.channel("general"), "w" * 300 + " `" + "c" * 300 + "`")
    page = await chat.window("Owner", viewport=PHONE, has_touch=True, is_mobile=True)
    wide = "() => document.documentElement.scrollWidth - innerWidth"
    assert await page.evaluate(wide) <= 0
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await page.get_by_role("button", name="Open the navigation").click()
    await page.get_by_role("button", name="ideas, channel").click()
    await expect(page.get_by_role("heading", name="ideas", level=1)).to_be_visible()
    await expect(page.get_by_role("navigation")).to_be_hidden()
    await page.get_by_role("button", name="Faults").click()
    await expect(page.get_by_text("Cut the connection")).to_be_visible()
    assert await page.evaluate(wide) <= 0
    await page.keyboard.press("Escape")
    await expect(page.get_by_text("Cut the connection")).to_be_hidden()


async def test_every_control_has_a_name_wherever_one_looks(chat: Chat, sim: SimRole) -> None:
    general = chat.channel("general")
    row = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go", "custom_id": "go"}]}
    pick = {"type": 3, "custom_id": "pick", "options": [{"label": "One", "value": "1"}]}
    chat.say(
        chat.bot,
        general,
        "||hidden|| ```py\nx\n```",
        components=(row, {"type": 1, "components": [pick]}),
    )
    owner = await chat.window("Owner")
    assert await owner.evaluate(UNNAMED) == []
    for tab in ("Members", "Bots", "Faults", "Way of the message"):
        await (
            owner.get_by_role("group", name="Strip on the right")
            .get_by_role("button", name=tab)
            .click()
        )
        await expect(owner.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        assert await owner.evaluate(UNNAMED) == []
    await menu(owner, "Welcome", "Start a thread")
    assert await owner.evaluate(UNNAMED) == []
    await owner.keyboard.press("Escape")
    await owner.get_by_role("button", name="help, forum").click()
    await owner.get_by_role("button", name="New post").click()
    assert await owner.evaluate(UNNAMED) == []
    tree = await owner.locator("body").aria_snapshot()
    for landmark in ("main", "navigation", "complementary"):
        assert landmark in tree


async def test_the_keyboard_reaches_everything_and_never_loses_its_place(chat: Chat) -> None:
    for number in range(3):
        chat.say(chat.person("Guest"), chat.channel("general"), f"Line {number}")
    owner = await chat.window("Owner")
    await expect(writing(owner)).to_be_focused()
    await owner.keyboard.press("Shift+Tab")  # attach
    await owner.keyboard.press("Shift+Tab")
    await expect(owner.locator(".message:focus")).to_contain_text("Line 2")
    await owner.keyboard.press("Home")
    await expect(owner.locator(".message:focus")).to_contain_text("Welcome")
    await owner.keyboard.press("ArrowDown")
    await expect(owner.locator(".message:focus")).to_contain_text("Line 0")
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_role("menuitem", name="Reply")).to_be_focused()
    await owner.keyboard.press("Escape")
    await expect(owner.locator(".message:focus")).to_contain_text("Line 0")
    await owner.keyboard.press("Delete")
    await owner.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(owner.get_by_text("Line 0")).to_have_count(0)
    assert await owner.evaluate("() => document.activeElement !== document.body")
    await owner.keyboard.press("Escape")
    await expect(writing(owner)).to_be_focused()
    await owner.keyboard.press("Control+k")
    await owner.keyboard.type("idea")
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_role("heading", name="ideas", level=1)).to_be_visible()
    await owner.keyboard.press("Alt+ArrowUp")
    await expect(owner.get_by_role("heading", name="general", level=1)).to_be_visible()
    await owner.keyboard.press("Control+/")
    await expect(owner.get_by_role("dialog", name="Keys")).to_be_visible()
    await owner.keyboard.press("Escape")
    await expect(writing(owner)).to_be_focused()


async def test_the_focus_stays_while_others_change_the_world(chat: Chat, sim: SimRole) -> None:
    owner = await chat.window("Owner")
    await owner.get_by_role("button", name="Members").click()
    for number, name in enumerate(
        (
            "More about this place",
            "New thread",
            "New conversation",
            "New server",
            "ideas, channel",
            "More about Guest",
        )
    ):
        await owner.get_by_role("button", name=name).focus()
        made = f"made-{number}"
        sim.world.create_channel(chat.person("Owner").id, chat.guild_id, made)
        await expect(owner.get_by_role("button", name=f"{made}, channel")).to_be_visible()
        await expect(owner.get_by_role("button", name=name)).to_be_focused()


async def test_a_broken_stream_is_told_of_and_everything_is_there_after_it(
    chat: Chat, tmp_path: Path
) -> None:
    state = tmp_path / "state.db"
    role = SimRole(SimConfig(port=0, state=state), "test", NoRoles())
    await role.start(Shutdown())
    general = role.world.channels(role.world.guilds()[0].id)[0]
    owner = await chat.window("Owner")
    await owner.goto(f"{role.origin}/")
    await expect(owner.get_by_role("heading", name="general", level=1)).to_be_visible()
    await role.stop(0)
    banner = owner.get_by_text("The simulator does not answer.")
    await expect(banner).to_be_visible()

    world = World(SystemClock(), store=Store.open(state))
    world.post_message(world.users()[1].id, general.id, MessageDraft("While you were away"))
    world.close()
    port = int(role.origin.rpartition(":")[2])
    again = SimRole(SimConfig(port=port, state=state), "test", NoRoles())
    await again.start(Shutdown())
    await expect(message(owner, "While you were away")).to_be_visible()
    await expect(banner).to_be_hidden()
    await send(owner, "Back")
    await expect(message(owner, "Back")).to_be_visible()
    await again.stop(0)
    await owner.close()
    chat.complaints.clear()  # the browser's own words on a server that was away
    chat.foreign.clear()  # this simulator is another one than the test's


async def test_a_window_that_is_hidden_lets_its_stream_go_and_catches_up(chat: Chat) -> None:
    owner = await chat.window("Owner")
    await owner.clock.install()
    hide = """(hidden) => {
      Object.defineProperty(document, "hidden", { value: hidden, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }"""
    await owner.evaluate(hide, True)
    await owner.clock.fast_forward(31_000)
    chat.say(chat.person("Guest"), chat.channel("general"), "While you looked elsewhere")
    await send(owner, "I hear nothing")
    await expect(writing(owner)).to_have_value("")
    await expect(owner.locator(".message")).to_have_count(1)
    await owner.evaluate(hide, False)
    await expect(message(owner, "While you looked elsewhere")).to_be_visible()
    await expect(message(owner, "I hear nothing")).to_be_visible()


async def test_ten_thousand_messages_are_paged_both_ways_in_a_bounded_document(
    chat: Chat, sim: SimRole
) -> None:
    guest, general = chat.person("Guest"), chat.channel("general")
    for number in range(10_000):
        chat.say(guest, general, f"Entry {number}")
    owner = await chat.window("Owner")
    box = owner.locator("#messages")
    await expect(message(owner, "Entry 9999")).to_be_visible()
    first_seen: list[int] = []
    for _ in range(8):
        first = await owner.locator(".message").first.get_attribute("id")
        await box.evaluate("(box) => { box.scrollTop = 0 }")
        await expect(owner.locator(".message").first).not_to_have_id(str(first))
        text = await owner.locator(".message").first.inner_text()
        first_seen.append(int(re.findall(r"Entry (\d+)", text)[0]))
        assert await owner.locator(".message").count() <= 200
    assert first_seen == sorted(first_seen, reverse=True)
    await expect(owner.get_by_role("button", name="Newest")).to_be_visible()
    shown = await owner.evaluate(SHOWN)
    assert shown == list(range(shown[0], shown[0] + len(shown)))

    await box.evaluate("(box) => { box.scrollTop = box.scrollHeight }")
    await expect(owner.locator(".message").last).not_to_have_text(re.compile(f"Entry {shown[-1]}$"))
    shown = await owner.evaluate(SHOWN)
    assert shown == list(range(shown[0], shown[0] + len(shown)))
    await owner.keyboard.press("Control+j")
    await expect(message(owner, "Entry 9999")).to_be_in_viewport()
    await send(owner, "The last word")
    await expect(message(owner, "The last word")).to_be_in_viewport()


SHOWN = """() => [...document.querySelectorAll(".message-content")]
  .map((item) => Number(item.textContent.match(/Entry (\\d+)/)?.[1])).filter((number) => !Number.isNaN(number))"""
