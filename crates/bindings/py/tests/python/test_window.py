"""Windows on an X server of our own. The cases share a process, except for those about its end."""

import json
import os
import subprocess
import sys
import threading

import pytest

import patience
from patience import by_level

HEAD = '''
import ctypes as c, gc, os, signal, threading, time
import numpy as np
from patience import by_level, wait_for
import pixelferry

# A shell starts programs in the background with this signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

x = c.CDLL("libX11.so.6")
for name, result in {"XOpenDisplay": c.c_void_p, "XDefaultRootWindow": c.c_ulong, "XGetImage": c.c_void_p,
                     "XGetPixel": c.c_ulong, "XInternAtom": c.c_ulong}.items():
    getattr(x, name).restype = result
x.XGetImage.argtypes = [c.c_void_p, c.c_ulong] + [c.c_int] * 2 + [c.c_uint] * 2 + [c.c_ulong, c.c_int]
x.XGetPixel.argtypes = [c.c_void_p, c.c_int, c.c_int]
server = c.c_void_p(x.XOpenDisplay(None))
root = x.XDefaultRootWindow(server)


def windows():
    """By title."""
    a, b, list_, count = c.c_ulong(), c.c_ulong(), c.POINTER(c.c_ulong)(), c.c_uint()
    x.XQueryTree(server, c.c_ulong(root), c.byref(a), c.byref(b), c.byref(list_), c.byref(count))
    found = {}
    for window in list_[: count.value]:
        name = c.c_char_p()
        if x.XFetchName(server, c.c_ulong(window), c.byref(name)):
            found[name.value.decode()] = window
    return found


def colours(window, width, height):
    x.XRaiseWindow(server, c.c_ulong(window))
    x.XSync(server, 0)
    image = x.XGetImage(server, window, 0, 0, width, height, 0xFFFFFFFF, 2)
    # A window that is not on the screen yet has none.
    if image is None:
        return {0}
    return {x.XGetPixel(image, i, j) for i in range(0, width, 7) for j in range(0, height, 7)}


def close(window):
    """As a window manager does."""
    class Event(c.Structure):
        _fields_ = [("kind", c.c_int), ("serial", c.c_ulong), ("sent", c.c_int), ("display", c.c_void_p),
                    ("window", c.c_ulong), ("type", c.c_ulong), ("format", c.c_int), ("data", c.c_long * 5),
                    ("pad", c.c_long * 24)]
    atom = lambda name: x.XInternAtom(server, name, 0)
    event = Event(33, 0, 1, None, window, atom(b"WM_PROTOCOLS"), 32)
    event.data[0] = atom(b"WM_DELETE_WINDOW")
    x.XSendEvent(server, c.c_ulong(window), 0, c.c_long(0), c.byref(event))
    x.XFlush(server)


def escape(window):
    """As a user does, with the window in front."""
    test = c.CDLL("libXtst.so.6")
    server = c.c_void_p(x.XOpenDisplay(None))
    key = c.c_uint(x.XKeysymToKeycode(server, c.c_ulong(0xFF1B)))
    while window in windows().values():
        x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
        for down in (1, 0):
            test.XTestFakeKeyEvent(server, key, down, c.c_ulong(0))
        x.XSync(server, 0)
        time.sleep(0.05)
    x.XCloseDisplay(server)


def destroy(window):
    """As xkill does, or a window manager that waits for nobody."""
    x.XDestroyWindow(server, c.c_ulong(window))
    x.XFlush(server)


def show_until(viewer, title, n, end):
    """Shows in a loop, while another thread ends the window after its third picture."""
    seen = 0
    def user():
        assert wait_for(lambda: title in windows())
        assert wait_for(lambda: seen > 2)
        end(windows()[title])
    thread = threading.Thread(target=user)
    thread.start()
    while viewer.is_open:
        viewer.show(plain((n, seen % 256, 3)))
        seen += 1
    thread.join()


def plain(colour):
    return np.broadcast_to(np.array(colour, "u1"), (120, 160, 3))
'''


