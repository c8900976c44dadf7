"""Nothing is kept, nothing is leaked, from any thread."""

import gc
import os
import sys
import threading
import time

import numpy as np
import pytest

import pixelferry
from conftest import check, reference, sample, shown
from patience import by_level, run, wait_for
from test_protocols import Producer


def resident():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def growth(step, rounds=5):
    """How much more memory a round needs, in the middle. A driver may compile something for the first time in any round, up to
    35 MB: which paths are tried depends on the time. What leaks makes every round grow."""
    sizes = []
    for _ in range(rounds + 1):
        step()
        gc.collect()
        sizes.append(resident())
    return sorted(after - before for before, after in zip(sizes, sizes[1:]))[rounds // 2]


def descriptors():
    return len(os.listdir("/proc/self/fd"))


def threads():
    return set(os.listdir("/proc/self/task"))


@pytest.mark.parametrize("display", ["gl", "memory"])
def test_thousands_of_shows_leave_nothing(display):
    array = sample((24, 32, 3), "f4")
    producer = Producer(array)
    with pixelferry.Viewer(32, 24, headless=True, display=display) as viewer:
        def show(count):
            for n in range(count):
                viewer.show(array[::-1] if n & 1 else array)

        def step():
            show(by_level(200, 2000))
            for _ in range(40):
                viewer.show(producer)
                with pytest.raises(pixelferry.DtypeError):
                    viewer.show(producer.array.astype("S8"))

        step()
        files, references = descriptors(), sys.getrefcount(array)
        grown = growth(step)
        producer.check_given_back()
        assert descriptors() == files and sys.getrefcount(array) == references
        assert grown < 512 << 10, f"each round needs {grown} bytes more"


def ran(code, *arguments, **variables):
    """What a process of its own prints, which imports from this folder."""
    path = os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])
    ended = run([sys.executable, "-c", code, *arguments], env={**os.environ, "PYTHONPATH": path, **variables})
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


# The allocator's arenas of ended threads, up to 80 MB, would hide what is kept: one arena, and what is free goes back. A driver
# keeps its compiler and its threads from its first frame on, so that each is used before anything is counted.
VIEWERS = """
import ctypes, sys
from conftest import check, sample
from test_lifetime import descriptors, growth, pixelferry, threads, wait_for

def once(n, **options):
    with pixelferry.Viewer(16, 16, headless=True, **options) as viewer:
        check(viewer, sample((8, 8, 4), "u1", n))

def opens(backend):
    try:
        once(0, backend=backend)
        return True
    except pixelferry.DeviceError as why:
        print(f"not by {backend}: {why}")
        return False

backends = [backend for backend in ("cpu", "opencl", "gl", "auto") if opens(backend)]

def step():
    for n, backend in enumerate(backends):
        once(n, backend=backend)
    ctypes.CDLL(None).malloc_trim(0)

step()
step()
files, tasks, rounds = descriptors(), len(threads()), int(sys.argv[1])
grown = growth(step, rounds)
assert descriptors() == files
# Workers of a backend end shortly after it. A build of the whole workspace opens Vulkan, too, of which now and then a device
# stays whose last owner was dropped on another thread.
assert wait_for(lambda: len(threads()) < tasks + rounds * len(backends)), f"{len(threads())} threads after {tasks}"
print(grown)
"""


def test_viewers_come_and_go():
    grown = int(ran(VIEWERS, str(by_level(5, 25)), MALLOC_ARENA_MAX="1").split()[-1])
    assert grown < 256 << 10, f"each round needs {grown} bytes more"


def test_a_machine_without_vulkan_shows():
    """What a build of the whole workspace then opens by OpenGL takes the context off the thread."""
    code = "import pixelferry; from conftest import check, sample\n" \
        "with pixelferry.Viewer(16, 16, headless=True) as viewer: check(viewer, sample((8, 8, 4), 'u1', 3))"
    ran(code, VK_DRIVER_FILES=os.devnull, VK_ICD_FILENAMES=os.devnull)


def test_a_viewer_that_is_dropped_ends():
    before = threads()
    viewer = pixelferry.Viewer(16, 16, headless=True, display="memory")
    viewer.show(sample((4, 4), "u1"))
    own = threads() - before
    assert own
    # On another thread, as the garbage collector may.
    box = [viewer]
    del viewer
    thread = threading.Thread(target=box.clear)
    thread.start()
    thread.join()
    assert wait_for(lambda: not threads() & own)


