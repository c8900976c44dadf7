"""Tiles of pixelferry's network in Python: workers and displays, with the bytes of ``net/docs/protocol.md``.

Needs ``eclipse-zenoh``; tiles packed by LZ4 also need ``lz4``.
"""

from __future__ import annotations

import dataclasses
import json
import math
import secrets
import struct
import threading
import time

import zenoh

FORMATS = ["R8", "RG8", "RGBA8", "R32F", "RGBA16F", "RGBA32F", "R16", "R16F", "BGRA8", "RGB10A2", "RG16F", "RG32F"]
PIXEL_BYTES = dict(zip(FORMATS, [1, 2, 4, 4, 8, 16, 2, 2, 4, 4, 4, 8]))
TILE, PICTURE, JOB, INPUT = 1, 2, 3, 4
NONE, LZ4, JPEG = 0, 1, 2

_HEADER = struct.Struct("<4sHBBQQQQIIIIIIBBBBIQ48s")
_JOB = struct.Struct("<6I")
_MASK = (1 << 64) - 1
_LIMIT = 1 << 30
_ARGS_LIMIT = 1 << 20
_LOST_AFTER = 1.0
_ASK_AGAIN = 0.25
_SILENCE = 5.0


class Refused(ValueError):
    """A message that is none of the protocol, or not for this scene."""


@dataclasses.dataclass(frozen=True)
class Header:
    """The first 128 bytes of a message; ``region`` is x, y, width, height."""

    kind: int
    size: tuple[int, int]
    region: tuple[int, int, int, int]
    format: str = "RGBA8"
    codec: int = NONE
    epoch: int = 0
    frame: int = 0
    time: int = 0
    sender: int = 0
    encoding: int = 0
    row_order: int = 0
    alpha: int = 0
    cost: int = 0
    payload: int = 0

    def pixel_bytes(self) -> int:
        """Bytes of the region's pixels when unpacked."""
        return self.region[2] * self.region[3] * PIXEL_BYTES[self.format]

    def to_bytes(self) -> bytes:
        """As it is sent."""
        return _HEADER.pack(
            b"PXFY", 1, self.kind, self.codec, self.epoch, self.frame, self.time, self.sender, *self.size, *self.region,
            FORMATS.index(self.format), self.encoding, self.row_order, self.alpha, self.cost, self.payload, bytes(48),
        )  # fmt: skip

    @staticmethod
    def read(message: bytes, kind: int) -> Header:
        """Reads and checks the header of a whole message; raises `Refused`."""
        if len(message) < 128:
            raise Refused(f"{len(message)} bytes are no header of 128")
        values = _HEADER.unpack_from(message)
        magic, version, found, codec, epoch, frame, asked, sender, width, height, x, y, w, h = values[:14]
        pixel, encoding, row_order, alpha, cost, payload, reserved = values[14:]
        if magic != b"PXFY" or version != 1 or any(reserved):
            raise Refused("it is no message of version 1")
        if found != kind:
            raise Refused(f"it is of kind {found}, where {kind} is due")
        if codec > 2 or pixel >= len(FORMATS) or encoding > 3 or row_order > 1 or alpha > 3:
            raise Refused("it has a number that the protocol does not have")
        if not (0 < width <= 65536 and 0 < height <= 65536 and w and h and x + w <= width and y + h <= height):
            raise Refused("its size or its rectangle cannot be")
        header = Header(
            kind, (width, height), (x, y, w, h), FORMATS[pixel], codec, epoch, frame, asked, sender, encoding,
            row_order, alpha, cost, payload,
        )  # fmt: skip
        if payload != len(message) - 128:
            raise Refused(f"the header promises {payload} bytes, {len(message) - 128} came")
        if kind in (TILE, PICTURE):
            if header.pixel_bytes() > _LIMIT:
                raise Refused("it has more pixels than are taken")
            if codec == NONE and payload != header.pixel_bytes():
                raise Refused("its pixels are not as many as its rectangle has")
        elif payload > _ARGS_LIMIT:
            raise Refused("its payload is longer than is taken")
        return header


def _mix(word: int) -> int:
    word = (word + 0x9E3779B97F4A7C15) & _MASK
    word = ((word ^ word >> 30) * 0xBF58476D1CE4E5B9) & _MASK
    word = ((word ^ word >> 27) * 0x94D049BB133111EB) & _MASK
    return word ^ word >> 31


def score(node: int, tile: int) -> int:
    """The hash of a node and a tile: the highest computes it."""
    return _mix(node ^ _mix(tile))


