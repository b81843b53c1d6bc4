"""Whether a home has a body at all: a fleet, a gateway or an edge may be alone on its machine.

Owns the signs of one. Must not know how it is.
"""

from clankie.body.doctor.store_facts import is_open_elsewhere
from clankie.body.keys import MANAGED_INGRESS_KEY, STORE_KEY_ID
from clankie.runtime import engines
from clankie.runtime.broker import Broker
from clankie.runtime.errors import BrokerError, ClankieError
from clankie.runtime.secrets import resolve_secret
from clankie.runtime.settings import Config


def has_body(config: Config, broker: Broker) -> bool:
    """Whether there is a bootstrap file, a store, or a key of a body. Makes nothing."""
    return config.body.bootstrap.exists() or _has_store(config, broker) or _has_keys(broker)


def _has_store(config: Config, broker: Broker) -> bool:
    try:
        url = engines.parse_url(resolve_secret("body.store", config.body.store, broker))
    except ClankieError:
        return True  # somebody named one
    if not engines.is_sqlite(url):
        return True
    path = engines.sqlite_path(url)
    return path.exists() or is_open_elsewhere(path)


def _has_keys(broker: Broker) -> bool:
    try:
        kept = broker.kinds()
    except BrokerError:
        return False
    return any(name == STORE_KEY_ID or name.startswith(MANAGED_INGRESS_KEY) for name in kept)
