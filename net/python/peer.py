"""The Python side of the tests with Rust: ``peer.py PART HUB``."""

import sys

import pixelferry_net as net


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
            job.pixels[:] = rows(job.region, net.PIXEL_BYTES[job.format], job.args[0])
            tile.publish(job)


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
            assert picture.frame > last and picture.size == (61, 37) and picture.age < 60, picture.header
            last, pixel = picture.frame, net.PIXEL_BYTES[picture.format]
            if picture.header.codec == 2:
                flat = bytes([200, 100, 30, 255][:pixel]) * (61 * 37)
                assert max(abs(a - b) for a, b in zip(picture.pixels, flat, strict=True)) <= 6, "other colours"
            else:
                assert picture.pixels == rows((0, 0, 61, 37), pixel, 7), "other bytes"
        assert viewer.next(0) is None or viewer.refused == 0
        viewer.send(b"seen")
        print("the same bytes")


def ends(hub):
    """The program ends, whatever still holds these."""
    global held
    held = [net.Tile(net.join(hub), "python"), net.View(net.join(hub), "python")]


if __name__ == "__main__":
    assert net.score(0, 0) == 0xA706DD2F4D197E6F
    {"worker": worker, "display": display, "view": view, "ends": ends}[sys.argv[1]](sys.argv[2])
