"""What people do to the bot, written once for every simulator. Nothing here knows which one it is."""

from collections.abc import Awaitable, Callable

from sim.bots.stages.stage import BOT, GUEST, OWNER, Stage

Script = Callable[[Stage], Awaitable[None]]


async def talking(stage: Stage) -> None:
    await stage.say(GUEST, "hello")
    await stage.say(GUEST, "!quiet")
    asked = await stage.say(GUEST, "!loud")
    await stage.say(OWNER, "thanks", reply_to=asked)
    ids = {name: number for number, name in stage.names.items()}
    await stage.say(GUEST, f"!name <@{ids[OWNER]}> <@{ids[GUEST]}>")
    await stage.say(OWNER, f"<@{ids[BOT]}> @everyone")
    await stage.say(GUEST, f"<@!{ids[BOT]}> @everyone")


async def changing(stage: Stage) -> None:
    await stage.say(GUEST, "!card")
    await stage.say(GUEST, "!change")
    said = await stage.say(GUEST, "frist")
    await stage.edit(GUEST, said, "first")
    gone = await stage.say(GUEST, "never mind")
    await stage.delete(GUEST, gone)
    await stage.say(GUEST, "!tidy")
    await stage.pin(OWNER, said)


async def reacting(stage: Stage) -> None:
    said = await stage.say(GUEST, "nice?")
    await stage.react(OWNER, said, "👍")
    await stage.react(GUEST, said, "👍")
    await stage.react(GUEST, said, "🎈")
    await stage.unreact(GUEST, said, "👍")


async def filing(stage: Stage) -> None:
    files = [("a.bin", bytes(range(256)) * 40), ("b.txt", b"text")]
    await stage.say(GUEST, "!echo", files=files)


async def commanding(stage: Stage) -> None:
    await stage.slash(GUEST, "add", first=2, second=40)
    await stage.slash(GUEST, "twice")
    stage.bot.did.append(f"refused {stage.bot.refused}")
    await stage.slash(GUEST, "whisper")
    for who in (GUEST, OWNER):
        stage.bot.did.append(f"{who} sees {stage.seen_by(who)}")
    found = await stage.suggest(GUEST, "colour", "name", "gre")
    stage.bot.did.append(f"suggested {found}")
    await stage.slash(GUEST, "colour", name="#grey")


async def clicking(stage: Stage) -> None:
    await stage.slash(GUEST, "offer")
    channel = stage.bot.guilds[0].text_channels[0]
    (offer,) = [each async for each in channel.history() if each.content == "An offer"]
    await stage.choose(GUEST, offer.id, "colours", ["red", "grey"])
    for who in (GUEST, OWNER):
        stage.bot.did.append(f"{who} sees {stage.seen_by(who)}")
    await stage.click(OWNER, offer.id, "take")
    await stage.fill_form(GUEST, "order", dish="soup")


async def directly(stage: Stage) -> None:
    await stage.direct(GUEST, "psst")
    await stage.direct(OWNER, "me too")


async def threading(stage: Stage) -> None:
    await stage.say(GUEST, "!thread")
    await stage.say(GUEST, "!post")


async def sending_once(stage: Stage) -> None:
    await stage.say(GUEST, "!once")


async def reading_back(stage: Stage) -> None:
    await stage.say(GUEST, "!count 130")
    await stage.say(GUEST, "!read")


async def being_refused(stage: Stage) -> None:
    await stage.say(GUEST, "!refused")


async def coming_and_going(stage: Stage) -> None:
    await stage.join("newcomer")
    await stage.say(GUEST, "!members")
    await stage.leave("newcomer")
    await stage.type_text(GUEST)


SCRIPTS: list[Script] = [
    talking, changing, reacting, filing, commanding, clicking, directly, threading, sending_once, reading_back,
    being_refused, coming_and_going,
]  # fmt: skip
