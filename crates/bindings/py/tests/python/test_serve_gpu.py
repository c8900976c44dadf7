"""Pages with arrays of an NVIDIA GPU, which stay there: PIXELFERRY_GPU=1 says that there is one."""

import functools
import json
import os

import numpy as np
import pytest

import pixelferry
from conftest import library, missing
from patience import wait_for
from test_serve import Browser, levels  # noqa: F401
from test_window import python  # noqa: F401

if os.environ.get("PIXELFERRY_GPU") != "1":
    missing("nvidia", "it is tested where PIXELFERRY_GPU=1 is set")

torch = library("torch")
cupy = library("cupy")

MAKERS = {"torch": lambda host: torch.from_numpy(host).cuda(), "cupy": cupy.asarray}


def numbers(dtype, seed, shape=(30, 40)):
    random = np.random.default_rng(seed)
    if np.dtype(dtype).kind in "iu":
        return random.integers(0, 100, shape).astype(dtype)
    made = random.normal(size=shape)
    made[3, 5], made[4, 6] = np.nan, np.inf
    return (made.repeat(2, 1).view("c16") if np.dtype(dtype).kind == "c" else made).astype(dtype)


class Page:
    """A page, and the picture that was seen last."""

    def __init__(self, array, **options):
        self.server = pixelferry.serve(array, **options)
        self.browser = Browser(self.server.url)
        self.seen = self.browser.picture()

    def after(self, change):
        """Sees the picture that a change makes."""
        before = self.seen
        change(self)

        def is_new():
            self.seen = self.browser.picture()
            return (self.seen != before).any()

        assert wait_for(is_new)


def alike(pages, change=None, most=0.0):
    for page in pages:
        if change:
            page.after(change)
    apart = np.abs(pages[0].seen.astype(int) - pages[1].seen) > 1
    # Magnitudes may be rounded otherwise, which moves one from one bar of a histogram to the next.
    assert apart.mean() <= most, np.argwhere(apart)[:5]


@pytest.mark.parametrize("library", MAKERS)
@pytest.mark.parametrize("dtype", ["u1", "i2", "i8", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("span", [None, "minmax", ("1%", "99%")], ids=str)
def test_its_pages_are_those_of_the_hosts(levels, library, dtype, span):  # noqa: F811
    make, host = MAKERS[library], numbers(dtype, 1)
    pages = [Page(array, range=span) for array in (host, make(host))]
    same = functools.partial(alike, most=1e-3 if dtype == "c8" else 0.0)
    same(pages)
    # The histogram, numbers under the pointer, colours, and numbers in pixels.
    same(pages, lambda page: page.browser.key("h"))
    same(pages, lambda page: page.browser.send(2, json.dumps({"event": "pointer", "x": 85, "y": 85, "buttons": 0}).encode()))
    same(pages, lambda page: page.browser.key("c"))
    zoom = json.dumps({"event": "wheel", "x": 85, "y": 85, "dx": 0, "dy": -240.0}).encode()
    for _ in range(2):
        same(pages, lambda page: page.browser.send(2, zoom))
    # More frames, of other strides, and back through them; then the difference of two.
    for seed in (2, 3):
        host = numbers(dtype, seed, (40, 30))
        arrays = iter([host.T, make(host).T])
        same(pages, lambda page: page.server.show(next(arrays)))  # noqa: B023
    same(pages, lambda page: page.browser.key(","))
    other = numbers(dtype, 4)
    for page, array in zip(pages, (other, make(other))):
        page.server.show(array, name="other")
    same(pages, lambda page: page.browser.key("d"))
    for page in pages:
        page.server.close()


def test_it_stays_there_and_is_a_copy(levels):  # noqa: F811
    with pixelferry.serve(torch.zeros(3, 4, device="cuda"), range=(0, 1)) as server:
        browser = Browser(server.url)
        browser.sees(600, 400, 0)
        large = torch.ones(8192, 8192, device="cuda")
        torch.cuda.synchronize()
        free = torch.cuda.mem_get_info()[0]
        server.show(large, name="large")
        assert free - torch.cuda.mem_get_info()[0] >= large.nbytes
        # What its owner does to it afterwards is not seen.
        small = torch.zeros(3, 4, device="cuda")
        for stream in (torch.cuda.default_stream(), torch.cuda.Stream()):
            for level in (0.2, 0.8):
                with torch.cuda.stream(stream):
                    # Some 50 ms before the numbers come.
                    torch.cuda._sleep(90_000_000)
                    small.fill_(level)
                    server.show(small)
                    small.fill_(0.5)
                browser.sees(600, 400, round(level * 255))


def test_a_window_looks_closely_at_it_there(python):  # noqa: F811
    assert python('''
import torch
levels = torch.arange(12, dtype=torch.float32, device="cuda").reshape(3, 4) / 11
with pixelferry.Viewer(640, 480, title="close") as viewer:
    viewer.show(levels, name="flow", range="minmax")
    assert (np.asarray(viewer.screenshot())[2, 3] == (255, 255, 255, 255)).all()
    assert viewer.report["compute"]["api"] == "cuda", viewer.explain()
    viewer.show(levels.cpu(), name="flow")
    assert viewer.report["compute"]["api"] == "cpu", viewer.explain()
print("done")
''') == ["done"]