# Runs each line's code, and tells its end.
LOOP = '''
import json, sys, traceback
for line in sys.stdin:
    case = dict(globals())
    try:
        exec(json.loads(line), case)
    except BaseException:
        traceback.print_exc(file=sys.stdout)
    del case
    gc.collect()
    print(END, flush=True)
'''
END = "the end of a case"


def environment(screen):
    found = {k: v for k, v in os.environ.items() if k != "WAYLAND_DISPLAY"} | {"DISPLAY": screen or ""}
    found["PYTHONPATH"] = os.pathsep.join([os.path.dirname(__file__), found.get("PYTHONPATH", "")])
    return found


@pytest.fixture(scope="module")
def python(screen):
    """Runs code in one process; the code's own words."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "bufsize": 1}
    code = f"{HEAD}\nEND = {END!r}\n{LOOP}"
    with subprocess.Popen([sys.executable, "-c", code], env=environment(screen), **pipes) as process:
        def run(code):
            said = []
            process.stdin.write(json.dumps(code) + "\n")
            # A process that has ended says no more lines.
            line = lambda: process.stdout.readline() or END + "\n"
            reader = threading.Thread(target=lambda: said.extend(iter(line, END + "\n")), daemon=True)
            reader.start()
            assert patience.wait_for(lambda: not reader.is_alive()), f"it hangs: {said}"
            return [line.rstrip("\n") for line in said]

        yield run
        process.kill()


def run(screen, code):
    """In a process of its own; the code's own words, after it ended well."""
    ended = patience.run([sys.executable, "-c", HEAD + code if screen else code], env=environment(screen))
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout.split("\n")[:-1]


def test_two_windows_and_a_viewer_without(python):
    assert python('''
with pixelferry.Viewer(160, 120, title="one") as one, pixelferry.Viewer(160, 120, title="two") as two, \\
        pixelferry.Viewer(160, 120, headless=True) as three:
    for n in range(20):
        one.show(plain((255, n, 0)))
        two.show(plain((0, n, 255)))
        three.show(plain((0, 255, n)))
    found = windows()
    assert {"one", "two"} <= set(found), found
    assert wait_for(lambda: colours(found["one"], 160, 120) == {0xFF1300}), colours(found["one"], 160, 120)
    assert wait_for(lambda: colours(found["two"], 160, 120) == {0x0013FF})
    assert (np.asarray(one.screenshot())[:, :, 0] == 255).all()
    assert (np.from_dlpack(one.capture())[:, :, :3] == plain((255, 19, 0))).all()
    one.close()
    assert wait_for(lambda: "one" not in windows())
    two.show(plain((9, 9, 9)))
    assert wait_for(lambda: colours(found["two"], 160, 120) == {0x090909})
    assert three.is_open and two.is_open and not one.is_open
print("done")
''') == ["done"]


def test_the_shape_is_kept_and_the_frame_stays_through_a_resize(python):
    assert python('''
with pixelferry.Viewer(160, 120, title="shape") as viewer:
    viewer.show(plain((255, 255, 255))[:120, :40])
    window = windows()["shape"]
    assert wait_for(lambda: colours(window, 160, 120) == {0xFFFFFF, 0})
    x.XResizeWindow(server, c.c_ulong(window), 200, 600)
    x.XFlush(server)
    assert wait_for(lambda: colours(window, 200, 600) == {0xFFFFFF}), colours(window, 200, 600)
print("done")
''') == ["done"]


