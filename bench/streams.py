#!/usr/bin/env python3
"""Frames of PyTorch from one process to another on one GPU, beside a copy of the same bytes within one process.

    python3 bench/streams.py [--size 3840x2160] [--frames 2000] [--compared 100000] [--json FILE]

Rows, in microseconds:
  copy           one process: `to.copy_(tensor)`, and the host waits until it is done
  publish        `publisher.publish(tensor)` while the other process takes each newest frame
  latency        from before `publish` until the other process has the tensor; a frame each 5 ms
  take           `torch.from_dlpack(subscriber.next())` where a newer frame is there already
Then it compares frames by sums over all bytes, of each frame that the other process gets, and kills each side.
"""

import argparse
import json
import os
import select
import signal
import subprocess
import sys
import time

import torch

import pixelferry

# Frames follow each other in these numbers' order, so that a frame of another time is seen.
BASE = 251


def number_of(tensor):
    """The number that every byte of a frame has, or None where they differ."""
    words = tensor.reshape(-1).view(torch.int64)
    low, high = words.min().item(), words.max().item()
    byte = low & 0xFF
    return byte if low == high and low & 0xFFFFFFFFFFFFFFFF == byte * 0x0101010101010101 else None


def publisher(name, width, height, frames, pace):
    """Publishes frames; writes the times of the calls to standard output."""
    tensor = torch.empty((height, width, 4), dtype=torch.uint8, device="cuda")
    with pixelferry.Publisher(name, device="cuda") as stream:
        tensor.fill_(0)
        stream.publish(tensor)
        print("open", flush=True)
        # The subscriber is there.
        assert sys.stdin.readline() == "go\n"
        times = []
        for frame in range(2, frames + 2):
            tensor.fill_(frame % BASE)
            torch.cuda.synchronize()
            began = time.monotonic_ns()
            number = stream.publish(tensor)
            times.append((number, began, time.monotonic_ns()))
            if pace:
                time.sleep(pace)
        print(json.dumps({"path": stream.path, "times": times}), flush=True)
        sys.stdin.readline()


class Child:
    def __init__(self, arguments, *numbers):
        self.name = f"bench-{os.getpid()}-{time.monotonic_ns()}"
        size = f"{arguments.width}x{arguments.height}"
        command = [sys.executable, __file__, "--publish", self.name, "--size", size, *map(str, numbers)]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "open\n"

    def go(self):
        self.process.stdin.write("go\n")
        self.process.stdin.flush()

    def ended(self):
        found = json.loads(self.process.stdout.readline())
        self.process.stdin.close()
        self.process.wait()
        return found


def described(row, samples):
    ordered = sorted(samples)
    at = lambda part: ordered[min(len(ordered) - 1, int(part * len(ordered)))]
    print(f"{row:10} median {at(0.5):8.1f}  p99 {at(0.99):8.1f}  of {len(ordered)}", flush=True)
    return {"row": row, "median": at(0.5), "p99": at(0.99), "microseconds": [round(sample, 2) for sample in samples]}


