"""The Python side of the tests with Rust: ``peer.py PART HUB``."""

import struct
import sys
import threading
import time

import numpy
import pixelferry_net as net
from pixelferry_net import _shares, _wire
from pixelferry_net._job import JobMessage


def rows(region, pixel, seed):
    """The picture that both sides know, byte by byte."""
    x, y, width, height = region
    return b"".join(
        bytes((3 * byte + 5 * row + seed) & 255 | 1 for byte in range(x * pixel, (x + width) * pixel))
        for row in range(y, y + height)
    )


def worker(hub):
    # The tile keeps its session.
    tile = net.Tile(net.join(hub), "python")
    while True:
        if job := tile.next(0.5):
            # Of what is no picture of the tests', zeros do.
            if job.args and len(job.pixels) < 1 << 16:
                job.pixels[:] = rows(job.region, net.PIXEL_BYTES[job.format], job.args[0])
            tile.publish(job)


def picture_or_raise(job):
    if job.args[0] > 30:
        raise RuntimeError("a user's mistake")
    job.pixels[:] = rows(job.region, net.PIXEL_BYTES[job.format], job.args[0])


def raises(hub):
    """A thread raises by `Tile.run`; the program stays."""
    tile = net.Tile(net.join(hub), "python")
    threading.Thread(target=tile.run, args=[picture_or_raise]).start()
    time.sleep(3600)


def fails(hub):
    """A loop that takes each exception for the tile's own."""
    tile = net.Tile(net.join(hub), "python")
    while True:
        if job := tile.next(0.5):
            try:
                picture_or_raise(job)
            except RuntimeError:
                continue
            tile.publish(job)


def raises_alone(hub):
    """A thread raises in a loop of its own; the program and its worker stay."""
    tile = net.Tile(net.join(hub), "python")

    def work():
        while True:
            if job := tile.next(0.5):
                picture_or_raise(job)
                tile.publish(job)

    threading.Thread(target=work).start()
    time.sleep(3600)


def display(hub):
    picture = net.Assembly(net.join(hub), "python", (61, 37), "RGBA16F", (16, 16))
    for seed in (7, 8):
        assert picture.frame(bytes([seed]), 60) == rows((0, 0, 61, 37), 8, seed), "other bytes"
    assert picture.refused == 0
    print("the same bytes")


def view(hub):
    with net.join(hub) as session, net.View(session, "python") as viewer:
        last = 0
        for _ in range(3):
            picture = viewer.next(60)
            assert picture.frame > last and picture.age < 60, picture.header
            width, height = picture.size
            last, pixel = picture.frame, net.PIXEL_BYTES[picture.format]
            if picture.header.codec == 2:
                flat = bytes([200, 100, 30, 255][:pixel]) * (width * height)
                assert max(abs(a - b) for a, b in zip(picture.pixels, flat, strict=True)) <= 6, "other colours"
            else:
                assert picture.pixels == rows((0, 0, width, height), pixel, 7), "other bytes"
        assert viewer.next(0) is None or viewer.refused == 0
        viewer.send(b"seen")
        print("the same bytes")


def looks(hub):
    """Looks at a scene until it is killed."""
    viewer = net.View(net.join(hub), "python")
    while True:
        viewer.next(0.5)


def judge(_hub):
    """Reads messages, and writes each as it was understood, or nothing where it is refused."""
    while head := sys.stdin.buffer.read(5):
        kind, length = struct.unpack("<BI", head)
        try:
            read = understood(kind, sys.stdin.buffer.read(length))
        except net.Refused:
            read = b""
        sys.stdout.buffer.write(struct.pack("<I", len(read)) + read)
        sys.stdout.buffer.flush()


def understood(kind, message):
    if kind == _wire.JOB:
        return JobMessage.read(message).to_bytes()
    header = net.Header.read(message, kind)
    read, payload = header.to_bytes(), message[_wire.HEADER_BYTES :]
    if kind not in (_wire.TILE, _wire.PICTURE):
        return read + payload
    if header.codec != _wire.JPEG:
        return read + _wire.unpack(header, payload)
    try:
        # Decoders differ in what they make of broken ones.
        _wire.unpack(header, payload)
    except net.Refused:
        pass
    return read


def ends(hub):
    """The program ends, whatever still holds these."""
    global held
    held = [net.Tile(net.join(hub), "python"), net.View(net.join(hub), "python")]


def check_shares():
    """The numbers of ``shares.rs`` in ``pixelferry-rules``."""

    def mix(word):
        return int(_shares._mix(numpy.array([word], numpy.uint64))[0])

    nodes = [mix(number) for number in range(1, 6)]
    places = {**dict.fromkeys(nodes, (0, 0, 0, 0)), 6: (0, 0, 20, 1)}
    tiles = [(x, 0, 1, 1) for x in range(60)]
    hashes = []
    for weights in ({}, {nodes[0]: 0, nodes[1]: 3000, 6: 10}):
        word = 0
        for owner in _shares.owners(places, weights, tiles):
            word = mix(word ^ sorted(places).index(owner))
        hashes.append(word)
    assert hashes == [0xF01E6360F5164648, 0xBB60E8DB6A3BCB86], [hex(word) for word in hashes]


if __name__ == "__main__":
    assert net.score(0, 0) == 0xA706DD2F4D197E6F
    check_shares()
    {each.__name__: each for each in (worker, fails, raises, raises_alone, display, view, looks, judge, ends)}[sys.argv[1]](sys.argv[2])