def test_arrays_with_names_are_looked_at_closely(python):
    assert python('''
test = c.CDLL("libXtst.so.6")
levels = np.arange(12, dtype="f4").reshape(3, 4) / 11
with pixelferry.Viewer(640, 480, title="close") as viewer:
    viewer.show(levels[::-1], name="flow", range=(0, 2))
    window = windows()["close"]
    x.XMoveWindow(server, c.c_ulong(window), 0, 0)
    def at(column, row):
        x.XSync(server, 0)
        return x.XGetPixel(x.XGetImage(server, window, column, row, 1, 1, 0xFFFFFFFF, 2), 0, 0)
    def press(symbol):
        x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
        for down in (1, 0):
            test.XTestFakeKeyEvent(server, c.c_uint(x.XKeysymToKeycode(server, c.c_ulong(symbol))), down, c.c_ulong(0))
        x.XSync(server, 0)
    # 160 pixels of the window for each of the array's.
    assert wait_for(lambda: at(600, 40) == 0x808080), hex(at(600, 40))
    assert viewer.path and "range 0 to 2" in viewer.explain(), viewer.explain()
    assert (np.asarray(viewer.screenshot())[0, 3] == (128, 128, 128, 255)).all()
    press(ord("r"))
    assert wait_for(lambda: at(600, 40) == 0xFFFFFF), hex(at(600, 40))
    viewer.show(levels * 0, name="other")
    press(ord("]"))
    assert wait_for(lambda: at(600, 40) == 0)
    viewer.show(np.full((480, 640), 0.2), name="other")
    assert wait_for(lambda: at(600, 40) == 0x333333), hex(at(600, 40))
    # The wheel is the view's, and the program hears of it, too.
    test.XTestFakeMotionEvent(server, -1, 600, 40, c.c_ulong(0))
    x.XSync(server, 0)
    def heard():
        return [event.pixel for event in viewer.events(1.0) if event.type == "pointer_move"]
    assert wait_for(lambda: (600, 40) in heard())
    # Without a name it is a live picture again.
    viewer.show(plain((9, 8, 7)))
    assert wait_for(lambda: at(600, 240) == 0x090807), hex(at(600, 240))
    for wrong in [np.zeros(5), np.zeros((2, 2), "U3")]:
        try:
            viewer.show(wrong, name="wrong")
        except (pixelferry.ShapeError, pixelferry.DtypeError):
            print("refused")
with pixelferry.Viewer(8, 8, headless=True) as viewer:
    try:
        viewer.show(levels, name="a")
    except pixelferry.ShapeError as error:
        print(error)
''') == ["refused", "refused", "an array with a name needs a window; leave out name= or headless=True"]


def test_each_name_has_its_own_look(python):
    assert python('''
with pixelferry.Viewer(640, 480, title="looks") as viewer:
    ramp = np.arange(12, dtype="u1").reshape(3, 4)
    viewer.show(ramp, name="a")
    viewer.show(ramp, name="b", range=(0, 50), colormap="magma", marks=True)
    window = windows()["looks"]
    test = c.CDLL("libXtst.so.6")
    x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
    for down in (1, 0):
        test.XTestFakeKeyEvent(server, c.c_uint(x.XKeysymToKeycode(server, c.c_ulong(ord("2")))), down, c.c_ulong(0))
    x.XSync(server, 0)
    assert wait_for(lambda: "range 0 to 50" in viewer.explain()), viewer.explain()
    assert "magma" in viewer.explain() and "above red" in viewer.explain()
print("done")
''') == ["done"]


def test_a_window_closed_by_the_user(python):
    assert python('''
viewer = pixelferry.Viewer(160, 120, title="closed")
viewer.show(plain((1, 2, 3)))
close(windows()["closed"])
assert wait_for(lambda: not viewer.is_open)
# The program made no mistake: there is only nothing to show on.
assert viewer.show(plain((1, 2, 3))) is None
try:
    viewer.screenshot()
except pixelferry.ClosedError as error:
    print(error)
viewer.close()
try:
    viewer.show(plain((1, 2, 3)))
except pixelferry.ClosedError as error:
    print(error)
again = pixelferry.show(plain((1, 2, 3)), "again", block=False)
assert again.is_open and "again" in windows()
print("done")
''') == ["the user closed the window", "the viewer is closed", "done"]


