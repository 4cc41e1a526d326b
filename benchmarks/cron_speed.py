"""Compare the speed of our cron expressions with cronsim and croniter, in one process and one run.

    python benchmarks/cron_speed.py [--fires 2000] [--rounds 5]

Walked is the time per next fire time from 2026-01-01 on. Parsed is the time to make an expression from a text that was
never seen before (ours remembers texts; the fields of an expression, which texts share, are then forgotten as well).
Again is the time to make one whose text was seen. The best round counts; ratios above 1 mean that ours is faster. Ends
with status 1 when a ratio is below what is promised: 1 against cronsim and 5 against croniter for walking, 1 against
croniter for parsing.
"""

import argparse
import sys
import time
from datetime import UTC, datetime
from importlib.metadata import version
from zoneinfo import ZoneInfo

from croniter import croniter
from cronsim import CronSim

from quartzite.cron import CronExpression, grammar, items

# name, zone, Unix (with seconds in front where needed), Quartz
EXPRESSIONS = [
    ("5s", "UTC", "*/5 * * * * *", "*/5 * * * * ?"),
    ("15min", "UTC", "*/15 * * * *", "0 */15 * * * ?"),
    ("weekday_ny", "America/New_York", "30 9 * * 1-5", "0 30 9 ? * MON-FRI"),
    ("last_day", "UTC", "0 0 L * *", "0 0 0 L * ?"),
    ("feb29", "UTC", "0 0 29 2 *", "0 0 0 29 2 ?"),
    ("noon_1/5", "UTC", "0 12 1/5 * *", "0 0 12 1/5 * ?"),
]
START = datetime(2026, 1, 1, tzinfo=UTC)
PROMISED = {("walked", "cronsim"): 1.0, ("walked", "croniter"): 5.0, ("parsed", "croniter"): 1.0}


def forget():
    for cached in (grammar.read, grammar._day_table, items.numbers, items.days_of_month, items.days_of_week):
        cached.cache_clear()


def stepper(library, zone, unix, quartz):
    start = START.astimezone(ZoneInfo(zone))
    if library == "cronsim":
        return CronSim(unix, start).__next__
    if library == "croniter":
        fires = croniter(unix, start, second_at_beginning=True)
        return lambda: fires.get_next(datetime)
    expression, at = CronExpression(quartz, zone), start

    def step():
        nonlocal at
        at = expression.next_after(at)
        return at

    return step


def walked(library, fires, expression):
    step = stepper(library, *expression)
    began = time.perf_counter()
    for _ in range(fires):
        step()
    return (time.perf_counter() - began) / fires


def parsed(library, count, expression, *, seen=False):
    zone, unix, quartz = expression
    start = START.astimezone(ZoneInfo(zone))
    makers = {
        "cronsim": lambda: CronSim(unix, start),
        "croniter": lambda: croniter(unix, start, second_at_beginning=True),
        "ours": lambda: CronExpression(quartz, zone),
    }
    make, total = makers[library], 0.0
    for _ in range(count):
        if library == "ours" and not seen:
            forget()
        began = time.perf_counter()
        make()
        total += time.perf_counter() - began
    return total / count


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("--fires", type=int, default=2000)
    ap.add_argument("--rounds", type=int, default=5)
    args = ap.parse_args()
    print(
        f"croniter {version('croniter')}, cronsim {version('cronsim')}, Python {sys.version.split()[0]}; microseconds"
    )
    print(f"{'':<12}{'':<8}{'ours':>9}{'cronsim':>9}{'croniter':>9}   {'x cronsim':>9} {'x croniter':>10}")
    missed = []
    for name, *expression in EXPRESSIONS:
        fires = 200 if name == "feb29" else args.fires
        measures = {
            "walked": lambda library, n=fires, e=expression: walked(library, n, e),
            "parsed": lambda library, e=expression: parsed(library, 200, e),
            "again": lambda library, e=expression: parsed(library, 200, e, seen=True),
        }
        for what, measure in measures.items():
            best = {
                library: min(measure(library) for _ in range(args.rounds))
                for library in ("ours", "cronsim", "croniter")
            }
            ratios = {library: best[library] / best["ours"] for library in ("cronsim", "croniter")}
            times = "".join(f"{seconds * 1e6:>9.2f}" for seconds in best.values())
            print(f"{name:<12}{what:<8}{times}   {ratios['cronsim']:>9.1f} {ratios['croniter']:>10.1f}")
            missed += [
                f"{name}: {what} {ratios[library]:.2f} times as fast as {library}, promised {least}"
                for (measured, library), least in PROMISED.items()
                if measured == what and ratios[library] < least
            ]
    print("\n".join(missed) or "all promises kept")
    sys.exit(bool(missed))


if __name__ == "__main__":
    main()
