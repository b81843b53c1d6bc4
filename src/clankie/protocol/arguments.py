"""What a Python caller passes, checked: annotations are not, at run time, and a wrong type must not be a stray error.

Only for what a program hands over itself (keys, clocks, ids, models). What comes from a wire is read by its `Reader`.
"""

from clankie.protocol.errors import InvalidValue


def require(value: object, kind: type | tuple[type, ...], name: str) -> None:
    """Raises InvalidValue, naming the argument but not its value, unless `value` is an instance of `kind`."""
    if not isinstance(value, kind):
        kinds = kind if isinstance(kind, tuple) else (kind,)
        raise InvalidValue(f"{name} must be {' or '.join(each.__name__ for each in kinds)}")