def test_the_loop_of_the_page_ends_with_its_window(python):
    assert python('''
ends = [close, destroy, escape] * by_level(1, 3)
for n, end in enumerate(ends):
    with pixelferry.Viewer(160, 120, title=f"loop {n}") as viewer:
        show_until(viewer, f"loop {n}", n, end)
        assert viewer.show(plain((1, 2, 3))) is None and not viewer.is_open
        try:
            viewer.finish()
        except pixelferry.ClosedError as error:
            print(error)
# The others live on.
with pixelferry.Viewer(160, 120, title="after") as viewer:
    viewer.show(plain((1, 2, 3)))
    assert wait_for(lambda: colours(windows()["after"], 160, 120) == {0x010203})
    assert "  vsync: off" in viewer.explain(), viewer.explain()
    viewer.close()
    try:
        viewer.show(plain((1, 2, 3)))
    except pixelferry.ClosedError:
        print("done")
''') == ["the user closed the window", "another program destroyed the window", "the user closed the window"] * by_level(1, 3) + ["done"]


def test_a_window_has_the_size_of_its_array(python):
    assert python('''
def size_of(array, **options):
    with pixelferry.show(array, "sized", block=False, **options):
        a, b = c.c_ulong(), [c.c_uint() for _ in range(6)]
        assert wait_for(lambda: "sized" in windows())
        x.XGetGeometry(server, c.c_ulong(windows()["sized"]), c.byref(a), *map(c.byref, b))
    assert wait_for(lambda: "sized" not in windows())
    return b[2].value, b[3].value
assert size_of(np.zeros((300, 400), "u1")) == (400, 300)
assert size_of(np.zeros((3, 300, 400), "u1"), layout="CHW") == (400, 300)
assert size_of(np.zeros((300, 400, 3), "u1"), width=200) == (200, 300)
# At most as large as the screen.
shrink = min(1, x.XDisplayWidth(server, 0) / 1920, x.XDisplayHeight(server, 0) / 960)
assert size_of(np.zeros((1000, 2000), "u1")) == (int(1920 * shrink), int(960 * shrink))
assert size_of(memoryview(bytes(12)).cast("B", (3, 4))) == (160, 160)
print("done")
''') == ["done"]


def test_windows_that_others_destroy_end_alone(python):
    """The server refuses the pictures that are on their way then."""
    assert python('''
for n in range(by_level(2, 10)):
    with pixelferry.Viewer(160, 120, title=f"taken {n}") as viewer:
        def other(window):
            time.sleep(n / 1000)
            destroy(window)
        show_until(viewer, f"taken {n}", n, other)
print("done")
''') == ["done"]


def test_x_errors_of_others_close_no_window(python):
    """Xlib has one error handler for all connections of a process, a toolkit's beside ours."""
    assert python('''
pixelferry.Viewer(8, 8).close()  # from here on the handler is that of the windows
other, ended = c.c_void_p(x.XOpenDisplay(None)), threading.Event()
def wrong():
    while not ended.is_set():
        assert not x.XFetchName(other, c.c_ulong(0x7ffffff), c.byref(c.c_char_p()))
thread = threading.Thread(target=wrong)
thread.start()
try:
    for n in range(by_level(3, 10)):
        with pixelferry.Viewer(40, 30, title=f"window {n}") as viewer:
            viewer.show(plain((n, 0, 0)))
finally:
    ended.set()
thread.join()
print("done")
''') == ["done"]


def test_show_waits_for_the_window_and_for_ctrl_c(python):
    assert python('''
def user():
    assert wait_for(lambda: "blocking" in windows())
    close(windows()["blocking"])
thread = threading.Thread(target=user)
thread.start()
assert pixelferry.show(plain((1, 2, 3)), "blocking") is None
thread.join()
print("closed")
def interrupt():
    assert wait_for(lambda: "interrupted" in windows())
    os.kill(os.getpid(), signal.SIGINT)
thread = threading.Thread(target=interrupt)
try:
    thread.start()
    pixelferry.show(plain((1, 2, 3)), "interrupted")
except KeyboardInterrupt:
    print("interrupted")
assert wait_for(lambda: not windows())
''') == ["closed", "interrupted"]


