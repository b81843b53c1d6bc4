"""CPU of open + digest + seal_response over the raw primitives alone, in one process."""

import time

from clankie.protocol import (
    Ed25519PrivateKey,
    P256PrivateKey,
    Reply,
    VerifyKeys,
    envelope_json,
    open_discord_ingress,
    prepare_discord_ingress,
    sign_permit,
)
from clankie.protocol.base64url import encode
from harness import INSTALLATION, TENANT, Repeated, cpu_seconds, event, report
from primitives_alone import TIMES, with_libsodium, with_openssl

ROUNDS = 11


def main() -> None:
    fleet, body = Ed25519PrivateKey.generate(), P256PrivateKey.generate()
    keys = VerifyKeys([fleet.public_key()])
    now_ms = time.time_ns() // 1_000_000
    prepared = prepare_discord_ingress(event(1), encode(body.public_point()))
    permit = sign_permit(
        fleet,
        tenant_id=TENANT,
        installation_id=INSTALLATION,
        digest=prepared.digest,
        now_ms=now_ms,
    )
    text = envelope_json(prepared.seal(permit).envelope)
    answer = Reply("It is raining here, and has been since the morning. Take an umbrella with you.")

    def work() -> None:
        opened = open_discord_ingress(
            text,
            tenant_id=TENANT,
            installation_id=INSTALLATION,
            private_key=body,
            verify_keys=keys,
            now_ms=now_ms,
        )
        opened.seal_response(answer)

    ours, sodium, openssl = [], [], []
    libsodium_alone, openssl_alone = with_libsodium(), with_openssl()
    for _ in range(ROUNDS):  # in turn, so that a slow moment of the machine slows them alike
        ours.append(cpu_seconds(work, TIMES) * 1e6)
        sodium.append(cpu_seconds(libsodium_alone, TIMES) * 1e6)
        openssl.append(cpu_seconds(openssl_alone, TIMES) * 1e6)
    mine, reference, other = Repeated.of(ours), Repeated.of(sodium), Repeated.of(openssl)
    report(
        "open+digest+seal / primitives",
        mine.median / reference.median,
        "≤ 1.35",
        f"{mine.median:.0f} µs over {reference.median:.0f} µs with libsodium's verify "
        f"({mine.median / other.median:.2f} over {other.median:.0f} µs with OpenSSL's); "
        f"spread {mine.spread:.0%}, {reference.spread:.0%}",
    )


if __name__ == "__main__":
    main()
