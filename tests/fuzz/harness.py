"""Runs one target under atheris: `python harness.py TARGET [libFuzzer options and folders]`.

A process of its own, because the fuzzer never returns and what it watches must be imported under instrumentation.
"""

import sys

import atheris

with atheris.instrument_imports(include=["clankie.protocol"]):
    from fuzz.invariants import TARGETS


def main() -> None:
    """Never returns: libFuzzer ends the process, with 0 when it found nothing."""
    target = TARGETS[sys.argv[1]]
    atheris.Setup([sys.argv[0], *sys.argv[2:]], target)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