def test_windows_of_several_threads_and_no_end(screen):
    assert run(screen, '''
def work(n):
    with pixelferry.Viewer(80, 60, title=str(n)) as viewer:
        for _ in range(10):
            viewer.show(plain((n, n, n)))
threads = [threading.Thread(target=work, args=(n,)) for n in range(3)]
[t.start() for t in threads]
[t.join() for t in threads]
# Neither closed nor dropped when the interpreter ends.
left = pixelferry.Viewer(80, 60)
left.show(plain((1, 1, 1)))
print("done")
''') == ["done"]


def test_files_level_over_windows(python):
    assert python('''
def files():
    return len(os.listdir("/proc/self/fd"))
def once():
    with pixelferry.Viewer(80, 60) as viewer:
        viewer.show(plain((1, 1, 1)))
[once() for _ in range(3)]
before = files()
[once() for _ in range(by_level(3, 8))]
assert files() <= before + 1, (before, files())
print("done")
''') == ["done"]


def test_a_forked_process_opens_no_window(python):
    assert python('''
with pixelferry.Viewer(80, 60) as viewer:
    viewer.show(plain((1, 1, 1)))
    child = os.fork()
    if child == 0:
        try:
            pixelferry.Viewer(80, 60)
        except pixelferry.DeviceError as error:
            os._exit(17 if "spawn" in str(error) else 1)
        os._exit(2)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 17
    viewer.show(plain((1, 1, 1)))
print("done")
''') == ["done"]


