"""Driving the page as a person would: by names and keys."""

from typing import Any

from playwright.async_api import Browser, BrowserContext, Locator, Page, Request

from clankie.sim.role import SimRole
from clankie.sim.world.entities import Channel, MessageDraft, User

WAIT_MS = 10_000
"""For what must come: a browser on a busy machine."""
DESKTOP = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 844}


class Browsing:
    """One browser process."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser


class Chat:
    """One test's windows onto one simulator.

    Attributes:
        complaints: console errors, exceptions and broken policies of all windows.
        foreign: addresses asked for that are not the simulator's.
    """

    def __init__(self, browsing: Browsing, sim: SimRole) -> None:
        self._browser = browsing.browser
        self._sim = sim
        self._contexts: list[BrowserContext] = []
        self.complaints: list[str] = []
        self.foreign: list[str] = []

    @property
    def guild_id(self) -> int:
        return self._sim.world.guilds()[0].id

    @property
    def bot(self) -> User:
        return self._sim.world.user(self._sim.bots[0].bot_user_id)

    def person(self, name: str) -> User:
        return next(user for user in self._sim.world.users() if user.global_name == name)

    def channel(self, name: str) -> Channel:
        return next(each for each in self._sim.world.channels(self.guild_id) if each.name == name)

    def say(self, who: User, channel: Channel, content: str, **more: Any) -> int:
        """Post past the page, as the bot or somebody without a window does."""
        draft = MessageDraft(content=content, **more)
        return self._sim.world.post_message(who.id, channel.id, draft).id

    async def window(
        self, name: str = "Owner", channel: str | None = "general", **options: Any
    ) -> Page:
        """A window of its own for a person, with a channel open."""
        context = await self._browser.new_context(
            **{"viewport": DESKTOP, "locale": "en-GB", "reduced_motion": "reduce"} | options
        )
        self._contexts.append(context)
        await context.grant_permissions(["clipboard-read", "clipboard-write"])
        page = await context.new_page()
        page.set_default_timeout(WAIT_MS)
        page.on("console", self._heard)
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", self._asked)
        await page.add_init_script(
            "document.addEventListener('securitypolicyviolation',"
            " (event) => console.error('policy: ' + event.violatedDirective))"
        )
        at = f"&at={self.channel(channel).id}" if channel else ""
        await page.goto(f"{self._sim.origin}/#as={self.person(name).id}{at}")
        await page.locator("body[data-ready]").wait_for()
        if channel:
            await page.get_by_role("heading", name=channel, level=1).wait_for()
        return page

    async def close(self) -> None:
        for context in self._contexts:
            await context.close()

    def expect_complaint(self, part: str) -> None:
        """A complaint that a test provokes: it must have come, and counts no more."""
        found = [line for line in self.complaints if part in line]
        assert found, self.complaints
        self.complaints = [line for line in self.complaints if part not in line]

    def _heard(self, message: Any) -> None:
        if message.type in {"error", "warning"}:
            self.complaints.append(message.text)

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((self._sim.origin + "/", "blob:")):
            self.foreign.append(request.url)


def writing(page: Page, place: str = "#general") -> Locator:
    """Where messages are written."""
    return page.get_by_label(f"Message {place}", exact=True)


def message(page: Page, text: str) -> Locator:
    """The message that says so."""
    return page.locator(".message", has_text=text).last


async def send(page: Page, text: str, place: str = "#general") -> None:
    """Write and send, by the keyboard."""
    field = writing(page, place)
    await field.focus()
    await page.keyboard.type(text)
    await page.keyboard.press("Enter")


async def menu(page: Page, text: str, item: str) -> None:
    """Choose something in a message's menu, by the keyboard."""
    await message(page, text).focus()
    await page.keyboard.press("Enter")
    await page.get_by_role("menuitem", name=item).click()