def test_the_array_is_free_when_show_returns(viewer):
    array = sample((16, 16, 4), "u1")
    before = sys.getrefcount(array)
    viewer.show(array)
    assert sys.getrefcount(array) == before
    expected = reference(array)
    # Neither does the viewer look at it again, nor does it hold its buffer.
    array[:] = 0
    assert (shown(viewer) == expected).all()
    data = bytearray(16)
    viewer.show(memoryview(data).cast("B", (4, 4)))
    data.extend(b"more")


def test_two_viewers_side_by_side():
    with pixelferry.Viewer(16, 16, headless=True) as one, pixelferry.Viewer(16, 16, headless=True) as two:
        arrays = sample((10, 12, 3), "u1", 1), sample((20, 9), "f4", 2)
        for _ in range(5):
            one.show(arrays[0])
            two.show(arrays[1])
            assert (shown(one) == reference(arrays[0])).all() and (shown(two) == reference(arrays[1])).all()


def test_any_thread_may_show(viewer):
    failures = []

    def work(seed):
        try:
            for n in range(50):
                viewer.show(np.full((8, 8), (seed * 50 + n) % 256, "u1"))
                picture = shown(viewer)
                # Somebody's frame, whole.
                assert picture.shape == (8, 8, 4) and len(np.unique(picture[:, :, :3])) == 1
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_a_viewer_for_each_thread():
    failures = []

    def work(seed):
        try:
            with pixelferry.Viewer(16, 16, headless=True) as viewer:
                for n in range(10):
                    check(viewer, sample((9, 7, 3), "f4", 100 * seed + n))
        except Exception as error:  # noqa: BLE001
            failures.append(error)

    workers = [threading.Thread(target=work, args=(seed,)) for seed in range(3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert not failures


def test_closing_while_others_show():
    viewer = pixelferry.Viewer(16, 16, headless=True, display="memory")
    seen = []

    def work():
        try:
            while True:
                viewer.show(sample((64, 64), "f4"))
        except pixelferry.ClosedError as error:
            seen.append(error)

    workers = [threading.Thread(target=work) for _ in range(3)]
    for worker in workers:
        worker.start()
    time.sleep(0.2)
    viewer.close()
    assert wait_for(lambda: not any(worker.is_alive() for worker in workers))
    assert len(seen) == 3


def test_other_threads_run_while_one_shows():
    ticks, done = [], threading.Event()

    def count():
        while not done.is_set():
            ticks.append(None)
            time.sleep(0.001)

    counter = threading.Thread(target=count)
    counter.start()
    with pixelferry.Viewer(64, 64, headless=True, display="memory") as viewer:
        array = sample((800, 800, 3), "f4")

        def ticked():
            """How often the other thread ran meanwhile. With the interpreter held it would be once at most, at the end."""
            begun = len(ticks)
            viewer.show(array)
            return len(ticks) - begun

        # Beside other work it may not run in each.
        ran = wait_for(lambda: ticked() >= 3)
    done.set()
    counter.join()
    assert ran


def python(code):
    return run([sys.executable, "-c", code])


def test_a_forked_process_is_told():
    with pixelferry.Viewer(16, 16, headless=True, display="memory") as viewer:
        viewer.show(sample((4, 4), "u1"))
        child = os.fork()
        if child == 0:
            try:
                viewer.show(sample((4, 4), "u1"))
            except pixelferry.ClosedError:
                os._exit(17)
            os._exit(1)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
        check(viewer, sample((4, 4), "u1"))


def test_the_interpreter_ends_with_viewers_open():
    code = """
import numpy, pixelferry
viewers = [pixelferry.Viewer(16, 16, headless=True, display=display) for display in ["gl", "memory", "gl", "memory"]]
for viewer in viewers:
    viewer.show(numpy.zeros((4, 4), "u1"))
cycle = [viewers.pop()]
cycle.append(cycle)
print("here")
"""
    ended = python(code)
    # Mesa's Vulkan layer says so itself where no session runs, each time its devices are listed.
    said = [line for line in ended.stderr.splitlines() if not line.startswith("error: XDG_RUNTIME_DIR ")]
    assert (ended.returncode, ended.stdout, said) == (0, "here\n", [])
