"""The default choice beside every backend that can be forced: arrays in `Viewer.show`.

Each cell is an array (dtype, size, layout, and the memory that it lies in), shown by `show(array); finish()`; of a stream's frames
publishing and taking one is timed with it. All viewers were opened once before, as the first one would compile for the others. The default
viewer then starts on a machine that remembers nothing: its first 60 frames are added up, and it goes on until all is compared, 8 s at most.
A backend whose first frames take less than three times as long as those of the best is given the same. All then start once more, which now
remember, and take turns, so that drift of the machine hits all alike; every few rounds those that matter are opened again. A round gives
the ratio of the default to the best forced backend; a cell is decided when the 95 % interval of the median of those ratios lies on one side
of 1, or within 5 % of it. Prints a line of JSON for each cell, with raw samples.
"""

import argparse
import json
import os
import random
import shutil
import statistics
import sys
import tempfile
import time

import numpy

import pixelferry

SIZES = {"480p": (640, 480), "1080p": (1920, 1080), "4K": (3840, 2160)}
FIRST = 60
# Rounds after which viewers are opened again: where a driver puts the memory of one, and the system its threads, costs up to 20 %.
AGAIN = 4
# Longest comparison, seconds, unless `--comparing` says another.
COMPARING = 8
# One that takes so many times as long as the best has fewer turns, as its frames cost the time of all.
FAR = 3
# By name: dtype, channels, layout in memory.
HOST = {
    "uint8 RGBA": ("u1", 4, "C"),
    "float32 RGB": ("f4", 3, "C"),
    "float16 RGBA": ("f2", 4, "C"),
    "float64 grey": ("f8", 1, "C"),
    "uint16 RGB": ("u2", 3, "C"),
    "uint8 RGB": ("u1", 3, "C"),
    "uint8 RGBA strided": ("u1", 4, "strided"),
    "float32 RGB Fortran": ("f4", 3, "F"),
    "float32 RGB big-endian": ("f4", 3, "big"),
    "float32 grey viridis": ("f4", 1, "C"),
}
# Options of `show`, by the end of a name.
OPTIONS = {"viridis": {"colormap": "viridis", "range": (0, 1)}}
CUDA = {"uint8 RGBA": "uint8", "float32 RGBA": "float32", "bfloat16 RGBA": "bfloat16"}


def host_array(kind, width, height):
    dtype, channels, memory = HOST[kind]
    dtype = numpy.dtype(dtype)
    shape = (height, width) if channels == 1 else (height, width, channels)
    if memory == "strided":
        shape = (height, 2 * width, channels)
    source = numpy.random.default_rng(0)
    if dtype.kind == "f":
        array = source.random(shape, "f4").astype(dtype)
    else:
        array = source.integers(0, numpy.iinfo(dtype).max, shape, dtype)
    if memory == "strided":
        return array[:, ::2]
    if memory == "big":
        return array.astype(dtype.newbyteorder(">"))
    return numpy.asfortranarray(array) if memory == "F" else array


def cuda_array(kind, width, height, device):
    import torch

    array = torch.rand((height, width, 4), device=device)
    if CUDA[kind] == "uint8":
        return (array * 255).to(torch.uint8)
    return array.to(getattr(torch, CUDA[kind]))


class Stream:
    """Frames of a stream: each call publishes one and takes it."""

    def __init__(self, array):
        self.array = array
        self.publisher = pixelferry.Publisher(f"defaults-{os.getpid()}")
        self.publisher.publish(array)
        self.subscriber = pixelferry.Subscriber(self.publisher.name)

    def __call__(self):
        self.publisher.publish(self.array)
        return self.subscriber.next()

    def close(self):
        self.subscriber.close()
        self.publisher.close()


def interval(samples):
    """95 % of the median, by ranks of the binomial distribution."""
    ordered, count = sorted(samples), len(samples)
    reach = 1.96 * count**0.5 / 2
    low, high = int(count / 2 - reach), int(count / 2 + reach)
    return [ordered[max(low, 0)], ordered[min(high, count - 1)]]


