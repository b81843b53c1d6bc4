"""The simulator's page with 10,000 messages in a channel over the same page with 50: scrolling, and a new message."""

import asyncio
import os
import shutil
import statistics
from typing import Any, NamedTuple

import uvloop
from playwright.async_api import Browser, Page, async_playwright

from clankie.runtime.lifecycle import Shutdown
from clankie.runtime.settings import SimConfig
from clankie.sim.control.hops import NoRoles
from clankie.sim.role import SimRole
from clankie.sim.world.entities import MessageDraft
from harness import Repeated, report

FEW, MANY = 50, 10_000
ROUNDS = 5
ARRIVALS = 40
STEPS = 60
SCROLL = """async (steps) => {
  const box = document.getElementById("messages");
  const frame = () => new Promise((done) => requestAnimationFrame(done));
  const gaps = [];
  await frame();
  for (let step = 0; step < steps; step += 1) {
    const before = performance.now();
    box.scrollTop -= 400;
    if (box.scrollTop <= 0) box.scrollTop = box.scrollHeight;
    await frame();
    gaps.push(performance.now() - before);
  }
  return gaps;
}"""
ARRIVED = """(text) => new Promise((done) => {
  const look = () => [...document.querySelectorAll(".message-content")].at(-1)?.textContent.includes(text);
  if (look()) { done(); return; }
  const watcher = new MutationObserver(() => {
    if (!look()) return;
    watcher.disconnect();
    requestAnimationFrame(() => done());
  });
  watcher.observe(document.querySelector(".feed"), { childList: true });
})"""
TASKS = """() => { window.tasks = []; new PerformanceObserver((list) => {
  window.tasks.push(...list.getEntries().map((entry) => entry.duration));
}).observe({ type: "longtask" }); }"""


class Measured(NamedTuple):
    """Milliseconds."""

    frame: float
    worst_frame: float
    arrival: float
    longest_task: float
    elements: int


async def measure(browser: Browser, sim: SimRole, messages: int) -> list[Measured]:
    """Each round in a channel of its own."""
    world = sim.world
    owner, _, _, guest = (user for user in world.users() if not user.bot)
    guild = world.guilds()[0]
    found = []
    for number in range(ROUNDS):
        channel = world.create_channel(owner.id, guild.id, f"bench-{messages}-{number}")
        for each in range(messages):
            text = f"Entry {each}: some *words* that wrap, and `code`. " * (1 + each % 3)
            world.post_message(guest.id, channel.id, MessageDraft(text))
        page = await browser.new_page(viewport={"width": 1280, "height": 800})
        await page.goto(f"{sim.origin}/#as={owner.id}&at={channel.id}")
        await page.locator(".message").first.wait_for()
        await page.evaluate(TASKS)

        async def arrive(page: Page, text: str, channel_id: int = channel.id) -> float:
            began = asyncio.get_running_loop().time()
            waiting = asyncio.ensure_future(page.evaluate(ARRIVED, text))
            world.post_message(guest.id, channel_id, MessageDraft(text))
            await waiting
            return asyncio.get_running_loop().time() - began

        arrivals = [await arrive(page, f"news {each} of {number}") for each in range(ARRIVALS)]
        gaps: list[float] = await page.evaluate(SCROLL, STEPS)
        tasks: list[Any] = await page.evaluate("() => window.tasks")
        count = await page.locator(".message").count()
        await page.close()
        found.append(
            Measured(
                statistics.median(gaps),
                max(gaps),
                statistics.median(arrivals) * 1_000,
                max(tasks, default=0.0),
                count,
            )
        )
    return found


async def main() -> None:
    """Both channels in one simulator and one browser."""
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        print("the page: no browser on the PATH. Next: install chromium")
        return
    options = ["--no-sandbox"] if os.geteuid() == 0 else []  # root has no sandbox to give
    sim = SimRole(SimConfig(port=0), "bench", NoRoles())
    await sim.start(Shutdown())
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=options)
        few = await measure(browser, sim, FEW)
        many = await measure(browser, sim, MANY)
        await browser.close()
    await sim.stop(0)
    for name, field in (("a new message", "arrival"), ("a frame of scrolling", "frame")):
        low, high = (Repeated.of([getattr(each, field) for each in runs]) for runs in (few, many))
        report(
            f"page: {name}, 10,000 / 50",
            high.median / low.median,
            "≤ 1.5",
            f"{high.median:.1f} ms over {low.median:.1f} ms; spread {high.spread:.0%}, {low.spread:.0%}",
        )
    report(
        "page: longest task, 10,000 / 50",
        max(each.longest_task for each in many) / max(50.0, *(each.longest_task for each in few)),
        "≤ 2.0",
        f"{max(each.longest_task for each in many):.0f} ms with paging, over "
        f"{max(each.longest_task for each in few):.0f} ms (below 50 ms none is counted); worst frame "
        f"{max(each.worst_frame for each in many):.0f} ms; {max(each.elements for each in many)} messages drawn",
    )


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(main())
