"""What the package takes of its host's process: every line of docs/guest.md. Each host is a process of its own."""

import sys

import numpy as np
import pytest

import pixelferry
from conftest import missing
from patience import run

HEAD = """
import ctypes, faulthandler, fcntl, locale, os, resource, signal, sys, tempfile, threading, time, warnings
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # whose threads are its own
import numpy as np, pixelferry
libc = ctypes.CDLL(None, use_errno=True)
x = np.zeros((48, 64, 4), "u1")

def forked(body):
    child = os.fork()
    if child == 0:
        signal.alarm(120)  # ends it where it hangs
        try:
            body()
        except BaseException as error:
            print("in the child:", type(error).__name__, error, flush=True)
            os._exit(1)
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, code

def says_spawn(body, kind=pixelferry.DeviceError):
    try:
        body()
    except kind as error:
        assert "spawn" in str(error), error
    else:
        raise AssertionError("nothing was refused")
"""


def host(code):
    ended = run([sys.executable, "-c", HEAD + code])
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


# What opens what: a viewer with its drivers, a page, a picture, a stream, which needs none.
OPENS = {
    "viewer": "v = pixelferry.Viewer(64, 48, headless=True); v.show(x)",
    "save": "with tempfile.TemporaryDirectory() as folder: pixelferry.show(x, save=folder + '/x.png')",
    "serve": "s = pixelferry.serve(x)",
    "publish": "p = pixelferry.Publisher(f'guest-{os.getpid()}'); p.publish(x)",
}


@pytest.mark.parametrize("opens", OPENS)
def test_all_is_as_it_was(opens):
    host("""
SIGNALS = [s for s in signal.valid_signals() if s not in (signal.SIGKILL, signal.SIGSTOP)]
signal.signal(signal.SIGTERM, lambda *_: None)
os.umask(0o027)
class Action(ctypes.Structure):
    _fields_ = [("handler", ctypes.c_void_p), ("more", ctypes.c_char * 200)]
FAULTS = {signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGTRAP, signal.SIGSYS}
def handler(number):
    action = Action()
    return libc.sigaction(number, None, ctypes.byref(action)) or action.handler
def look():
    libc.setlocale.restype = ctypes.c_char_p
    return {
        "handlers of signals": [handler(s) for s in SIGNALS if s not in FAULTS],
        "Python's handlers": [signal.getsignal(s) for s in SIGNALS],
        "the caller's mask": signal.pthread_sigmask(signal.SIG_BLOCK, []),
        "wakeup": signal.set_wakeup_fd(signal.set_wakeup_fd(-1)),
        "hooks": (sys.excepthook, sys.unraisablehook, threading.excepthook, sys.displayhook, sys.gettrace(), sys.getprofile(),
                  faulthandler.is_enabled(), list(warnings.filters), sys.getswitchinterval(), sys.getrecursionlimit()),
        "environment": {k: v for k, v in os.environ.items()},
        "locale": libc.setlocale(6, None), "folder": os.getcwd(), "umask": (old := os.umask(0), os.umask(old))[0],
        "rounding": libc.fegetround(), "limits": [resource.getrlimit(n) for n in range(16)],
        "processors": os.sched_getaffinity(0), "priority": os.getpriority(os.PRIO_PROCESS, 0),
        "flush to zero": np.float32(1e-38) * np.float32(0.01) != 0,
    }
before = look()
%s
after = look()
for line in before:
    assert before[line] == after[line], (line, before[line], after[line])
""" % OPENS[opens])


@pytest.mark.parametrize("opens", OPENS)
def test_threads_take_no_signals_of_the_hosts(opens):
    host(OPENS[opens] + """
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # as event loops do when they start
takers = []
for task in os.listdir("/proc/self/task"):
    try:
        with open(f"/proc/self/task/{task}/status") as file:
            lines = dict(line.split(":", 1) for line in file)
    except (FileNotFoundError, ProcessLookupError):
        continue  # it has ended meanwhile
    if not int(lines["SigBlk"], 16) >> signal.SIGTERM - 1 & 1:
        takers.append(lines["Name"].strip())
assert not takers, takers
for round in range(100):
    os.kill(os.getpid(), signal.SIGTERM)
    assert signal.sigwait([signal.SIGTERM]) == signal.SIGTERM
""")


@pytest.mark.parametrize("opens", OPENS)
def test_descriptors_stay_in_this_process(opens):
    host("before = set(os.listdir('/proc/self/fd'))\n" + OPENS[opens] + """
for fd in set(os.listdir("/proc/self/fd")) - before:
    try:
        assert not os.get_inheritable(int(fd)), os.readlink(f"/proc/self/fd/{fd}")
    except OSError:
        pass  # of the list itself
""")


@pytest.mark.parametrize("opens", OPENS)
def test_nothing_is_printed(opens):
    # Mesa says itself where no session runs.
    assert host("os.environ.setdefault('XDG_RUNTIME_DIR', '/tmp')\n" + OPENS[opens]) == ""


