"""Arrays from process to process: what is published is what a subscriber in another process gets, and what happens when either ends."""

import os
import signal
import subprocess
import sys
import threading

import numpy as np
import pytest

import pixelferry
from patience import wait_for

SOON = 60.0
PUBLISHES = """
import sys, time
import numpy as np
import pixelferry
name, dtype, shape = sys.argv[1], sys.argv[2], tuple(int(side) for side in sys.argv[3].split("x"))
with pixelferry.Publisher(name) as publisher:
    print("open", flush=True)
    for number in range(1, 1_000_000):
        array = np.full(shape, number % 100, dtype)
        array[0, 0] = 1
        assert publisher.publish(array) == publisher.number == number
        time.sleep(0.002)
"""


@pytest.fixture
def name(request):
    return f"py-{os.getpid()}-{abs(hash(request.node.name)) % 10**6}"


class Process:
    def __init__(self, name, dtype, shape):
        shape = "x".join(map(str, shape))
        command = [sys.executable, "-c", PUBLISHES, name, np.dtype(dtype).name, shape]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline() == "open\n"

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


@pytest.mark.parametrize("dtype, shape", [
    ("u1", (5, 7, 4)), ("u1", (5, 7)), ("u2", (3, 9)), ("f2", (4, 6, 2)), ("f4", (61, 253)), ("f4", (8, 8, 4)),
])
def test_arrays_come_as_they_are(name, dtype, shape):
    with Process(name, dtype, shape) as process, pixelferry.Subscriber(name) as subscriber:
        listed = next(stream for stream in pixelferry.streams() if stream["name"] == name)
        assert listed["process"] == process.process.pid and listed["program"]
        kept, numbers = [], []
        for frame in subscriber:
            kept.append((subscriber.number, frame))
            numbers.append(subscriber.number)
            if len(kept) == 20:
                break
        assert subscriber.path and numbers == sorted(set(numbers))
        # Each is a copy of its own.
        for number, frame in kept:
            expected = np.full(shape, number % 100, dtype)
            expected[0, 0] = 1
            array = np.asarray(frame)
            assert array.dtype == np.dtype(dtype)
            np.testing.assert_array_equal(array, expected)


def test_a_publisher_that_ends_is_said_and_another_may_follow(name):
    with pytest.raises(pixelferry.DeviceError, match="no process publishes it"):
        pixelferry.Subscriber(name)
    process = Process(name, "u1", (4, 4))
    subscriber = pixelferry.Subscriber(name)
    last = np.asarray(subscriber.next(SOON)).copy()
    assert (last[1:] == subscriber.number % 100).all()
    process.kill()
    # The last frame comes, unless it was taken; then nothing more does.
    for frame in subscriber:
        last = np.asarray(frame)
    assert (last[1:] == subscriber.number % 100).all()
    with pytest.raises(pixelferry.ClosedError, match="has ended"):
        subscriber.next(SOON)
    with Process(name, "u1", (4, 4)), pixelferry.Subscriber(name) as again:
        assert again.next(SOON) is not None
    subscriber.close()
    with pytest.raises(pixelferry.ClosedError, match="is closed"):
        subscriber.next(0)


