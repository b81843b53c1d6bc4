"""People chat, a bot answers: in servers, threads, forums and direct messages."""

import re
from pathlib import Path

import pytest
from playwright.async_api import expect

from browser.pages import Chat, menu, message, send, writing
from clankie.sim.role import SimRole
from clankie.sim.world.entities import Emoji, MessageDraft

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def test_two_people_see_each_other_write_and_speak(chat: Chat) -> None:
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await writing(guest).focus()
    await guest.keyboard.type("Is any")
    await expect(owner.get_by_text("Guest is typing")).to_be_visible()
    await guest.keyboard.type("body here?")
    await guest.keyboard.press("Enter")
    await expect(message(owner, "Is anybody here?")).to_be_visible()
    await expect(owner.get_by_text("Guest is typing")).to_have_count(0)
    await expect(owner.locator("#live")).to_contain_text("Guest: Is anybody here?")
    await send(owner, "Yes.")
    await expect(message(guest, "Yes.")).to_be_visible()


async def test_a_message_without_a_window_shows_as_unread_and_what_mentions_one_is_marked(
    chat: Chat, sim: SimRole
) -> None:
    guest = await chat.window("Guest", "ideas")
    chat.say(chat.person("Owner"), chat.channel("general"), f"<@{chat.person('Guest').id}> look")
    place = guest.get_by_role("button", name=re.compile("general, channel, 1 unread, you are men"))
    await expect(guest).to_have_title("(1) ideas · Clankie sim")
    await place.click()
    await expect(guest.locator(".message-mentions-me")).to_contain_text("@Guest look")
    await expect(guest.get_by_role("button", name="general, channel", exact=True)).to_be_visible()


async def test_a_reply_by_the_keyboard_pings_or_does_not_and_leads_back(
    chat: Chat, sim: SimRole
) -> None:
    first = chat.say(chat.person("Guest"), chat.channel("general"), "Who waters the plants?")
    owner = await chat.window("Owner")
    await message(owner, "Who waters").focus()
    await owner.keyboard.press("r")
    await expect(owner.get_by_text("Replying to Guest")).to_be_visible()
    await owner.keyboard.type("I do.")
    await owner.keyboard.press("Enter")
    await expect(
        owner.get_by_role("button", name=re.compile("Reply to Guest: Who"))
    ).to_be_visible()
    posted = sim.world.history(chat.channel("general").id, limit=1)[0]
    assert posted.reference is not None
    assert posted.reference.message_id == first
    assert posted.mention_ids == (chat.person("Guest").id,)

    await owner.locator(f"#m-{first}").focus()
    await owner.keyboard.press("r")
    await owner.get_by_role("button", name="Mention the author of the message").click()
    await send(owner, "And the cactus.")
    await expect(message(owner, "And the cactus.")).to_be_visible()
    assert sim.world.history(chat.channel("general").id, limit=1)[0].mention_ids == ()

    await owner.get_by_role("button", name=re.compile("Reply to Guest")).first.click()
    await expect(owner.locator(f"#m-{first}")).to_be_focused()


async def test_mentions_are_chosen_by_the_keyboard_and_sent_as_ids(
    chat: Chat, sim: SimRole
) -> None:
    owner = await chat.window("Owner")
    field = writing(owner)
    await field.focus()
    await owner.keyboard.type("Hello @gu")
    await expect(owner.get_by_role("option", name=re.compile("Guest"))).to_have_attribute(
        "aria-selected", "true"
    )
    assert await field.get_attribute("aria-activedescendant")
    await owner.keyboard.press("Enter")
    await owner.keyboard.type("and @moder")
    await owner.keyboard.press("ArrowDown")  # the role, below the person
    await owner.keyboard.press("Tab")
    await owner.keyboard.type("see #idea")
    await owner.keyboard.press("Enter")
    await owner.keyboard.type("`@guest`")
    await owner.keyboard.press("Enter")
    await expect(message(owner, "Hello @Guest and @Moderators see")).to_be_visible()
    posted = sim.world.history(chat.channel("general").id, limit=1)[0]
    role = next(each for each in sim.world.roles(chat.guild_id) if each.name == "Moderators")
    guest, ideas = chat.person("Guest").id, chat.channel("ideas").id
    assert posted.content == f"Hello <@{guest}> and <@&{role.id}> see <#{ideas}> `@guest`"


async def test_everyone_is_offered_and_escape_leaves_the_text_alone(
    chat: Chat, sim: SimRole
) -> None:
    owner = await chat.window("Owner")
    await writing(owner).focus()
    await owner.keyboard.type("@every")
    await expect(owner.get_by_role("option", name=re.compile("everyone"))).to_be_visible()
    await owner.keyboard.press("Escape")
    await expect(owner.get_by_role("option")).to_have_count(0)
    await expect(writing(owner)).to_have_value("@every")


