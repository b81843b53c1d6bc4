"""CPU of one HTTP poll over the primitives; durable admissions a second over polls a second."""

from harness import CONNECTIONS, Repeated, event, load, report, running_body
from primitives_alone import both

REQUESTS = 4_000
ROUNDS = 5


def main() -> None:
    cpu, polls, admissions, sodium, openssl = [], [], [], [], []
    with running_body() as body:
        number = 0
        known = event(number)
        load(body.port, body.envelopes([known]))
        for _ in range(ROUNDS):
            by_libsodium, by_openssl = both()
            sodium.append(by_libsodium)
            openssl.append(by_openssl)
            asked = body.envelopes([known] * REQUESTS)
            new = body.envelopes(
                [event(n, n % CONNECTIONS) for n in range(number + 1, number + 1 + REQUESTS)]
            )
            number += REQUESTS
            before = body.cpu()
            polls.append(REQUESTS / load(body.port, asked))
            cpu.append((body.cpu() - before) / REQUESTS)
            admissions.append(REQUESTS / load(body.port, new))
    poll, reference, other = Repeated.of(cpu), Repeated.of(sodium), Repeated.of(openssl)
    report(
        "CPU of one HTTP poll / primitives",
        poll.median / reference.median,
        "≤ 2.0",
        f"{poll.median * 1e6:.0f} µs over {reference.median * 1e6:.0f} µs with libsodium's verify "
        f"({poll.median / other.median:.2f} over {other.median * 1e6:.0f} µs with OpenSSL's); "
        f"spread {poll.spread:.0%}, {reference.spread:.0%}",
    )
    polled, admitted = Repeated.of(polls), Repeated.of(admissions)
    report(
        "durable admissions / polls",
        admitted.median / polled.median,
        "≥ 0.75",
        f"{admitted.median:.0f}/s over {polled.median:.0f}/s, {CONNECTIONS} connections, each "
        f"admission with its turn and settled; spread {admitted.spread:.0%}, {polled.spread:.0%}",
    )


if __name__ == "__main__":
    main()
