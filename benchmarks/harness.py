"""What a benchmark file needs: sizes, fresh processes, quiet moments, and one JSON line per figure.

Standard library only. A line has the keys ``peer``, ``workload``, ``metric``, ``value`` (the median of the runs),
``unit`` and ``runs``, so that lines of several programs can be compared with one tool. The figure ``others`` is what
other processes used of the machine during the runs, in percent: with a high one the figures beside it mean nothing.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

N_BURST = int(os.environ.get("BENCH_N_BURST", "10000"))  # W1: triggers, all due
N_IDLE = int(os.environ.get("BENCH_N_IDLE", "100000"))  # W2: triggers, none due
N_DUE = 1000  # W2: due triggers beside them
N_LATE = 20  # W5: triggers of one second
SECS_LATE = int(os.environ.get("BENCH_SECS_LATE", "20"))  # W5: seconds

QUIET = float(os.environ.get("BENCH_QUIET", "8"))  # a run is good when others used less, in percent of the machine
QUIET_WAIT = float(os.environ.get("BENCH_QUIET_WAIT", "30"))  # seconds to wait for such a moment before a run

Figures = dict[str, tuple[float, str]]
Workload = Callable[[], Figures]

_CHILD = "--node"
_TICKS = os.sysconf("SC_CLK_TCK")
_PAGE = os.sysconf("SC_PAGE_SIZE")


# ----------------------------------------------------------------------------------------------------- the program
def main(peer: str, workloads: dict[str, list[tuple[str, Workload]]]) -> None:
    """Run the workloads that the command line names and print their figures.

    Args:
        peer: The name that the lines carry, before the variant.
        workloads: For each workload its variants, as name and a function that does one run.
    """
    options = argparse.ArgumentParser(description=f"Measures {peer}.")
    options.add_argument("workloads", nargs="*", default=list(workloads), help="W1, W2 ... (default: all)")
    options.add_argument("--runs", type=int, default=3, help="runs of which the median counts")
    options.add_argument("--variant", default="", help="only the variants whose name holds this text")
    chosen = options.parse_args()
    for workload in chosen.workloads:
        for variant, run in workloads.get(workload, []):
            if chosen.variant in variant:
                _report(f"{peer} {variant}", workload, _repeat(run, chosen.runs, f"{peer} {variant} {workload}"))


def _repeat(run: Workload, wanted: int, title: str) -> list[Figures]:
    """Do runs until enough of them were quiet, twice as many at most; return the quietest."""
    done: list[Figures] = []
    for _ in range(2 * wanted):
        _wait_for_quiet()
        load = _Load()
        try:
            figures = run()
        except Exception as error:  # the next workload may still be measured
            print(f"{title}: {type(error).__name__}: {error}", file=sys.stderr)
            break
        done.append(figures | {"others": (load.of_others(), "%")})
        if sum(figures["others"][0] < QUIET for figures in done) >= wanted:
            break
    return sorted(done, key=lambda figures: figures["others"][0])[:wanted]


def _report(peer: str, workload: str, runs: list[Figures]) -> None:
    metrics = {(metric, unit) for figures in runs for metric, (_, unit) in figures.items()}
    order = [(metric, unit) for metric, (_, unit) in (runs[0].items() if runs else ())]
    for metric, unit in order + sorted(metrics - set(order)):
        values = [round(figures[metric][0], 3) for figures in runs if metric in figures]
        line = {"peer": peer, "workload": workload, "metric": metric, "value": round(statistics.median(values), 3)}
        print(json.dumps(line | {"unit": unit, "runs": values}), flush=True)


# ------------------------------------------------------------------------------------------------- fresh processes
def child(*arguments: object) -> list[str]:
    """Return the command that runs the calling file again as a child, with these arguments."""
    return [sys.executable, str(Path(sys.argv[0]).resolve()), _CHILD, *map(str, arguments)]


def node_args() -> list[str] | None:
    """Return a child's arguments, or None in the program that the user started."""
    return sys.argv[2:] if sys.argv[1:2] == [_CHILD] else None


def solo(command: list[str]) -> Figures:
    """Run a child to its end and return the figures it printed, with its CPU time and its largest memory."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise RuntimeError(f"a child ended with {process.returncode}: {output[-300:]}")
    figures: Figures = {name: (value, unit) for name, (value, unit) in json.loads(output.splitlines()[-1]).items()}
    figures["cpu"] = (usage.ru_utime + usage.ru_stime, "s")
    figures["rss_peak"] = (usage.ru_maxrss / 1024, "MiB")
    return figures


def result(**figures: list[object]) -> None:
    """Print a child's figures, each ``[value, unit]``."""
    print(json.dumps(figures), flush=True)


# ----------------------------------------------------------------------------------------------------- the machine
def rss_now() -> int:
    """Return the memory that this process holds now, in bytes."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * _PAGE


class _Load:
    """How busy the machine has been since this object was made, beside our own processes."""

    def __init__(self) -> None:
        self._at, self._busy, self._own = time.monotonic(), _busy_seconds(), _own_seconds()

    def of_others(self) -> float:
        """Return the share of the machine that others used, in percent."""
        capacity = (time.monotonic() - self._at) * (os.cpu_count() or 1)
        others = (_busy_seconds() - self._busy) - (_own_seconds() - self._own)
        return max(0.0, 100 * others / capacity)


def _busy_seconds() -> float:
    """CPU seconds that anyone used since the machine started; what a hypervisor took away counts as used."""
    user, nice, system, _idle, _wait, irq, soft, steal = map(int, Path("/proc/stat").read_text().split()[1:9])
    return (user + nice + system + irq + soft + steal) / _TICKS


def _own_seconds() -> float:
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system


def _wait_for_quiet() -> None:
    end = time.monotonic() + QUIET_WAIT
    while time.monotonic() < end:
        load = _Load()
        time.sleep(1)
        if load.of_others() < QUIET:
            return


# --------------------------------------------------------------------------------------------------------- figures
def late_metrics(delays: Iterable[float]) -> dict[str, list[object]]:
    """Return the percentiles of delays, which are in milliseconds, as figures of W5."""
    ordered = sorted(delays)
    shares = {"p50": 0.50, "p95": 0.95, "p99": 0.99}
    at = {name: ordered[min(len(ordered) - 1, int(share * len(ordered)))] for name, share in shares.items()}
    figures: dict[str, list[object]] = {f"late_{name}": [value, "ms"] for name, value in at.items()}
    return figures | {"late_max": [ordered[-1], "ms"], "late_count": [len(ordered), "fires"]}
