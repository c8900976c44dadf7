"""Arrays on the page for browsers, as one finds it by HTTP and WebSocket."""

import base64
import json
import os
import socket
import struct
import urllib.error
import urllib.parse
import urllib.request

import numpy as np
import pytest

import pixelferry
from conftest import missing
from patience import wait_for

HEADER = 128


@pytest.fixture(scope="module")
def levels():
    """What opens a page, where there is OpenGL without a window."""
    try:
        pixelferry.serve(np.zeros((2, 2), "u1")).close()
    except pixelferry.DeviceError as why:
        missing("egl", why)
    return np.arange(12, dtype="f4").reshape(3, 4) / 11


class Browser:
    """The page's way to the pictures."""

    def __init__(self, url):
        url = urllib.parse.urlsplit(url)
        self.socket = socket.create_connection((url.hostname, url.port), timeout=60)
        self.socket.sendall("\r\n".join([
            f"GET /pictures?{url.query} HTTP/1.1", f"Host: {url.netloc}", f"Origin: http://{url.netloc}", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}", "\r\n"]).encode())
        self.file = self.socket.makefile("rb")
        assert b" 101 " in self.file.readline()
        while self.file.readline() != b"\r\n":
            pass

    def send(self, kind, data):
        assert len(data) < 126
        self.socket.sendall(bytes([0x80 | kind, 0x80 | len(data)]) + bytes(4) + data)

    def picture(self):
        while True:
            kind, length = self.file.read(2)
            if length > 125:
                length, = struct.unpack(*((">H", self.file.read(2)) if length == 126 else (">Q", self.file.read(8))))
            data = self.file.read(length)
            if kind & 15 == 2:
                self.send(1, b'{"taken":1}')
                width, height = struct.unpack_from("<II", data, 40)
                return np.frombuffer(data, "u1", offset=HEADER).reshape(height, width, 4)

    def sees(self, x, y, level):
        assert wait_for(lambda: abs(int(self.picture()[y, x, 0]) - level) <= 1)

    def key(self, key):
        self.send(2, json.dumps({"event": "key", "code": "", "key": key, "down": True}).encode())


def test_a_browser_sees_arrays_of_any_strides_and_changes_the_look(levels):
    with pixelferry.serve(levels[::-1, ::-1], range=(0, 2)) as server:
        assert server.url in repr(server) and f'src="{server.url}"' in server._repr_html_() and server.viewers == 0
        browser = Browser(server.url)
        # 160 pixels of the page for each of the array's.
        browser.sees(40, 40, 127)
        browser.sees(600, 400, 0)
        assert server.viewers == 1
        browser.key("r")
        browser.sees(40, 40, 255)
        server.show(levels.astype("f8").T[:3, 1:].T, name="part")
        browser.key("]")
        browser.sees(320, 300, 209)
        server.show(np.full((480, 640), 7, "u1"), name="part")
        browser.sees(320, 240, 7)


def test_each_name_has_its_own_look(levels):
    with pixelferry.serve(np.full((3, 4), 100, "u1"), "a") as server:
        browser = Browser(server.url)
        server.show(np.full((3, 4), 100, "u1"), "b", range=(0, 200))
        server.show(np.full((3, 4), 100, "u1"), "c")
        for key, level in [("1", 100), ("2", 128), ("3", 100), ("2", 128)]:
            browser.key(key)
            # The bar of the colours covers the last column.
            browser.sees(450, 400, level)
        with pytest.raises(pixelferry.ShapeError):
            server.show(np.zeros((3, 4, 3), "u1"), "b", colormap="magma")


def test_so_many_frames_are_kept(levels):
    with pixelferry.serve(np.full((3, 4), 10, "u1"), keep=2) as server:
        browser = Browser(server.url)
        browser.sees(600, 400, 10)
        for level in (90, 200):
            server.show(np.full((3, 4), level, "u1"))
            browser.sees(600, 400, level)
        browser.key(",")
        browser.sees(600, 400, 90)
        # There is none before.
        browser.key(",")
        browser.key(".")
        browser.sees(600, 400, 200)


def test_no_stranger_gets_in_and_nothing_is_left(levels):
    server = pixelferry.serve(levels, name="a", colormap="viridis")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        urllib.request.urlopen(server.url.split("?")[0])
    with urllib.request.urlopen(server.url) as page:
        assert page.status == 200
    address = urllib.parse.urlsplit(server.url)
    server.close()
    server.close()
    server.wait()
    with pytest.raises(pixelferry.ClosedError):
        server.show(levels)
    del server
    with pytest.raises(OSError):
        socket.create_connection((address.hostname, address.port), timeout=5)


def test_what_is_no_picture_is_refused_at_once(levels):
    for wrong in [np.zeros((2, 3, 4, 5, 6)), np.zeros((0, 4)), np.zeros(3, "U4"), object()]:
        with pytest.raises((pixelferry.ShapeError, pixelferry.DtypeError)):
            pixelferry.serve(wrong)
    with pytest.raises(pixelferry.ShapeError, match="host='example.org'"):
        pixelferry.serve(levels, host="example.org")
    with pixelferry.serve(levels) as server:
        with pytest.raises(pixelferry.ShapeError):
            server.show(np.zeros((2, 3, 4, 5, 6)))
        port = urllib.parse.urlsplit(server.url).port
        with pytest.raises(pixelferry.DeviceError, match="try another"):
            pixelferry.serve(levels, port=port)


def test_a_side_that_no_page_has_is_refused_in_a_sentence():
    with pytest.raises(pixelferry.ShapeError) as refused:
        pixelferry.serve(np.zeros((1, 200000), "u1"))
    said = str(refused.value)
    assert "200000x1 pixels" in said and 'save="x.png"' in said and len(said) < 250, said
