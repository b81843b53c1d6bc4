"""What the fleet's ids look like."""

from clankie.fleet.ids import new_installation_id


def test_an_installation_id_can_be_typed_into_a_command() -> None:
    rolls = iter([b"\xf8" + bytes(15), b"\xfb" * 16, b"\x04" + bytes(15)])
    assert new_installation_id(lambda _: next(rolls)) == "BA" + "A" * 20
    assert next(rolls, None) is None
