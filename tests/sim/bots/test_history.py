"""Reading back, over more pages than one."""

import pytest

import discord
from sim.bots.town import Scene

COUNT = 257


@pytest.fixture
def numbers(scene: Scene) -> list[int]:
    """257 messages of the guest's, oldest first."""
    return [scene.town.say(str(number)).id for number in range(COUNT)]


async def test_all_of_it_is_read_in_either_order(scene: Scene, numbers: list[int]) -> None:
    newest_first = [each.id async for each in scene.general.history(limit=None)]
    oldest_first = [each.id async for each in scene.general.history(limit=None, oldest_first=True)]
    greeting = oldest_first[0]
    assert oldest_first == [greeting, *numbers]
    assert newest_first == oldest_first[::-1]
    assert greeting not in numbers


async def test_before_after_and_around_begin_where_they_say(
    scene: Scene, numbers: list[int]
) -> None:
    middle = discord.Object(numbers[128])

    async def read(**where: object) -> list[int]:
        return [each.id async for each in scene.general.history(**where)]  # type: ignore[arg-type]

    assert await read(limit=120, before=middle) == numbers[8:128][::-1]
    assert await read(limit=120, after=middle) == numbers[129:249]
    assert await read(limit=None, after=middle, oldest_first=False) == numbers[129:][::-1]
    assert set(await read(limit=11, around=middle)) == set(numbers[123:134])
    between = await read(limit=None, after=discord.Object(numbers[9]), before=middle)
    assert between == numbers[10:128]
    assert await read(limit=5, before=discord.Object(numbers[0] - (1 << 22))) != []
    assert await read(limit=5, after=discord.Object(numbers[-1])) == []


async def test_a_deleted_message_is_gone_from_it(scene: Scene, numbers: list[int]) -> None:
    town = scene.town
    town.world.delete_message(town.guest.id, town.general.id, numbers[100])
    read = [each.id async for each in scene.general.history(limit=None, oldest_first=True)]
    assert read[1:] == numbers[:100] + numbers[101:]


async def test_whoever_may_not_read_it_reads_nothing(scene: Scene) -> None:
    with pytest.raises(discord.Forbidden) as refused:
        [each async for each in scene.text("owners-only").history()]
    assert refused.value.code == 50001