@pytest.mark.parametrize("before", ["pass", OPENS["publish"]])
def test_a_child_of_a_process_that_opened_no_driver_draws(before):
    host(before + """
def body():
    with pixelferry.Viewer(64, 48, headless=True) as viewer:
        viewer.show(x + 7)
        assert (np.asarray(viewer.screenshot())[..., :3] == 7).all()
forked(body)
""")


def test_a_child_of_a_process_with_drivers_only_closes_and_refuses():
    host("\n".join(OPENS[name] for name in ("viewer", "serve", "publish")) + """
def body():
    says_spawn(lambda: pixelferry.Viewer(64, 48, headless=True))
    says_spawn(lambda: pixelferry.show(x, save="/tmp/never.png"))
    says_spawn(lambda: pixelferry.serve(x))
    says_spawn(lambda: pixelferry.probe())
    for call in (lambda: v.show(x), lambda: v.capture(), v.finish, lambda: s.show(x), s.wait):
        says_spawn(call, pixelferry.ClosedError)
    assert not v.is_open and v._repr_png_() is None and "closed" in repr(v)
    v.close(), s.close(), p.close()
forked(body)
def dropped():
    import gc
    global v, s, p
    del v, s, p
    gc.collect()
forked(dropped)
v.show(x), s.show(x), p.publish(x)
""")


def test_multiprocessing_by_fork_is_told_to_spawn():
    said = host("""
import multiprocessing
def draw(_):
    try:
        pixelferry.Viewer(8, 8, headless=True)
    except pixelferry.DeviceError as error:
        return str(error)
with pixelferry.Viewer(64, 48, headless=True) as viewer:
    viewer.show(x)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        print(pool.map(draw, range(2)))
""")
    assert said.count("spawn") == 2


def test_ctrl_c_ends_the_wait_for_a_viewer():
    # The loader of OpenCL reads the names of its drivers; it waits for whoever writes this one.
    said = host("""
with tempfile.TemporaryDirectory() as folder:
    os.mkfifo(folder + "/slow.icd")
    os.environ["OCL_ICD_VENDORS"] = folder + "/"
    def interrupt(*_):
        raise KeyboardInterrupt
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.5, 0.5)
    try:
        pixelferry.Viewer(64, 48, headless=True, backend="opencl")
        print("it opened")
    except KeyboardInterrupt:
        print("interrupted")
    except pixelferry.DeviceError as error:
        print(error)
    signal.setitimer(signal.ITIMER_REAL, 0)
sys.stdout.flush()
os._exit(0)  # a thread still waits
""")
    if "libOpenCL" in said:
        missing("opencl", said)
    assert said == "interrupted\n"


FINAL = [KeyboardInterrupt(), SystemExit(3), MemoryError(), GeneratorExit()]


class Gives:
    """An array of somebody's, of which one attribute or method raises."""

    def __init__(self, where, error):
        self.where, self.error = where, error

    def __dlpack__(self, **_):
        if self.where == "__dlpack__":
            raise self.error
        return np.zeros((4, 4), "u1").__dlpack__()

    def __dlpack_device__(self):
        if self.where == "__dlpack_device__":
            raise self.error
        return (1, 0)

    def __getattr__(self, name):
        if name == self.where:
            raise self.error
        raise AttributeError(name)


class Number:
    def __init__(self, error):
        self.error = error

    def __float__(self):
        raise self.error

    __index__ = __float__


class Ends(list):
    def __init__(self, error):
        super().__init__([0, 1])
        self.error = error

    def __len__(self):
        raise self.error

    __iter__ = __getitem__ = __len__


@pytest.mark.parametrize("error", FINAL, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("where", ["__dlpack__", "__dlpack_device__", "__cuda_array_interface__", "shape"])
def test_what_ends_a_program_goes_through(where, error, tmp_path):
    with pytest.raises(BaseException) as caught:
        pixelferry.show(Gives(where, error), save=tmp_path / "x.png")
    assert caught.value is error


@pytest.mark.parametrize("error", FINAL, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("option", [
    {"range": "ends"}, {"range": (0, "number")}, {"channel": "number"},
], ids=str)
def test_what_ends_a_program_goes_through_options(option, error, tmp_path):
    given = {"number": Number(error), "ends": Ends(error)}
    def fill(value):
        return tuple(map(fill, value)) if isinstance(value, tuple) else given.get(value, value)
    with pytest.raises(BaseException) as caught:
        pixelferry.show(np.zeros((4, 4), "f4"), save=tmp_path / "x.png", **{key: fill(value) for key, value in option.items()})
    assert caught.value is error or caught.value.__cause__ is error, caught.value


@pytest.mark.parametrize("where", ["__dlpack__", "__dlpack_device__"])
def test_other_exceptions_are_explained(where, tmp_path):
    error = LookupError("not today")
    with pytest.raises(pixelferry.DtypeError, match="not today") as caught:
        pixelferry.show(Gives(where, error), save=tmp_path / "x.png")
    assert caught.value.__cause__ is error
