"""Delivering events to a body: permit, seal, post, poll. What an edge uses, and any other program.

permits = LocalPermits(signing_key)
async with Connection(endpoint, registered_public_key, permits) as connection:
    result = await connection.deliver(event)
"""

from clankie.connection.connection import Connection
from clankie.connection.errors import (
    BodyUnavailable,
    DeliveryConflict,
    DeliveryError,
    DeliveryExpired,
    EndpointInvalid,
    EnvelopeTooLarge,
    IngressNotEnabled,
    NotAuthorized,
    PermitRefused,
    PermitUnavailable,
    RegisteredKeyInvalid,
    UnexpectedAnswer,
)
from clankie.connection.fleet_permits import FleetPermitRefused, FleetPermits
from clankie.connection.fleet_routes import EdgeRoute, FleetRoutes
from clankie.connection.http import HttpTransport
from clankie.connection.pacing import Pace
from clankie.connection.permits import LocalPermits, PermitSource

__all__ = [
    "BodyUnavailable",
    "Connection",
    "DeliveryConflict",
    "DeliveryError",
    "DeliveryExpired",
    "EdgeRoute",
    "EndpointInvalid",
    "EnvelopeTooLarge",
    "FleetPermitRefused",
    "FleetPermits",
    "FleetRoutes",
    "HttpTransport",
    "IngressNotEnabled",
    "LocalPermits",
    "NotAuthorized",
    "Pace",
    "PermitRefused",
    "PermitSource",
    "PermitUnavailable",
    "RegisteredKeyInvalid",
    "UnexpectedAnswer",
]