def test_within_one_process(name):
    with pixelferry.Publisher(name) as publisher, pixelferry.Subscriber(name) as subscriber:
        assert subscriber.next(0) is None and subscriber.next(0.01) is None and publisher.number == 0
        assert wait_for(lambda: publisher.subscribers == 1)
        with pytest.raises(pixelferry.ShapeError, match="exists already"):
            pixelferry.Publisher(name)
        # Three channels have a fourth, rows may be apart, and doubles come as floats.
        source = np.arange(2 * 6 * 3, dtype="u1").reshape(2, 6, 3)
        publisher.publish(source[:, ::2])
        frame = np.asarray(subscriber.next(SOON))
        np.testing.assert_array_equal(frame[:, :, :3], source[:, ::2])
        assert (frame[:, :, 3] == 255).all() and publisher.path and "frame 1" in repr(subscriber)
        publisher.publish(np.full((3, 2), 0.1))
        np.testing.assert_array_equal(np.asarray(subscriber.next(SOON)), np.full((3, 2), 0.1, "f4"))
        publisher.publish(source.transpose(2, 0, 1), "CHW")
        np.testing.assert_array_equal(np.asarray(subscriber.next(SOON))[:, :, :3], source)
        with pytest.raises(pixelferry.DtypeError):
            publisher.publish("words")
        with pytest.raises(pixelferry.ShapeError):
            publisher.publish(np.zeros((2, 2, 5), "u1"))
    with pytest.raises(pixelferry.ClosedError, match="is closed"):
        publisher.publish(np.zeros((2, 2), "u1"))
    for wrong in ["", "a/b", ".a"]:
        with pytest.raises(pixelferry.ShapeError, match="invalid stream name"):
            pixelferry.Publisher(wrong)
    assert all(stream["name"] != name for stream in pixelferry.streams())


def test_a_format_that_is_asked_for(name):
    with pixelferry.Publisher(name, format="rgba8") as publisher, pixelferry.Subscriber(name) as subscriber:
        publisher.publish(np.array([[0.0, 0.5, 1.0]], "f4"))
        np.testing.assert_array_equal(np.asarray(subscriber.next(SOON))[0, :, 0], [0, 128, 255])
    with pytest.raises(pixelferry.ShapeError, match="format='blue'"):
        pixelferry.Publisher(name, format="blue")


def test_other_threads_run_while_one_waits(name):
    with pixelferry.Publisher(name) as publisher, pixelferry.Subscriber(name) as subscriber:
        got = []
        waits = threading.Thread(target=lambda: got.append(np.asarray(subscriber.next(SOON))))
        waits.start()
        publisher.publish(np.full((2, 2), 7, "u1"))
        waits.join()
        np.testing.assert_array_equal(got[0], np.full((2, 2), 7, "u1"))


def test_a_subscriber_that_pauses_gets_the_newest_of_hundreds_of_sizes(name):
    with pixelferry.Publisher(name) as publisher, pixelferry.Subscriber(name) as subscriber:
        publisher.publish(np.zeros((8, 8), "u1"))
        assert np.asarray(subscriber.next(SOON)).shape == (8, 8)
        for side in range(9, 309):
            publisher.publish(np.full((side, side), side % 256, "u1"))
        assert publisher.subscribers == 1
        frame = np.asarray(subscriber.next(SOON))
        assert frame.shape == (308, 308) and (frame == 308 % 256).all()
        publisher.publish(np.zeros((5, 5), "u1"))
        publisher.close()
        # The last one of a publisher that has ended, and then the end.
        assert [np.asarray(frame).shape for frame in subscriber] == [(5, 5)]


FORKS = """
import os, sys, time, gc
import numpy as np
import pixelferry
name, what = sys.argv[1:]
publisher, ready = pixelferry.Publisher(name), os.pipe()
publisher.publish(np.full((4, 4), 7, "u1"))
subscriber = pixelferry.Subscriber(name)
assert np.asarray(subscriber.next(60)).sum() == 7 * 16
child = os.fork()
if child == 0:
    for use in (lambda: publisher.publish(np.zeros((4, 4), "u1")), lambda: publisher.subscribers, lambda: subscriber.next(1),
                lambda: next(subscriber)):
        try:
            use()
        except pixelferry.ClosedError as error:
            assert "spawn" in str(error), error
        else:
            os._exit(1)
    assert "of another process" in repr(publisher)
    publisher.close()
    del publisher, subscriber, use
    gc.collect()
    os.write(ready[1], b"!")
    if what == "ends":
        # As a program ends, with all that runs then.
        sys.exit(0)
    time.sleep(600)
    os._exit(0)
assert os.read(ready[0], 1) == b"!"
if what == "ends":
    assert os.waitpid(child, 0)[1] == 0
publisher.publish(np.full((4, 4), 9, "u1"))
print(child, flush=True)
assert np.asarray(subscriber.next(60)).sum() == 9 * 16 and publisher.subscribers >= 1
sys.stdin.readline()
publisher.close()
assert list(subscriber) == []
print("closed", flush=True)
sys.stdin.readline()
"""


