"""The Python side of the test with Rust: ``peer.py worker HUB`` or ``peer.py display HUB``."""

import sys

import pixelferry_net as net


def rows(region, pixel, seed):
    """The picture that both sides know, byte by byte."""
    x, y, width, height = region
    return b"".join(
        bytes((3 * byte + 5 * row + seed) & 255 | 1 for byte in range(x * pixel, (x + width) * pixel))
        for row in range(y, y + height)
    )


def worker(session):
    tile = net.Tile(session, "python")
    while True:
        if job := tile.next(0.5):
            job.pixels[:] = rows(job.region, net.PIXEL_BYTES[job.format], job.args[0])
            tile.publish(job)


def display(session):
    picture = net.Assembly(session, "python", (61, 37), "RGBA16F", (16, 16))
    for seed in (7, 8):
        assert picture.frame(bytes([seed]), 60) == rows((0, 0, 61, 37), 8, seed), "other bytes"
    assert picture.refused == 0
    print("the same bytes")


if __name__ == "__main__":
    assert net.score(0, 0) == 0xA706DD2F4D197E6F
    {"worker": worker, "display": display}[sys.argv[1]](net.join(sys.argv[2]))