class Shown:
    """One viewer that shows the array of a cell."""

    comparing = COMPARING

    def __init__(self, backend, array, width, height, options, profiles, frames=FIRST):
        self.backend, self.array, self.size, self.options, self.profiles = backend, array, (width, height), options, profiles
        # Seconds by their round.
        self.samples, self.error, self.viewer = {}, None, None
        try:
            self.open()
            self.first = sum(self.frame() for _ in range(frames))
        except Exception as error:  # noqa: BLE001 - a backend that is missing is a row of the result
            self.error = str(error).splitlines()[0]

    def open(self):
        os.environ["PIXELFERRY_PROFILES"] = self.profiles
        backend = None if self.backend == "default" else self.backend
        self.viewer = pixelferry.Viewer(*self.size, headless=True, backend=backend)

    def again(self):
        self.close()
        self.open()
        for _ in range(FIRST // 2):
            self.frame()

    def frame(self):
        begun = time.perf_counter()
        self.viewer.show(self.array() if callable(self.array) else self.array, **self.options)
        self.viewer.finish()
        return time.perf_counter() - begun

    def compare(self):
        """Shows frames until all is compared; microseconds of each."""
        begun, frames = time.perf_counter(), []
        while time.perf_counter() - begun < self.comparing and "by the cost model" in self.viewer.explain():
            frames += [1e6 * self.frame() for _ in range(20)]
        return frames

    def close(self):
        if self.viewer:
            self.viewer.close()

    def turn(self):
        # Threads that slept meanwhile wake up.
        for _ in range(5):
            self.frame()
        return statistics.median(self.frame() for _ in range(15))

    def row(self):
        if self.error:
            return {"error": self.error}
        samples = [1e6 * sample for sample in self.samples.values()]
        return {
            "median_us": statistics.median(samples),
            "p99_us": sorted(samples)[int(0.99 * (len(samples) - 1))],
            "first_ms": 1e3 * self.first,
            "path": self.viewer.path,
            "samples_us": [round(sample, 1) for sample in samples],
        }


def settled(backend, array, width, height, options, folder):
    """A start that remembers nothing, until all is compared, and its frames until then."""
    fresh = Shown(backend, array, width, height, options, folder)
    comparing = fresh.compare() if fresh.error is None else []
    return fresh, comparing


def measure(name, array, width, height, backends, rounds):
    options = OPTIONS.get(name.split()[-1], {})
    # The first one would compile for the others.
    for backend in ["default", *backends]:
        Shown(backend, array, width, height, options, "off", frames=1).close()
    begun = time.perf_counter()
    folders = {backend: tempfile.mkdtemp() for backend in ["default", *backends]}
    fresh, comparing = settled("default", array, width, height, options, folders["default"])
    compared = time.perf_counter() - begun
    told = fresh.viewer.explain() if fresh.error is None else ""
    fresh.close()
    firsts = {}
    for backend in backends:
        one = Shown(backend, array, width, height, options, "off")
        if one.error is None:
            firsts[backend] = one.first
        one.close()
    least = min(firsts.values(), default=0)
    near = [backend for backend in backends if firsts.get(backend, 1e9) <= FAR * least]
    for backend in near:
        settled(backend, array, width, height, options, folders[backend])[0].close()
    everyone = [Shown(backend, array, width, height, options, folders[backend]) for backend in ["default", *backends]]
    able = [one for one in everyone if one.error is None]
    for turn in range(rounds if able else 0):
        order = able[turn % len(able) :] + able[: turn % len(able)]
        for one in order[:: -1 if turn % 2 else 1]:
            is_near = one.backend == "default" or one.backend in near
            if is_near and turn and turn % AGAIN == 0:
                one.again()
            if is_near or turn % (rounds if one.first > 10 * FAR * least else 8) == 0:
                one.samples[turn] = one.turn()
    rows = {one.backend: one.row() for one in everyone}
    explained = able[0].viewer.explain() if able and able[0].backend == "default" else ""
    for one in able:
        one.close()
    for folder in folders.values():
        shutil.rmtree(folder)
    forced = {backend: row for backend, row in rows.items() if backend != "default" and "error" not in row}
    cell = {"work": name, "width": width, "height": height, "rows": rows, "explain": explained}
    if forced and "error" not in rows["default"]:
        best = min(forced, key=lambda backend: forced[backend]["median_us"])
        default, other = (next(one.samples for one in able if one.backend == name) for name in ("default", best))
        ratios = [default[turn] / other[turn] for turn in sorted(default.keys() & other.keys())]
        low, high = interval(ratios)
        cell |= {
            "best": best,
            "ratio": statistics.median(ratios),
            "interval": [low, high],
            "comparing_s": compared,
            "comparing_ratio": statistics.median(comparing) / rows[best]["median_us"] if comparing else None,
            "fresh": told,
            "first_ratio": fresh.first / least,
            "decided": low > 1 or high < 1 or (low > 0.95 and high < 1.05),
        }
    return cell


def works(options):
    """Names, arrays and sizes, one after the other, as all at once would not fit."""
    drawn = random.Random(options.seed) if options.seed is not None else None
    for size, (width, height) in SIZES.items():
        if drawn:
            width, height = drawn.randrange(width // 2, width), drawn.randrange(height // 2, height)
        if options.sizes and size not in options.sizes:
            continue
        for kind in drawn.sample(sorted(HOST), 4) if drawn else options.host:
            yield f"NumPy {kind}", host_array(kind, width, height), width, height, options.backends
        stream = Stream(host_array("uint8 RGBA", width, height))
        yield "stream of uint8 RGBA", stream, width, height, options.backends
        stream.close()
        for device in options.cuda:
            for kind in CUDA:
                yield f"torch {kind} on {device}", cuda_array(kind, width, height, device), width, height, ["cuda"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--backends", nargs="+", default=["cpu", "cuda", "opencl", "gl"], help="forced beside the default")
    parser.add_argument("--host", nargs="*", default=HOST, help=f"some of {', '.join(HOST)}")
    parser.add_argument("--cuda", nargs="*", default=[], help="devices of torch tensors, e.g. cuda:0 cuda:1")
    parser.add_argument("--sizes", nargs="*", help=f"some of {', '.join(SIZES)}")
    parser.add_argument("--rounds", type=int, default=24, help="turns of each viewer after its first frames")
    parser.add_argument("--seed", type=int, help="draws sizes and dtypes instead of the list")
    parser.add_argument("--comparing", type=float, default=COMPARING, help="longest comparison, seconds")
    options = parser.parse_args()
    Shown.comparing = options.comparing
    cells = []
    for name, array, width, height, backends in works(options):
        cell = measure(name, array, width, height, backends, options.rounds)
        cells.append(cell)
        print(json.dumps(cell), flush=True)
        medians = {who: row.get("error") or f"{row['median_us']:.0f}" for who, row in cell["rows"].items()}
        ratio = f"{cell['ratio']:.2f} first {cell['first_ratio']:.2f} comparing {cell['comparing_ratio'] or 0:.2f} for {cell['comparing_s']:.1f} s" if "ratio" in cell else "-"
        print(f"{name} {width}x{height}: {ratio} {medians}", file=sys.stderr, flush=True)
    decided = [cell for cell in cells if cell.get("decided")]
    near = sum(cell["ratio"] <= 1.05 for cell in decided)
    worst = max((cell["ratio"] for cell in decided), default=float("nan"))
    print(f"{len(cells)} cells, {len(decided)} decided, {near} within 1.05 of the best; worst {worst:.2f}", file=sys.stderr)


if __name__ == "__main__":
    main()
