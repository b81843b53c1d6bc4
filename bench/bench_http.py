"""CPU of one HTTP poll over the primitives; durable admissions a second over polls a second."""

from harness import CONNECTIONS, Repeated, event, load, on_one_cpu, report, running_body
from primitives_alone import both

REQUESTS = 4_000
ROUNDS = 5


def cpu_of_a_poll() -> None:
    """How much a poll costs beside the cryptography it cannot do without."""
    cpu, sodium, openssl = [], [], []
    with on_one_cpu(), running_body() as body:
        known = event(0)
        load(body.port, body.envelopes([known]))
        for _ in range(ROUNDS):
            by_libsodium, by_openssl = both()
            sodium.append(by_libsodium)
            openssl.append(by_openssl)
            asked = body.envelopes([known] * REQUESTS)
            before = body.cpu()
            load(body.port, asked)
            cpu.append((body.cpu() - before) / REQUESTS)
    poll, reference, other = Repeated.of(cpu), Repeated.of(sodium), Repeated.of(openssl)
    report(
        "CPU of one HTTP poll / primitives",
        poll.median / reference.median,
        "≤ 2.0",
        f"{poll.median * 1e6:.0f} µs over {reference.median * 1e6:.0f} µs with libsodium's verify "
        f"({poll.median / other.median:.2f} over {other.median * 1e6:.0f} µs with OpenSSL's); "
        f"spread {poll.spread:.0%}, {reference.spread:.0%}",
    )


def admissions_over_polls() -> None:
    """What it costs that a delivery is durable, run and settled, and not only answered."""
    polls, admissions = [], []
    with running_body() as body:
        known = event(0)
        load(body.port, body.envelopes([known]))
        for round_ in range(ROUNDS):
            first = 1 + round_ * REQUESTS
            new = [event(n, n % CONNECTIONS) for n in range(first, first + REQUESTS)]
            polls.append(REQUESTS / load(body.port, body.envelopes([known] * REQUESTS)))
            admissions.append(REQUESTS / load(body.port, body.envelopes(new)))
    polled, admitted = Repeated.of(polls), Repeated.of(admissions)
    report(
        "durable admissions / polls",
        admitted.median / polled.median,
        "≥ 0.75",
        f"{admitted.median:.0f}/s over {polled.median:.0f}/s, {CONNECTIONS} connections, each "
        f"admission with its turn and settled; spread {admitted.spread:.0%}, {polled.spread:.0%}",
    )


if __name__ == "__main__":
    cpu_of_a_poll()
    admissions_over_polls()
