"""Arrays of NumPy to the screen beside memcpy: what `show` costs where the array is in memory of the host.

A frame reads the bytes of the array, and writes those of the RGBA picture, which cross to the display. Each is copied by one thread and by all of them. Rows take turns, so that drift hits all
alike; every row's pixels are compared first.
"""

import argparse
import json
import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import numpy

import pixelferry

SIZES = {"720p": (1280, 720), "1080p": (1920, 1080), "4K": (3840, 2160)}
# By name: dtype, channels, layout.
KINDS = {
    "float32 RGB": ("f4", 3, "HWC"),
    "float32 CHW": ("f4", 3, "CHW"),
    "float16 RGB": ("f2", 3, "HWC"),
    "uint8 RGB": ("u1", 3, "HWC"),
    "uint8 RGBA": ("u1", 4, "HWC"),
}


def quantile(values, part):
    values = sorted(values)
    return values[min(int(part * len(values)), len(values) - 1)]


def noise(kind, width, height):
    dtype, channels, layout = KINDS[kind]
    shape = (height, width, channels) if layout == "HWC" else (channels, height, width)
    random = numpy.random.default_rng(0)
    if dtype == "u1":
        return random.integers(0, 256, shape, "u1")
    return random.random(shape, "f4").astype(dtype)


def expected(array, kind):
    """RGBA bytes by the definition."""
    _, channels, layout = KINDS[kind]
    if layout == "CHW":
        array = array.transpose(1, 2, 0)
    out = numpy.full((*array.shape[:2], 4), 255, "u1")
    if array.dtype == numpy.uint8:
        out[:, :, :channels] = array
    else:
        out[:, :, :channels] = (numpy.clip(array.astype("f4"), 0, 1) * numpy.float32(255) + numpy.float32(0.5)).astype("u1")
    return out


class Copy:
    """memcpy of so many bytes, by so many threads."""

    def __init__(self, name, count, pool, threads):
        self.name, self.path = f"memcpy, {name}, {threads} thread{'s' if threads > 1 else ''}", ""
        source, target = (numpy.full(count, fill, "u1") for fill in (1, 2))
        cuts = [count * part // threads for part in range(threads + 1)]
        self.parts = [(target[a:b], source[a:b]) for a, b in zip(cuts, cuts[1:])]
        self.pool = pool

    def frame(self):
        if len(self.parts) == 1:
            numpy.copyto(*self.parts[0])
        else:
            list(self.pool.map(lambda part: numpy.copyto(*part), self.parts))


class Show:
    def __init__(self, name, array, kind, width, height, **options):
        self.name, self.array, self.layout = name, array, KINDS[kind][2]
        self.viewer = pixelferry.Viewer(width, height, headless=True, **options)
        for _ in range(3):
            self.frame()
        wrong = numpy.count_nonzero(numpy.asarray(self.viewer.screenshot()) != expected(array, kind))
        self.path = self.viewer.path + (f", WRONG: {wrong} bytes" if wrong else ", pixels right")

    def frame(self):
        self.viewer.show(self.array, layout=self.layout)
        self.viewer.finish()


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--json", metavar="FILE", help="raw samples")
    arguments.add_argument("--size", choices=SIZES, default="4K")
    arguments.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    arguments.add_argument("--displays", nargs="+", default=["memory", "gl"],
                           help="memory: conversion alone; gl: with the way to the GPU and a draw")
    arguments.add_argument("--frames", type=int, default=10, help="of a row's turn")
    arguments.add_argument("--rounds", type=int, default=10)
    options = arguments.parse_args()
    width, height = SIZES[options.size]
    threads = len(os.sched_getaffinity(0))
    pool = ThreadPoolExecutor(threads)
    print(f"pixelferry {pixelferry.__version__}, NumPy {numpy.__version__}, {threads} threads, load {os.getloadavg()[0]:.1f}")
    out = open(options.json, "w", encoding="utf-8") if options.json else None
    for kind in options.kinds:
        array = noise(kind, width, height)
        rows = []
        for many in sorted({1, threads}):
            rows += [Copy("the picture", width * height * 4, pool, many), Copy("the array", array.nbytes, pool, many)]
        for display in options.displays:
            try:
                rows.append(Show(f"pixelferry, display={display!r}", array, kind, width, height, display=display))
            except pixelferry.Error as why:
                print(f"{kind:<12} display={display!r} is not there: {why}")
        samples = {row.name: [] for row in rows}
        for _ in range(options.rounds):
            for row in rows:
                row.frame()
                for _ in range(options.frames):
                    start = time.perf_counter()
                    row.frame()
                    samples[row.name].append((time.perf_counter() - start) * 1e6)
        floor = {which: quantile(samples[f"memcpy, {which}, {threads} thread{'s' if threads > 1 else ''}"], 0.5)
                 for which in ("the picture", "the array")}
        for row in rows:
            values = samples[row.name]
            median, worst = quantile(values, 0.5), quantile(values, 0.99)
            print(f"{kind:<12} {row.name:<36} median {median:9.1f} us, p99 {worst:9.1f}, n {len(values):4}, "
                  f"{median / floor['the picture']:6.2f} x picture, {median / floor['the array']:6.2f} x array  {row.path}",
                  flush=True)
            if out:
                out.write(json.dumps({"kind": kind, "row": row.name, "size": options.size, "threads": threads, "path": row.path,
                                      "median_us": round(median, 1), "p99_us": round(worst, 1),
                                      "samples": [round(value, 1) for value in values]}) + "\n")
        for row in rows:
            if isinstance(row, Show):
                row.viewer.close()
    if out:
        out.close()


if __name__ == "__main__":
    sys.exit(main())
