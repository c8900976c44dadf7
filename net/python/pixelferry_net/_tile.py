"""A worker: tiles of the newest arguments, one after the other."""

from __future__ import annotations

import dataclasses
import math
import secrets
import struct
import threading
import time

import zenoh

from ._session import Declared
from ._wire import (
    AGAIN,
    HEADER_BYTES,
    JOB,
    OLDER,
    PIXEL_BYTES,
    TILE,
    Followed,
    Header,
    Refused,
    is_inside,
    owner,
    tiles_of,
)

_JOB = struct.Struct("<6I")
_LOST_AFTER = 1.0


class Job:
    """A tile to compute: fill ``pixels``, tight rows of ``region``, then `Tile.publish`."""

    def __init__(self, header: Header, index: int, region, args: bytes):
        self.header, self.index, self.region, self.args = header, index, region, args
        self.frame, self.format = header.frame, header.format
        self.begun = time.monotonic()
        self.pixels = bytearray(region[2] * region[3] * PIXEL_BYTES[header.format])


class Tile(Declared):
    """A worker of one scene. The newest arguments win; who computes which tile is by rendezvous hashing."""

    def __init__(self, session: zenoh.Session, scene: str, region=(0, 0, 0, 0)):
        super().__init__(session)
        self._changed = threading.Condition()
        self._node = secrets.randbits(64)
        self._region, self._workers = tuple(region), {self._node: tuple(region)}
        self._job, self._sent, self._followed = None, {}, Followed()
        self.refused = 0
        root = f"pixelferry/{scene}"
        self._publisher = self._keep(session.declare_publisher(
            f"{root}/tile/{self._node:016x}", congestion_control=zenoh.CongestionControl.BLOCK, express=True
        ))  # fmt: skip
        self._keep(session.declare_subscriber(f"{root}/job", self._weak(self._take)))
        live = session.liveliness()
        self._keep(live.declare_subscriber(f"{root}/worker/*/*", self._weak(self._live), history=True))
        place = "_".join(str(side) for side in self._region)
        # Undeclared first: others take over what this one does not get any more.
        self._keep(live.declare_token(f"{root}/worker/{self._node:016x}/{place}"))

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
            try:
                news = self._followed.accept(header.epoch, header.frame)
            except Refused:
                self.refused += 1
                return
            if news == OLDER:
                return
            if news != AGAIN:
                self._sent = {}
            self._job = job
            self._changed.notify_all()

    @staticmethod
    def _read(header: Header, message: bytes):
        width, height, wanted, weights, args, reserved = _JOB.unpack_from(message, HEADER_BYTES)
        if reserved or 24 + 4 * wanted + 16 * weights + args != header.payload or not (width and height):
            raise Refused("its payload is no job")
        if -(-header.size[0] // width) * -(-header.size[1] // height) > 65536:
            raise Refused("it has too many tiles")
        tiles = tiles_of(header.size, (width, height))
        indices = struct.unpack_from(f"<{wanted}I", message, HEADER_BYTES + _JOB.size) or range(len(tiles))
        if any(index >= len(tiles) for index in indices):
            raise Refused("it wants a tile that its picture does not have")
        pairs = struct.unpack_from(f"<{2 * weights}Q", message, HEADER_BYTES + _JOB.size + 4 * wanted)
        return header, tiles, indices, dict(zip(pairs[::2], pairs[1::2])), message[len(message) - args :]

    def _pick(self):
        if not self._job:
            return None
        header, tiles, indices, weights, args = self._job
        now = time.monotonic()
        for index in indices:
            if now - self._sent.get(index, -math.inf) < _LOST_AFTER:
                continue
            nodes = [node for node, place in self._workers.items() if is_inside(place, tiles[index])]
            if owner(nodes, weights, index) == self._node:
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
