"""Waits that the load of the machine does not break. `crates/support/testing/src/patience.rs` has the same rule."""

import os
import subprocess
import time


def by_level(short, full):
    """How often, by `PIXELFERRY_TESTS` as `crates/support/testing/src/level.rs` reads it."""
    return short if os.environ.get("PIXELFERRY_TESTS", "") in ("", "short") else full


def pairs(first, second):
    """Every pair; at the shortest level each value in one or more of them."""
    if by_level(False, True):
        return [(a, b) for a in first for b in second]
    return [(first[n % len(first)], second[n % len(second)]) for n in range(max(len(first), len(second)))]


# Paths are timed by the tests that are about the choice; elsewhere the shortest level takes the first that works.
if by_level(True, False):
    os.environ.setdefault("PIXELFERRY_CALIBRATE_MS", "0")


def turns():
    """Goes on for ten minutes of an idle machine; beside other work a minute counts for less."""
    spent, seen = 0.0, time.monotonic()
    while spent < 600:
        yield
        now = time.monotonic()
        spent += min(now - seen, 60) / max(os.getloadavg()[0] / len(os.sched_getaffinity(0)), 1)
        seen = now


def wait_for(what):
    """True as soon as it is; false where it hangs."""
    for _ in turns():
        if what():
            return True
        time.sleep(0.01)
    return False


def run(command, **options):
    """As subprocess.run does, with what the process prints."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, **pipes, **options) as process:
        for _ in turns():
            try:
                out, err = process.communicate(timeout=1)
                return subprocess.CompletedProcess(command, process.returncode, out, err)
            except subprocess.TimeoutExpired:
                pass
        process.kill()
        raise AssertionError(f"it hangs: {process.communicate()}")
