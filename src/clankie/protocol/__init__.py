"""The wire contract: bytes, time and state in; bytes and decisions out. No I/O, no clock of its own.

What a program that delivers or receives needs is here by name; the modules hold the rest. `docs/protocol.md` says
what each rule is for.
"""

from clankie.protocol import js_json
from clankie.protocol.body_requests import sign_body_request, verify_body_request
from clankie.protocol.discord_ingress import (
    DISCORD_INGRESS_DOMAIN,
    DISCORD_INGRESS_PATH,
    DiscordIngressEnvelope,
    DiscordIngressEvent,
    DiscordIngressResult,
    Failed,
    Pending,
    Reply,
    Silent,
    VoiceReply,
    envelope_json,
    event_digest,
    event_json,
    parse_envelope,
    parse_event,
    parse_result,
    request_digest,
    result_json,
)
from clankie.protocol.discord_ingress_crypto import (
    OpenedIngress,
    PreparedIngress,
    SealedIngress,
    open_discord_ingress,
    prepare_discord_ingress,
)
from clankie.protocol.discord_turn import ChannelTurnRequest, turn_request_for, turn_request_json
from clankie.protocol.errors import ProtocolError, Unauthorized
from clankie.protocol.fleet_tokens import (
    VerifyKeys,
    host_id,
    key_id,
    load_verify_keys,
    sign_permit,
)
from clankie.protocol.primitives import Ed25519PrivateKey, Ed25519PublicKey, P256PrivateKey

__all__ = [
    "DISCORD_INGRESS_DOMAIN",
    "DISCORD_INGRESS_PATH",
    "ChannelTurnRequest",
    "DiscordIngressEnvelope",
    "DiscordIngressEvent",
    "DiscordIngressResult",
    "Ed25519PrivateKey",
    "Ed25519PublicKey",
    "Failed",
    "OpenedIngress",
    "P256PrivateKey",
    "Pending",
    "PreparedIngress",
    "ProtocolError",
    "Reply",
    "SealedIngress",
    "Silent",
    "Unauthorized",
    "VerifyKeys",
    "VoiceReply",
    "envelope_json",
    "event_digest",
    "event_json",
    "host_id",
    "js_json",
    "key_id",
    "load_verify_keys",
    "open_discord_ingress",
    "parse_envelope",
    "parse_event",
    "parse_result",
    "prepare_discord_ingress",
    "request_digest",
    "result_json",
    "sign_body_request",
    "sign_permit",
    "turn_request_for",
    "turn_request_json",
    "verify_body_request",
]