def test_events(python):
    assert python('''
try:
    test = c.CDLL("libXtst.so.6")
except OSError as why:
    raise SystemExit(f"no libXtst: {why}")
server = c.c_void_p(x.XOpenDisplay(None))
with pixelferry.Viewer(160, 120, title="hand", vsync=True) as viewer, pixelferry.Viewer(8, 8, headless=True) as other:
    assert other.events(0.01) == []
    # Four columns and three rows of 40 pixels.
    viewer.show(plain((255, 255, 255))[:3, :4])
    window, found = windows()["hand"], []
    x.XMoveWindow(server, c.c_ulong(window), 200, 100)
    x.XRaiseWindow(server, c.c_ulong(window))
    x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
    x.XSync(server, 0)

    def until(type_):
        """The next event of the type."""
        def came():
            found.extend(viewer.events(timeout=0.1))
            return type_ in [event.type for event in found]
        assert wait_for(came), (type_, found)
        at = [event.type for event in found].index(type_)
        event = found[at]
        del found[: at + 1]
        return event

    def fake(name, *arguments):
        getattr(test, name)(server, *arguments, c.c_ulong(0))
        x.XFlush(server)

    def at(event):
        return event.x, event.y, event.pixel

    until("focus_in")
    before = time.perf_counter()
    fake("XTestFakeMotionEvent", -1, 5, 5)
    fake("XTestFakeMotionEvent", -1, 200 + 50, 100 + 90)
    assert until("pointer_enter").x is None
    while at(event := until("pointer_move")) != (50, 90, (1, 2)):
        pass
    assert before < event.timestamp < time.perf_counter(), event.timestamp
    assert (event.button, event.buttons, event.modifiers, event.key) == (0, (), (), None) and "pixel=(1, 2)" in repr(event), event
    held = []
    for server_has, number in [(1, 1), (3, 2), (2, 3), (8, 4), (9, 5), (10, 10)]:
        fake("XTestFakeButtonEvent", server_has, 1)
        event, held = until("pointer_down"), held + [number]
        assert (event.button, event.buttons, at(event)) == (number, tuple(held), (50, 90, (1, 2))), event
    fake("XTestFakeMotionEvent", -1, 200 + 51, 100 + 90)
    assert until("pointer_move").buttons == (1, 2, 3, 4, 5, 10)
    fake("XTestFakeMotionEvent", -1, 200 + 50, 100 + 90)
    for server_has, number in [(1, 1), (3, 2), (2, 3), (8, 4), (9, 5), (10, 10)]:
        fake("XTestFakeButtonEvent", server_has, 0)
        event, held = until("pointer_up"), held[1:]
        assert (event.button, event.buttons) == (number, tuple(held)), event
    def clicks():
        for down in (1, 0, 1, 0):
            fake("XTestFakeButtonEvent", 1, down)
        found.extend(viewer.events(timeout=0.2))
        return "double_click" in [event.type for event in found]
    # A loaded machine may take too long between two.
    assert wait_for(clicks), found
    event = until("double_click")
    assert (event.button, event.buttons, at(event)) == (1, (), (50, 90, (1, 2))), event
    for number, turned in [(4, (0, -100)), (5, (0, 100)), (6, (-100, 0)), (7, (100, 0))]:
        fake("XTestFakeButtonEvent", number, 1)
        fake("XTestFakeButtonEvent", number, 0)
        # winit 0.30 makes a turn of the press and one of the release, where a button stands for a wheel (its #4386).
        while (event := until("wheel")) and (event.dx, event.dy) != turned:
            pass
        assert event.button is None and at(event) == (50, 90, (1, 2)) and "-0" not in repr(event), event
    shift, letter = [x.XKeysymToKeycode(server, c.c_ulong(key)) for key in (0xFFE1, 0x61)]
    fake("XTestFakeKeyEvent", letter, 1)
    event = until("key_down")
    assert (event.key, event.text, event.repeat, event.modifiers) == ("a", "a", False, ()), event
    event = until("char")
    assert (event.data, event.input_type, event.is_composing, event.repeat) == ("a", "insertText", False, False), event
    fake("XTestFakeKeyEvent", letter, 0)
    assert until("key_up").key == "a"
    fake("XTestFakeKeyEvent", shift, 1)
    assert until("key_down").key == "Shift"
    fake("XTestFakeKeyEvent", letter, 1)
    event = until("key_down")
    assert event.key == "A" and event.modifiers == ("Shift",), event
    fake("XTestFakeKeyEvent", letter, 0)
    fake("XTestFakeKeyEvent", shift, 0)
    x.XResizeWindow(server, c.c_ulong(window), 320, 120)
    x.XFlush(server)
    while (event := until("resize")) and (event.width, event.height) != (320, 120):
        pass
    assert (event.pwidth, event.pheight, event.ratio) == (320, 120, 1), event
    # The picture keeps its shape, so it has black to both sides.
    fake("XTestFakeMotionEvent", -1, 200 + 85, 100 + 5)
    while at(until("pointer_move")) != (85, 5, (0, 0)):
        pass
    fake("XTestFakeMotionEvent", -1, 200 + 20, 100 + 5)
    while at(until("pointer_move")) != (20, 5, None):
        pass
    fake("XTestFakeMotionEvent", -1, 5, 5)
    until("pointer_leave")
    with pixelferry.Viewer(400, 300, title="over") as over:
        over.show(plain((255, 255, 255)))
        wait_for(lambda: "over" in windows())
        x.XMoveWindow(server, c.c_ulong(windows()["over"]), 190, 90)
        x.XRaiseWindow(server, c.c_ulong(windows()["over"]))
        x.XFlush(server)
        until("hide")
    until("show")
    x.XSetInputFocus(server, c.c_ulong(window), 1, c.c_ulong(0))
    x.XFlush(server)
    # Names of https://www.w3.org/TR/uievents-key by X's numbers.
    for symbol, name in {
        0x20: " ", 0xFF08: "Backspace", 0xFF09: "Tab", 0xFF0D: "Enter", 0xFF13: "Pause", 0xFF14: "ScrollLock", 0xFF50: "Home",
        0xFF51: "ArrowLeft", 0xFF52: "ArrowUp", 0xFF53: "ArrowRight", 0xFF54: "ArrowDown", 0xFF55: "PageUp", 0xFF56: "PageDown",
        0xFF57: "End", 0xFF61: "PrintScreen", 0xFF63: "Insert", 0xFF67: "ContextMenu", 0xFF7F: "NumLock", 0xFF8D: "Enter",
        0xFFE1: "Shift", 0xFFE2: "Shift", 0xFFE3: "Control", 0xFFE4: "Control", 0xFFE5: "CapsLock", 0xFFE9: "Alt",
        0xFE03: "AltGraph", 0xFFEB: "Meta", 0xFFEC: "Meta", 0xFFFF: "Delete", 0x1008FF11: "AudioVolumeDown",
        0x1008FF12: "AudioVolumeMute", 0x1008FF13: "AudioVolumeUp", **{0xFFBE + n: f"F{n + 1}" for n in range(12)},
    }.items():
        code = x.XKeysymToKeycode(server, c.c_ulong(symbol))
        assert code, f"no key of the server is {name}"
        # Twice, as locks last until then.
        for down in (1, 0, 1, 0):
            fake("XTestFakeKeyEvent", code, down)
            assert (event := until("key_down" if down else "key_up")).key == name, event
    assert event.modifiers == (), event
    escape = x.XKeysymToKeycode(server, c.c_ulong(0xFF1B))
    fake("XTestFakeKeyEvent", escape, 1)
    fake("XTestFakeKeyEvent", escape, 0)
    assert until("key_down").key == "Escape"
    until("close")
    assert not viewer.is_open and viewer.events(timeout=60) == []
    viewer.show(plain((1, 2, 3)))
    print("done")
''') == ["done"]


