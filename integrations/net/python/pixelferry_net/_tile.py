"""A worker: tiles of the newest arguments, one after the other."""

from __future__ import annotations

import dataclasses
import math
import secrets
import threading
import time

import zenoh

from ._alive import Workers, token
from ._followed import AGAIN, OLDER, Followed
from ._job import JobMessage
from ._session import Declared
from ._wire import PIXEL_BYTES, TILE, Header, Refused

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
        self._region, self._workers = tuple(region), Workers()
        self._workers.own(self._node, region)
        self._job, self._sent, self._followed = None, {}, Followed()
        self.refused = 0
        root = f"pixelferry/{scene}"
        self._publisher = self._keep(session.declare_publisher(
            f"{root}/tile/{self._node:016x}", congestion_control=zenoh.CongestionControl.BLOCK, express=True
        ))  # fmt: skip
        self._keep(session.declare_subscriber(f"{root}/job", self._weak(self._take)))
        live = session.liveliness()
        self._keep(live.declare_subscriber(f"{root}/worker/*/*", self._weak(self._live), history=True))
        # Undeclared first: others take over what this one does not get any more.
        self._keep(live.declare_token(f"{root}/{token(self._node, self._region)}"))

    def _live(self, sample):
        with self._changed:
            try:
                self._workers.take(str(sample.key_expr), sample.kind == zenoh.SampleKind.PUT)
            except Refused:
                self.refused += 1
            self._workers.own(self._node, self._region)
            self._changed.notify_all()

    def _take(self, sample):
        with self._changed:
            try:
                job = JobMessage.read(bytes(sample.payload))
                news = self._followed.accept(job.header.epoch, job.header.frame)
            except Refused:
                self.refused += 1
                return
            if news == OLDER:
                return
            if news != AGAIN:
                self._sent = {}
            self._job = (job, job.tiles())
            self._changed.notify_all()

    def _pick(self):
        if not self._job:
            return None
        job, tiles = self._job
        now = time.monotonic()
        for index in job.wanted or range(len(tiles)):
            if now - self._sent.get(index, -math.inf) < _LOST_AFTER:
                continue
            if self._workers.owner(tiles[index], index, job.weights) != self._node:
                continue
            try:
                return Job(job.header, index, tiles[index], job.args)
            except MemoryError:
                # Whoever asks for so much may be a stranger: the next job is another's.
                self._job = None
                self.refused += 1
                return None
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
            newest = self._job and self._job[0].header
            if newest and (newest.epoch, newest.frame) == (job.header.epoch, job.header.frame):
                self._sent[job.index] = time.monotonic()