def _owner(nodes, weights: dict[int, int], tile: int):
    if not weights:
        return max(nodes, key=lambda node: (score(node, tile), node), default=None)

    def weighted(node):
        fraction = ((score(node, tile) >> 11) + 0.5) / 2**53
        return (-max(weights.get(node, 1000), 1) / math.log(fraction), node)

    return max(nodes, key=weighted, default=None)


def _tiles(size, tile):
    (width, height), (w, h) = size, tile
    return [(x, y, min(w, width - x), min(h, height - y)) for y in range(0, height, h) for x in range(0, width, w)]


def _inside(outer, inner) -> bool:
    if outer == (0, 0, 0, 0):
        return True
    (x, y, w, h), (a, b, c, d) = outer, inner
    return x <= a and a + c <= x + w and y <= b and b + d <= y + h


def join(connect: str) -> zenoh.Session:
    """Joins the network through the hub or router at an endpoint, such as ``tcp/127.0.0.1:7447``. Nothing listens."""
    config = zenoh.Config()
    for key, value in [
        ("mode", "client"),
        ("connect/endpoints", [connect]),
        ("listen/endpoints", []),
        ("scouting/multicast/enabled", False),
        ("transport/link/tx/lease", 2000),
    ]:
        config.insert_json5(key, json.dumps(value))
    return zenoh.open(config)


class Job:
    """A tile to compute: fill ``pixels``, tight rows of ``region``, then `Tile.publish`."""

    def __init__(self, header: Header, index: int, region, args: bytes):
        self.header, self.index, self.region, self.args = header, index, region, args
        self.frame, self.format = header.frame, header.format
        self.begun = time.monotonic()
        self.pixels = bytearray(region[2] * region[3] * PIXEL_BYTES[header.format])


