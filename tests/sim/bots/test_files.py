"""Files and cards, both ways."""

import io

import pytest

import discord
from clankie.sim.world.entities import Upload
from sim.bots.town import Scene

PICTURE = bytes(range(256)) * 400


async def test_a_persons_files_are_read_byte_for_byte(scene: Scene) -> None:
    town = scene.town
    files = (
        Upload("Größe 1.png", PICTURE, "image/png", width=640, height=480),
        Upload("empty.txt", b"", "text/plain"),
    )
    town.say("see", files=files)
    message = await scene.heard.next("message")
    first, second = message.attachments
    assert (first.filename, first.size, first.content_type) == (
        "Größe 1.png",
        len(PICTURE),
        "image/png",
    )
    assert (first.width, first.height) == (640, 480)
    assert await first.read() == PICTURE
    assert await second.read() == b""
    assert first.url.startswith(town.sim.origin)


async def test_a_bots_files_arrive_byte_for_byte_and_can_be_kept_by_an_edit(scene: Scene) -> None:
    town = scene.town
    files = [
        discord.File(io.BytesIO(PICTURE), "a.bin", description="all bytes"),
        discord.File(io.BytesIO(b"second"), "b.txt", spoiler=True),
    ]
    sent = await scene.general.send("two", files=files)
    (stored,) = town.said()
    assert [each.filename for each in stored.attachments] == ["a.bin", "SPOILER_b.txt"]
    kept = [town.world.attachment_bytes(each.id) for each in stored.attachments]
    assert kept == [PICTURE, b"second"]
    assert sent.attachments[1].is_spoiler()
    assert sent.attachments[0].description == "all bytes"
    forwarded = await sent.attachments[0].to_file()
    again = await scene.general.send(file=forwarded)
    assert await again.attachments[0].read() == PICTURE
    edited = await sent.edit(
        attachments=[sent.attachments[1], discord.File(io.BytesIO(b"third"), "c.txt")]
    )
    assert [each.filename for each in edited.attachments] == ["SPOILER_b.txt", "c.txt"]
    with pytest.raises(discord.NotFound):
        await sent.attachments[0].read()


async def test_too_many_files_or_too_large_a_one_is_refused_whole(scene: Scene) -> None:
    many = [discord.File(io.BytesIO(b"x"), f"{number}.txt") for number in range(10)]
    assert len((await scene.general.send(files=many)).attachments) == 10
    route = discord.http.Route(
        "POST", "/channels/{channel_id}/messages", channel_id=scene.general.id
    )
    form = [{"name": "payload_json", "value": "{}"}] + [
        {"name": f"files[{number}]", "value": b"x", "filename": f"{number}.txt"}
        for number in range(11)
    ]
    with pytest.raises(discord.HTTPException) as refused:
        await scene.bot.http.request(route, form=form)
    assert refused.value.code == 50035
    large = discord.File(io.BytesIO(bytes(10 * 1_048_576 + 1)), "large.bin")
    with pytest.raises(discord.HTTPException) as refused:
        await scene.general.send(file=large)
    assert (refused.value.status, refused.value.code) == (413, 40005)
    assert len(scene.town.said()) == 1


async def test_cards_come_back_as_they_were_made(scene: Scene) -> None:
    card = discord.Embed(
        title="Title", description="*text*", url="https://example.com/", colour=0x123456
    )
    card.set_author(name="author").set_footer(text="foot").set_image(
        url="https://example.com/i.png"
    )
    card.add_field(name="n", value="v", inline=False)
    sent = await scene.general.send(embeds=[card, discord.Embed(title="2")])
    read = await scene.general.fetch_message(sent.id)
    for message in (sent, read):
        shown = message.embeds[0]
        assert (shown.title, shown.description, shown.url, shown.colour) == (
            card.title,
            card.description,
            card.url,
            card.colour,
        )
        assert (shown.author.name, shown.footer.text, shown.image.url) == (
            "author",
            "foot",
            "https://example.com/i.png",
        )
        assert [(field.name, field.value, field.inline) for field in shown.fields] == [
            ("n", "v", False)
        ]
        assert message.embeds[1].title == "2"