@pytest.mark.parametrize("what", ["ends", "stays", "killed"])
def test_a_forked_process_is_refused_and_keeps_no_name(name, what):
    command = [sys.executable, "-c", FORKS, name, what]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        child = int(process.stdout.readline())
        try:
            with pixelferry.Subscriber(name) as subscriber:
                assert (np.asarray(subscriber.next(SOON)) == 9).all()
                if what == "killed":
                    process.kill()
                else:
                    process.stdin.write("close\n")
                    process.stdin.flush()
                    assert process.stdout.readline() == "closed\n"
                with pytest.raises(pixelferry.ClosedError, match="has ended"):
                    subscriber.next(SOON)
            with pytest.raises(pixelferry.DeviceError, match="no process publishes it"):
                pixelferry.Subscriber(name)
            pixelferry.Publisher(name).close()
        finally:
            if what != "ends":
                os.kill(child, signal.SIGKILL)
            process.kill()


def test_closing_ends_the_wait_of_another_thread(name):
    with pixelferry.Publisher(name), pixelferry.Subscriber(name) as subscriber:
        ended = []

        def waits():
            try:
                subscriber.next()
            except pixelferry.ClosedError as error:
                ended.append(str(error))

        thread = threading.Thread(target=waits)
        thread.start()
        subscriber.close()
        thread.join()
        assert ended == [f"the stream '{name}' is closed"] and "closed" in repr(subscriber)


def test_an_unknown_device_is_refused_before_the_stream_exists(name):
    for opens in (pixelferry.Publisher, pixelferry.Subscriber):
        with pytest.raises(pixelferry.ShapeError, match="device='gpu'.*cuda:N"):
            opens(name, device="gpu")
        with pytest.raises(pixelferry.DeviceError, match="(?i)cuda"):
            opens(name, device="cuda:99")
    assert all(stream["name"] != name for stream in pixelferry.streams())


def on_cuda(opens, name):
    try:
        return opens(name, device="cuda")
    except pixelferry.DeviceError as why:
        # Refused before anything comes, and said.
        assert "cuda" in str(why).lower() or "nvidia" in str(why).lower(), why
        return None


@pytest.mark.parametrize("device", ["cpu", "cuda"])
def test_on_the_gpu(name, device):
    publisher = pixelferry.Publisher(name) if device == "cpu" else on_cuda(pixelferry.Publisher, name)
    if publisher is None:
        return
    with publisher:
        subscriber = on_cuda(pixelferry.Subscriber, name)
        if subscriber is None:
            return
        with subscriber:
            array = np.arange(24, dtype="f4").reshape(4, 6)
            publisher.publish(array)
            frame = subscriber.next(SOON)
            assert frame.device.startswith("cuda") and frame.__dlpack_device__()[0] == 2
            # What is on the GPU is published from there.
            publisher.publish(frame)
            again = subscriber.next(SOON)
            np.testing.assert_array_equal(np.from_dlpack(again, device="cpu"), array)
            # More frames than are kept without a copy, none of which changes.
            kept = []
            for number in range(20):
                publisher.publish(np.full((32, 16), number, "f4"))
                publisher.publish(kept[-1] if kept else frame)
                publisher.publish(np.full((32, 16), number, "f4"))
                kept.append(subscriber.next(SOON))
            for number, frame in enumerate(kept):
                assert (np.from_dlpack(frame, device="cpu") == number).all()
            with pixelferry.Subscriber(name) as on_the_host:
                publisher.publish(kept[3])
                # It comes with the first frame after the subscription.
                assert (np.asarray(on_the_host.next(SOON)) == 3).all()