async def test_ones_last_message_is_edited_with_arrow_up_and_a_message_is_deleted(
    chat: Chat,
) -> None:
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await send(owner, "The door is clsoed")
    await expect(message(owner, "clsoed")).to_be_visible()
    await writing(owner).focus()
    await owner.keyboard.press("ArrowUp")
    field = owner.get_by_label("Edit your message")
    await expect(field).to_be_focused()
    await field.fill("The door is closed")
    await owner.keyboard.press("Enter")
    await expect(message(guest, "The door is closed")).to_contain_text("edited")
    await expect(writing(owner)).to_be_focused()

    await menu(owner, "The door is closed", "Delete")
    await owner.get_by_role("dialog").get_by_role("button", name="Delete").click()
    await expect(guest.get_by_text("The door is closed")).to_have_count(0)
    await expect(owner.get_by_text("The door is closed")).to_have_count(0)


async def test_what_is_edited_shows_names_and_keeps_whom_it_mentions(
    chat: Chat, sim: SimRole
) -> None:
    owner, guest = chat.person("Owner"), chat.person("Guest")
    posted = chat.say(owner, chat.channel("general"), f"Ask <@{guest.id}> or <@1>")
    page = await chat.window("Owner")
    await message(page, "Ask").focus()
    await page.keyboard.press("e")
    await expect(page.get_by_label("Edit your message")).to_have_value("Ask @guest or <@1>")
    await page.keyboard.type("!")
    await page.keyboard.press("Enter")
    await expect(message(page, "Ask")).to_contain_text("edited")
    edited = sim.world.message(chat.channel("general").id, posted)
    assert edited.content == f"Ask <@{guest.id}> or <@1>!"


async def test_reactions_are_added_seen_and_taken_back(chat: Chat, sim: SimRole) -> None:
    posted = chat.say(chat.person("Guest"), chat.channel("general"), "Done!")
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await message(owner, "Done!").focus()
    await owner.keyboard.press("+")
    await owner.keyboard.type("party")
    await owner.keyboard.press("Enter")
    mine = owner.get_by_role("button", name=re.compile("1 person, you too"))
    await expect(mine).to_have_attribute("aria-pressed", "true")
    theirs = guest.get_by_role("button", name=re.compile("1 person$"))
    await theirs.click()
    await expect(owner.get_by_role("button", name=re.compile("2 people, you too"))).to_be_visible()
    await owner.get_by_role("button", name=re.compile("2 people")).click()
    await expect(guest.get_by_role("button", name=re.compile("1 person, you too"))).to_be_visible()
    reactions = sim.world.message(chat.channel("general").id, posted).reactions
    assert [(each.emoji.name, each.user_ids) for each in reactions] == [
        ("🎉", (chat.person("Guest").id,))
    ]
    sim.world.add_reaction(chat.bot.id, chat.channel("general").id, posted, Emoji("👍"))
    await expect(guest.locator(".reaction")).to_have_count(2)


async def test_files_are_attached_pasted_and_dropped_and_shown(
    chat: Chat, sim: SimRole, tmp_path: Path
) -> None:
    note = tmp_path / "note.txt"
    note.write_text("buy milk")
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    async with owner.expect_file_chooser() as choosing:
        await owner.get_by_role("button", name="Attach files").click()
    await (await choosing.value).set_files(note)
    await expect(owner.get_by_role("list", name="Files to send")).to_contain_text("note.txt")
    await owner.evaluate(_PASTE_PICTURE)
    await owner.evaluate(_DROP_FILE)
    await expect(owner.locator(".upload")).to_have_count(3)
    await owner.get_by_role("button", name="Leave out dropped.txt").click()
    await send(owner, "Two files")
    shown = message(guest, "Two files")
    await expect(shown.get_by_role("link", name=re.compile("note.txt"))).to_be_visible()
    picture = shown.get_by_role("img", name="Picture pasted.png")
    await expect(picture).to_have_js_property("naturalWidth", 3)
    posted = sim.world.history(chat.channel("general").id, limit=1)[0]
    assert [each.filename for each in posted.attachments] == ["note.txt", "pasted.png"]
    assert sim.world.attachment_bytes(posted.attachments[0].id) == b"buy milk"


_PASTE_PICTURE = """async () => {
  const canvas = document.createElement("canvas"); canvas.width = 3; canvas.height = 2;
  const blob = await new Promise((done) => canvas.toBlob(done));
  const data = new DataTransfer(); data.items.add(new File([blob], "pasted.png", {type: "image/png"}));
  const field = document.querySelector(".composer textarea");
  field.dispatchEvent(new ClipboardEvent("paste", {clipboardData: data, bubbles: true}));
}"""
_DROP_FILE = """() => {
  const data = new DataTransfer(); data.items.add(new File(["x"], "dropped.txt", {type: "text/plain"}));
  const drop = new DragEvent("drop", {dataTransfer: data, bubbles: true, cancelable: true});
  document.getElementById("messages").dispatchEvent(drop);
}"""


