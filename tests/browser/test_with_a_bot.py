"""A discord.py bot answers people on the page: messages, commands of each kind, buttons, forms, faults."""

import re
from collections.abc import AsyncIterator

import pytest
import pytest_asyncio
from playwright.async_api import Page, expect

from browser.bots import Helper, connected
from browser.pages import Chat, message, send, writing
from clankie.sim.role import SimRole

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest_asyncio.fixture(loop_scope="module")
async def bot(sim: SimRole) -> AsyncIterator[Helper]:
    with pytest.MonkeyPatch.context() as patch:
        async with connected(sim, patch) as bot:
            yield bot


async def choose(page: Page, command: str) -> None:
    """Choose a slash command, by the keyboard."""
    await writing(page).focus()
    await page.keyboard.type(f"/{command}")
    await expect(page.get_by_role("option", name=re.compile(f"{command} "))).to_be_visible()
    await page.keyboard.press("Enter")


async def test_a_mentioned_bot_answers_and_its_way_is_shown(chat: Chat, bot: Helper) -> None:
    owner = await chat.window("Owner")
    await writing(owner).focus()
    await owner.keyboard.type("@help")
    await owner.keyboard.press("Tab")
    await owner.keyboard.type("hello")
    await owner.keyboard.press("Enter")
    answer = message(owner, "You said:")
    await expect(answer).to_contain_text("Bot")
    await expect(answer.get_by_role("button", name=re.compile("Reply to Owner"))).to_be_visible()
    hops = owner.get_by_role("list", name="Hops, in order").get_by_role("listitem")
    await expect(hops.first).to_contain_text("posted in #general")
    await expect(hops.last).to_contain_text("has the answer of helper")


async def test_each_kind_of_command_is_used_by_the_keyboard_alone(chat: Chat, bot: Helper) -> None:
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await choose(owner, "add")
    await expect(owner.get_by_label("first")).to_be_focused()
    await owner.keyboard.type("2")
    await owner.keyboard.press("Tab")
    await owner.keyboard.type("40")
    await owner.keyboard.press("Enter")
    await expect(message(guest, "The sum is 42")).to_contain_text("used /add")
    await expect(writing(owner)).to_be_focused()

    await choose(owner, "colour")
    await owner.keyboard.type("gre")
    await expect(owner.get_by_role("option", name="Grey")).to_be_visible()
    await owner.keyboard.press("ArrowDown")
    await owner.keyboard.press("Enter")
    await owner.keyboard.press("Enter")
    await expect(message(guest, "Painted #grey")).to_be_visible()

    await choose(owner, "ask")
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_role("dialog", name="Your order")).to_be_visible()
    await owner.keyboard.type("soup")
    await owner.keyboard.press("Enter")
    await expect(message(guest, "Ordered soup")).to_be_visible()
    await expect(owner.get_by_role("dialog")).to_have_count(0)

    await choose(owner, "offer")
    await owner.keyboard.press("Enter")
    await message(guest, "An offer").get_by_role("button", name="Take it").click()
    await expect(message(owner, "Taken")).to_be_visible()
    await expect(owner.get_by_role("button", name="Take it")).to_have_count(0)


async def test_an_answer_for_one_person_is_shown_to_nobody_else(chat: Chat, bot: Helper) -> None:
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await choose(owner, "whisper")
    await owner.keyboard.press("Enter")
    await expect(message(owner, "Between us")).to_contain_text("Only you can see this.")
    await send(owner, "After it")
    await expect(message(guest, "After it")).to_be_visible()
    await expect(guest.get_by_text("Between us")).to_have_count(0)


async def test_a_required_option_left_out_sends_nothing(chat: Chat, bot: Helper) -> None:
    owner = await chat.window("Owner")
    await choose(owner, "add")
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_label("first")).to_be_focused()
    await owner.keyboard.press("Escape")
    await expect(writing(owner)).to_be_focused()
    await expect(owner.locator(".message")).to_have_count(1)


async def test_the_strip_shows_the_bot_and_a_cut_connection_heals(
    chat: Chat, bot: Helper, sim: SimRole
) -> None:
    owner = await chat.window("Owner")
    await owner.get_by_role("button", name="Bots").click()
    await expect(owner.locator(".bot")).to_contain_text("Connected")
    await expect(owner.locator(".bot")).to_contain_text("message content")
    await owner.get_by_role("button", name="Faults").click()
    await owner.get_by_role("button", name="Switch on: Cut the connection").click()
    await owner.get_by_role("button", name="Switch on: Too many requests (429)").click()
    await expect(owner.get_by_text("1 switched on.")).to_be_visible()
    await owner.get_by_role("button", name="Bots").click()
    await expect(owner.locator(".bot")).to_contain_text("Connected")
    await writing(owner).focus()
    await owner.keyboard.type("@help")
    await owner.keyboard.press("Tab")
    await owner.keyboard.type("still there?")
    await owner.keyboard.press("Enter")
    await expect(message(owner, "You said:")).to_be_visible()
    assert sim.faults.active() == []
