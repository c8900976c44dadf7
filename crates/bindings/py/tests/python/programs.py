"""What the tests in a program's own OpenGL contexts share; the contexts are moderngl's."""

import contextlib
import ctypes
import functools
import gc
import threading

import pytest

from conftest import library, missing

moderngl = library("moderngl")


def open_context():
    try:
        return moderngl.create_context(standalone=True, backend="egl")
    except Exception as why:
        missing("egl", why)


@functools.cache
def library_of_gl():
    return ctypes.CDLL("libGL.so.1")


def gl(name, *arguments):
    """A function of OpenGL that moderngl has no word for, in the context that is current."""
    function = getattr(library_of_gl(), name)
    function.restype = ctypes.c_ubyte
    return function(*arguments)


@contextlib.contextmanager
def current(context, after):
    """Current inside; moderngl's own `with` leaves none current."""
    context.__enter__()
    yield
    after.__enter__()


@pytest.fixture
def context():
    # What tests before left goes here: a texture that goes has others deleted that wait for their context.
    gc.collect()
    made = open_context()
    yield made
    made.release()


@pytest.fixture
def two():
    """Of which the second is current."""
    gc.collect()
    made = open_context(), open_context()
    yield made
    for context in made:
        context.release()


# By name: what is bound in TEXTURE_2D, framebuffers, program, vertex array, buffers; how pixels are unpacked and packed; the unit
# that is active; viewport; tests and blending; masks.
STATE = [0x8069, 0x8CA6, 0x8CAA, 0x8B8D, 0x85B5, 0x8894, 0x88EF, 0x88ED, 0x8C2A, 0x8A28, 0x90D3,
         0x0CF0, 0x0CF1, 0x0CF2, 0x0CF3, 0x0CF4, 0x0CF5, 0x0D05, 0x84E0, 0x0BA2,
         0x0B71, 0x0BE2, 0x0C11, 0x0B44, 0x8DB9, 0x0C23, 0x0B72, 0x0C10]


def state():
    found = []
    for parameter in STATE:
        values = (ctypes.c_int * 16)(*[-1] * 16)
        gl("glGetIntegerv", parameter, values)
        found.append((hex(parameter), list(values)))
    return found


def on_a_thread(work):
    """What it raises there."""
    raised = []

    def run_it():
        try:
            work()
        except Exception as error:
            raised.append(error)

    thread = threading.Thread(target=run_it)
    thread.start()
    thread.join()
    return raised
