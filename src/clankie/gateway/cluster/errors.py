"""What goes wrong between gateways.

Unreachable     nothing could be sent: NATS is not there
"""


class Unreachable(Exception):
    """Nothing could be sent. The text is an error's class."""