def test_events_where_a_logical_pixel_is_two(screen):
    assert run(screen, '''
os.environ["WINIT_X11_SCALE_FACTOR"] = "2"
with pixelferry.Viewer(160, 120, title="fine") as viewer:
    viewer.show(plain((255, 255, 255))[:3, :4])
    assert wait_for(lambda: "fine" in windows())
    window = windows()["fine"]
    x.XMoveWindow(server, c.c_ulong(window), 0, 0)
    x.XResizeWindow(server, c.c_ulong(window), 200, 150)
    x.XFlush(server)
    def came(wanted):
        found = [(event.x, event.y, event.pixel, event.width, event.height, event.pwidth, event.pheight, event.ratio)
                 for event in viewer.events(0.1)]
        return wanted in found
    assert wait_for(lambda: came((None, None, None, 100, 75, 200, 150, 2)))
    x.XWarpPointer(server, c.c_ulong(0), c.c_ulong(window), 0, 0, 0, 0, 60, 110)
    x.XFlush(server)
    assert wait_for(lambda: came((30, 55, (1, 2), None, None, None, None, None)))
print("done")
''') == ["done"]


def test_ctrl_c_ends_a_wait_for_events(python):
    assert python('''
with pixelferry.Viewer(80, 60) as viewer:
    viewer.show(plain((1, 1, 1)))
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    try:
        while True:
            viewer.events(timeout=1e9)
    except KeyboardInterrupt:
        print("done")
''') == ["done"]


def test_no_screen():
    assert run(None, '''
import numpy as np, os, pixelferry
for _ in range(2):
    try:
        pixelferry.show(np.zeros((4, 4), "u1"))
    except pixelferry.NoDisplayError as error:
        assert "save=" in str(error) and "headless" in str(error), error
os.environ["DISPLAY"] = ":77"
for _ in range(2):
    try:
        pixelferry.Viewer(4, 4)
    except pixelferry.NoDisplayError as error:
        assert isinstance(error, RuntimeError) and "headless" in str(error), error
with pixelferry.Viewer(4, 4, headless=True) as viewer:
    viewer.show(np.zeros((4, 4), "u1"))
print("done")
''') == ["done"]