def copies(arguments):
    tensor = torch.ones((arguments.height, arguments.width, 4), dtype=torch.uint8, device="cuda")
    to, samples = torch.empty_like(tensor), []
    for _ in range(arguments.frames):
        torch.cuda.synchronize()
        began = time.monotonic_ns()
        to.copy_(tensor)
        torch.cuda.synchronize()
        samples.append((time.monotonic_ns() - began) / 1e3)
    return samples[arguments.frames // 10:]


def received(arguments, frames, pace, compares):
    """Returns the times of the calls, of the arrivals and of taking, and how many frames were compared."""
    child = Child(arguments, frames, pace)
    with pixelferry.Subscriber(child.name, device="cuda") as stream:
        first = torch.from_dlpack(stream.next(60))
        assert number_of(first) == 0, "another first frame"
        child.go()
        arrived, takes, wrong, last = {}, [], 0, 0
        while last < frames + 1:
            began = time.monotonic_ns()
            tensor = torch.from_dlpack(stream.next(60))
            now = time.monotonic_ns()
            takes.append((now - began) / 1e3)
            arrived[stream.number], last = now, stream.number
            if compares:
                wrong += number_of(tensor) != stream.number % BASE
        path = stream.path
    found = child.ended()
    assert number_of(first) == 0, "a tensor that was kept has changed"
    published = [(end - began) / 1e3 for _, began, end in found["times"]]
    latency = [(arrived[n] - began) / 1e3 for n, began, _ in found["times"] if n in arrived]
    return {"path": (found["path"], path), "publish": published, "latency": latency, "take": takes,
            "frames": len(arrived), "wrong": wrong}


def killed(arguments):
    """Kills the publisher, then a subscriber that holds frames; returns what happened."""
    child = Child(arguments, 10**9, 0)
    with pixelferry.Subscriber(child.name, device="cuda") as stream:
        child.go()
        kept = [torch.from_dlpack(frame) for frame in (stream.next(60) for _ in range(10))]
        numbers = [number_of(tensor) for tensor in kept]
        child.process.send_signal(signal.SIGKILL)
        last = None
        for frame in stream:
            last = torch.from_dlpack(frame)
        assert last is None or number_of(last) is not None, "a torn last frame"
        assert [number_of(tensor) for tensor in kept] == numbers and None not in numbers, "kept tensors have changed"
    child.process.wait()
    takes = """
import sys, torch, pixelferry
stream = pixelferry.Subscriber(sys.argv[1], device="cuda")
kept = [torch.from_dlpack(stream.next(60)) for _ in range(8)]
print("kept", flush=True)
sys.stdin.readline()
"""
    name = f"bench-{os.getpid()}-killed"
    tensor = torch.zeros((arguments.height, arguments.width, 4), dtype=torch.uint8, device="cuda")
    with pixelferry.Publisher(name, device="cuda") as stream:
        free = []
        for _ in range(5):
            command = [sys.executable, "-c", takes, name]
            other = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
            while not select.select([other.stdout], [], [], 0.002)[0]:
                stream.publish(tensor)
            assert other.stdout.readline() == "kept\n", "the subscriber has failed"
            other.kill()
            other.wait()
            while stream.subscribers:
                time.sleep(0.01)
            for _ in range(100):
                stream.publish(tensor)
            torch.cuda.synchronize()
            free.append(torch.cuda.mem_get_info()[0])
        print(f"free memory after each killed subscriber: {free}", flush=True)
    return free


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", default="3840x2160")
    parser.add_argument("--frames", type=int, default=2000)
    parser.add_argument("--compared", type=int, default=100_000)
    parser.add_argument("--json")
    parser.add_argument("--publish", help=argparse.SUPPRESS)
    parser.add_argument("numbers", nargs="*", type=float, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    arguments.width, arguments.height = map(int, arguments.size.split("x"))
    if arguments.publish:
        frames, pace = arguments.numbers
        return publisher(arguments.publish, arguments.width, arguments.height, int(frames), pace)
    print(f"{torch.cuda.get_device_name()}, {arguments.size}, PyTorch {torch.__version__}", flush=True)
    rows = [described("copy", copies(arguments))]
    quick = received(arguments, arguments.frames, 0, False)
    print(f"paths: {quick['path']}; {quick['frames']} of {arguments.frames} frames were taken", flush=True)
    rows += [described(row, quick[row]) for row in ("publish", "take")]
    paced = received(arguments, min(arguments.frames, 1000), 0.005, False)
    rows.append(described("latency", paced["latency"]))
    compared = received(arguments, arguments.compared, 0, True)
    print(f"compared: {compared['frames']} of {arguments.compared} frames were taken, {compared['wrong']} wrong", flush=True)
    rows.append(described("publish, compared", compared["publish"]))
    killed(arguments)
    if arguments.json:
        with open(arguments.json, "w", encoding="utf-8") as file:
            for row in rows:
                row |= {"device": torch.cuda.get_device_name(), "size": arguments.size, "path": quick["path"]}
                print(json.dumps(row), file=file)
    return 1 if compared["wrong"] else 0


if __name__ == "__main__":
    sys.exit(main())