async def test_a_thread_is_started_from_a_message_and_written_in(chat: Chat, sim: SimRole) -> None:
    chat.say(chat.person("Guest"), chat.channel("general"), "Where to put the shelf?")
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await menu(owner, "Where to put", "Start a thread")
    await owner.get_by_label("Name").fill("The shelf")
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_role("heading", name="The shelf", level=1)).to_be_visible()
    await send(owner, "By the window", "The shelf")
    await message(guest, "Where to put").get_by_role("button", name=re.compile("The sh")).click()
    await expect(message(guest, "By the window")).to_be_visible()
    await guest.get_by_role("button", name="in general").click()
    await expect(guest.get_by_role("heading", name="general", level=1)).to_be_visible()


async def test_a_forum_shows_posts_and_takes_one(chat: Chat, sim: SimRole) -> None:
    owner = await chat.window("Owner", "help")
    await expect(owner.get_by_text("No posts yet.")).to_be_visible()
    await owner.get_by_role("button", name="New post").click()
    await owner.get_by_label("Title").fill("How do I sharpen this?")
    await owner.get_by_label("Text").fill("It is a *chisel*.")
    await owner.get_by_label("Tag").select_option(label="question")
    await owner.get_by_role("button", name="Post", exact=True).click()
    await expect(message(owner, "It is a chisel.")).to_be_visible()
    await owner.get_by_role("button", name="help, forum").click()
    post = owner.get_by_role("button", name=re.compile("How do I sharpen"))
    await expect(post).to_contain_text("question")


async def test_a_direct_conversation_reaches_the_other_who_had_none(chat: Chat) -> None:
    owner, guest = await chat.window("Owner"), await chat.window("Guest")
    await expect(guest.get_by_text("No conversations yet.")).to_be_visible()
    await owner.get_by_role("button", name="New conversation").click()
    await owner.get_by_label("With").select_option(label="Guest")
    await owner.get_by_role("button", name="Open", exact=True).click()
    await send(owner, "Just between us", "Guest")
    await guest.get_by_role("button", name=re.compile("Owner, direct message")).click()
    await expect(message(guest, "Just between us")).to_be_visible()


async def test_one_window_speaks_as_several_people(chat: Chat, sim: SimRole) -> None:
    page = await chat.window("Owner")
    await page.keyboard.press("Control+i")
    await page.get_by_role("menuitemradio", name="Guest").click()
    await expect(page.get_by_role("button", name=re.compile("You speak as Guest"))).to_be_visible()
    await expect(page.get_by_role("button", name=re.compile("owners-only"))).to_have_count(0)
    await send(page, "As myself")
    await expect(message(page, "As myself")).to_be_visible()
    author = sim.world.history(chat.channel("general").id, limit=1)[0].author_id
    assert author == chat.person("Guest").id


async def test_what_is_refused_is_told_with_what_to_do_and_what_was_written_stays(
    chat: Chat, sim: SimRole
) -> None:
    owner = await chat.window("Owner")
    await writing(owner).fill("x" * 2_001)
    await owner.keyboard.press("Enter")
    await expect(owner.get_by_role("alert")).to_contain_text("2000")
    await expect(writing(owner)).to_have_value("x" * 2_001)
    assert len(sim.world.history(chat.channel("general").id)) == 1
    chat.expect_complaint("400")  # the browser's own word on the refused request


async def test_forwards_embeds_stickers_polls_and_webhooks_are_drawn(
    chat: Chat, sim: SimRole
) -> None:
    general = chat.channel("general")
    card = {
        "title": "A card",
        "description": "with **text**",
        "fields": [{"name": "N", "value": "V"}],
    }
    posted = chat.say(chat.bot, general, "", embeds=(card,))
    sim.world.pin(chat.person("Owner").id, general.id, posted)
    hook = sim.world.create_webhook(chat.person("Owner").id, general.id, "Weather")
    sim.world.execute_webhook(hook.id, MessageDraft(content="Rain at noon"))
    owner = await chat.window("Owner")
    await expect(owner.get_by_role("complementary", name="Card: A card")).to_contain_text("text")
    await expect(message(owner, "Rain at noon")).to_contain_text("Webhook")
    await expect(owner.get_by_label("Owner pinned a message here.")).to_be_visible()
    await menu(owner, "A card", "Forward")
    await owner.get_by_label("Place", exact=True).select_option(label="ideas, Sample server")
    await owner.get_by_role("dialog").get_by_role("button", name="Forward").click()
    await expect(owner.get_by_role("dialog")).to_have_count(0)
    await (
        owner.get_by_role("button", name="ideas, channel, unread")
        .or_(owner.get_by_role("button", name="ideas, channel"))
        .click()
    )
    await expect(owner.locator(".forwarded")).to_contain_text("A card")