class Tile:
    """A worker of one scene. The newest arguments win; who computes which tile is by rendezvous hashing."""

    def __init__(self, session: zenoh.Session, scene: str, region=(0, 0, 0, 0)):
        self._changed = threading.Condition()
        self._node = secrets.randbits(64)
        self._region, self._workers = tuple(region), {self._node: tuple(region)}
        self._job, self._heard, self._sent = None, 0.0, {}
        self.refused = 0
        root = f"pixelferry/{scene}"
        self._publisher = session.declare_publisher(
            f"{root}/tile/{self._node:016x}", congestion_control=zenoh.CongestionControl.BLOCK, express=True
        )
        self._jobs = session.declare_subscriber(f"{root}/job", self._take)
        place = "_".join(str(side) for side in self._region)
        self._token = session.liveliness().declare_token(f"{root}/worker/{self._node:016x}/{place}")
        self._alive = session.liveliness().declare_subscriber(f"{root}/worker/*/*", self._live, history=True)

    def _live(self, sample):
        node, place = str(sample.key_expr).split("/")[-2:]
        with self._changed:
            if sample.kind == zenoh.SampleKind.PUT:
                self._workers[int(node, 16)] = tuple(int(side) for side in place.split("_"))
            elif int(node, 16) != self._node:
                self._workers.pop(int(node, 16), None)
            self._changed.notify_all()

    def _take(self, sample):
        message = bytes(sample.payload)
        try:
            header = Header.read(message, JOB)
            job = self._read(header, message)
        except (Refused, struct.error) as _:
            self.refused += 1
            return
        with self._changed:
            now, before = time.monotonic(), self._job and self._job[0]
            if before and header.epoch < before.epoch and now - self._heard < _SILENCE:
                self.refused += 1
                return
            if before and header.epoch == before.epoch and header.frame < before.frame:
                return
            if not before or (header.epoch, header.frame) != (before.epoch, before.frame):
                self._sent = {}
            self._job, self._heard = job, now
            self._changed.notify_all()

    @staticmethod
    def _read(header: Header, message: bytes):
        width, height, wanted, weights, args, reserved = _JOB.unpack_from(message, 128)
        if reserved or 24 + 4 * wanted + 16 * weights + args != header.payload or not (width and height):
            raise Refused("its payload is no job")
        if -(-header.size[0] // width) * -(-header.size[1] // height) > 65536:
            raise Refused("it has too many tiles")
        tiles = _tiles(header.size, (width, height))
        indices = struct.unpack_from(f"<{wanted}I", message, 152) or range(len(tiles))
        if any(index >= len(tiles) for index in indices):
            raise Refused("it wants a tile that its picture does not have")
        pairs = struct.unpack_from(f"<{2 * weights}Q", message, 152 + 4 * wanted)
        return header, tiles, indices, dict(zip(pairs[::2], pairs[1::2])), message[len(message) - args :]

    def _pick(self):
        if not self._job:
            return None
        header, tiles, indices, weights, args = self._job
        now = time.monotonic()
        for index in indices:
            if now - self._sent.get(index, -math.inf) < _LOST_AFTER:
                continue
            nodes = [node for node, place in self._workers.items() if _inside(place, tiles[index])]
            if _owner(nodes, weights, index) == self._node:
                return Job(header, index, tiles[index], args)
        return None

    def next(self, timeout: float):
        """The next tile that is this worker's, or ``None`` where none came in time."""
        until = time.monotonic() + timeout
        with self._changed:
            while not (job := self._pick()):
                left = until - time.monotonic()
                if left <= 0:
                    return None
                self._changed.wait(left)
            return job

    def publish(self, job: Job) -> None:
        """Sends a tile to whoever shows the scene."""
        cost = min(int((time.monotonic() - job.begun) * 1e6), 2**32 - 1)
        header = dataclasses.replace(
            job.header, kind=TILE, region=job.region, sender=self._node, cost=cost, payload=len(job.pixels)
        )
        self._publisher.put(header.to_bytes() + bytes(job.pixels))
        with self._changed:
            newest = self._job[0]
            if (newest.epoch, newest.frame) == (job.header.epoch, job.header.frame):
                self._sent[job.index] = time.monotonic()


class Assembly:
    """A scene's display: asks for whole frames, and gives each when all of its tiles came."""

    def __init__(self, session: zenoh.Session, scene: str, size, format="RGBA8", tile=(256, 256)):
        self._told = threading.Condition()
        self._size, self._format, self._tile = tuple(size), format, tuple(tile)
        self._tiles = _tiles(size, tile)
        self._epoch, self._frame, self._came = time.time_ns() // 1000, 0, {}
        self.refused = 0
        root = f"pixelferry/{scene}"
        self._publisher = session.declare_publisher(
            f"{root}/job", congestion_control=zenoh.CongestionControl.BLOCK, express=True,
            priority=zenoh.Priority.INTERACTIVE_HIGH,
        )  # fmt: skip
        self._subscriber = session.declare_subscriber(f"{root}/tile/*", self._take)

    def _take(self, sample):
        message = bytes(sample.payload)
        try:
            header = Header.read(message, TILE)
            if header.epoch != self._epoch or header.size != self._size or header.format != self._format:
                raise Refused("it is of another session or picture")
            if header.region not in self._tiles:
                raise Refused("it is none of the picture's tiles")
            pixels = _unpack(header, message[128:])
        except Refused:
            self.refused += 1
            return
        with self._told:
            if header.frame == self._frame:
                self._came.setdefault(header.region, pixels)
                self._told.notify_all()

    def frame(self, args: bytes, timeout: float):
        """Asks for a frame; its pixels in tight rows, or ``None`` where it was not complete in time."""
        with self._told:
            self._frame, self._came = self._frame + 1, {}
        until, again = time.monotonic() + timeout, 0.0
        while True:
            with self._told:
                missing = [index for index, region in enumerate(self._tiles) if region not in self._came]
                if not missing:
                    return self._lay(self._came)
            now = time.monotonic()
            if now >= until:
                return None
            if now >= again:
                self._ask(missing, args)
                again = now + _ASK_AGAIN
            with self._told:
                if len(self._came) < len(self._tiles):
                    self._told.wait(min(again, until) - now)

    def _ask(self, missing, args):
        payload = _JOB.pack(*self._tile, len(missing), 0, len(args), 0) + struct.pack(f"<{len(missing)}I", *missing) + args
        header = Header(
            JOB, self._size, (0, 0, *self._size), self._format, epoch=self._epoch, frame=self._frame,
            time=time.time_ns() // 1000, payload=len(payload),
        )  # fmt: skip
        self._publisher.put(header.to_bytes() + payload)

    def _lay(self, came) -> bytearray:
        pixel = PIXEL_BYTES[self._format]
        pitch = self._size[0] * pixel
        picture = bytearray(pitch * self._size[1])
        for (x, y, width, height), pixels in came.items():
            row = width * pixel
            for line in range(height):
                start = (y + line) * pitch + x * pixel
                picture[start : start + row] = pixels[line * row : (line + 1) * row]
        return picture


def _unpack(header: Header, payload: bytes) -> bytes:
    if header.codec == NONE:
        return payload
    if header.codec == JPEG:
        raise Refused("tiles packed by JPEG are for viewers")
    import lz4.block

    try:
        pixels = lz4.block.decompress(payload, uncompressed_size=header.pixel_bytes())
    except lz4.block.LZ4BlockError as error:
        raise Refused(f"its LZ4 payload cannot be read: {error}") from error
    if len(pixels) != header.pixel_bytes():
        raise Refused("it unpacks to another size")
    return pixels
