"""Many messages at once, over sockets that break: each once, in its channel's order."""

from collections import defaultdict

from clankie.sim.faults import FaultKind
from edge.discord.talking import Talk
from edge.hearing.rig import Rig

CHANNELS, MESSAGES = 20, 500


async def test_a_burst_in_many_channels_over_two_cut_sockets_is_in_order_and_nothing_twice(
    talk: Talk, rig: Rig
) -> None:
    owner = talk.person().id
    made = [
        talk.world.create_channel(owner, talk.guild.id, f"room-{index}").id
        for index in range(CHANNELS)
    ]
    said: dict[str, list[str]] = defaultdict(list)
    for index in range(MESSAGES):
        channel_id = made[index % CHANNELS]
        talk.say(str(index), where=channel_id)
        said[str(channel_id)].append(str(index))
        if index in {MESSAGES // 3, 2 * MESSAGES // 3}:
            await rig.counted("accepted", index // 2)
            talk.sim.faults.set(FaultKind.DROP)
            talk.sim.faults.set(FaultKind.DUPLICATE, count=5)
    await rig.counted("accepted", MESSAGES)
    heard: dict[str, list[str]] = defaultdict(list)
    for event in await rig.events():
        heard[event.channel_id].append(event.content)
    assert heard == said
    assert rig.connection.status()[0].sessions == 1
