"""A worker, which computes tiles of the newest arguments one after the other."""

from __future__ import annotations

import dataclasses
import logging
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
#: After giving up this many tiles in a row a worker pauses: first for this many seconds, and twice as long each time.
_MOST_GIVEN_UP, _PAUSE, _MOST_DOUBLINGS = 3, 2.0, 6
_LOG = logging.getLogger("pixelferry_net")


class Job:
    """A tile to compute: fill ``pixels``, the tight rows of ``region``, then call `Tile.publish`."""

    def __init__(self, header: Header, index: int, region, args: bytes):
        self.header, self.index, self.region, self.args = header, index, region, args
        self.frame, self.format = header.frame, header.format
        self.begun = time.monotonic()
        self.pixels = bytearray(region[2] * region[3] * PIXEL_BYTES[header.format])


class Tile(Declared):
    """A worker of one scene. The newest arguments win; which worker computes which tile follows from the live workers.

    Only one thread may take its jobs. A job that is not published before the next one is taken counts as given up.
    After three of them in a row this worker pauses, longer each time, until it publishes a tile.
    """

    def __init__(self, session: zenoh.Session, scene: str, region=(0, 0, 0, 0)):
        super().__init__(session)
        self._changed = threading.Condition()
        self._node = secrets.randbits(64)
        self._region, self._workers = tuple(region), Workers()
        self._workers.own(self._node, region)
        self._job, self._queue, self._sent, self._followed = None, [], {}, Followed()
        self._begun, self._given_up, self._away_until = None, 0, None
        self.refused = 0
        root = f"pixelferry/{scene}"
        self._publisher = self._keep(session.declare_publisher(
            f"{root}/tile/{self._node:016x}", congestion_control=zenoh.CongestionControl.BLOCK, express=True
        ))  # fmt: skip
        self._keep(session.declare_subscriber(f"{root}/job", self._weak(self._take)))
        live = session.liveliness()
        self._keep(live.declare_subscriber(f"{root}/worker/*/*", self._weak(self._live), history=True))
        self._key, self._token = f"{root}/{token(self._node, self._region)}", None
        self._offer()

    def _offer(self):
        # Declared last and so undeclared first: others take over the tiles that this worker no longer receives.
        self._token = self._keep(self._session.liveliness().declare_token(self._key))

    def _live(self, sample):
        with self._changed:
            try:
                self._workers.take(str(sample.key_expr), sample.kind == zenoh.SampleKind.PUT)
            except Refused:
                self.refused += 1
            self._workers.own(self._node, self._region)
            self._plan()

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
            if not self._job or (self._job[0].header.size, self._job[0].tile) != (job.header.size, job.tile):
                self._tiles = job.tiles()
            self._job = (job, self._tiles)
            self._plan()

    def _plan(self):
        """Marks the queue as outdated; it is rebuilt when it is next read, because callbacks must be short."""
        self._queue = None
        self._changed.notify_all()

    def _wanted(self):
        """The tiles requested of this worker, the next one last. A tile that was given up waits until the display
        requests it again."""
        if not self._job:
            return []
        job, tiles = self._job
        owners, now = self._workers.owners(tiles, job.weights), time.monotonic()
        return [
            index for index in reversed(job.wanted or range(len(tiles)))
            if owners[index] == self._node and now - self._sent.get(index, -_LOST_AFTER) >= _LOST_AFTER
        ]  # fmt: skip

    def _pick(self):
        if self._queue is None:
            self._queue = self._wanted()
        if not self._queue or self._away_until is not None:
            return None
        index, (job, tiles) = self._queue.pop(), self._job
        try:
            self._begun = Job(job.header, index, tiles[index], job.args)
        except MemoryError:
            # The sender of so large a request may be a stranger: the next job is another display's.
            self._job, self._queue = None, []
            self.refused += 1
            return None
        return self._begun

    def _give_up(self):
        """Counts a tile that was given up although it is requested; one too many withdraws the token."""
        begun, self._begun = self._begun, None
        if begun is None or not self._is_newest(begun):
            return
        self._given_up += 1
        if self._given_up >= _MOST_GIVEN_UP:
            pause = _PAUSE * 2 ** min(self._given_up - _MOST_GIVEN_UP, _MOST_DOUBLINGS)
            _LOG.warning("too many tiles in a row were given up; this worker pauses for %.0f s", pause)
            self._away_until = time.monotonic() + pause

    def _is_newest(self, job):
        newest = self._job and self._job[0].header
        return newest and (newest.epoch, newest.frame) == (job.header.epoch, job.header.frame)

    def next(self, timeout: float):
        """The next tile for this worker, or ``None`` if none arrived in time."""
        until = time.monotonic() + timeout
        while True:
            with self._changed:
                self._give_up()
                is_away = self._away_until is not None
                is_back = is_away and self._end.alive and time.monotonic() >= self._away_until
                if is_back:
                    self._away_until = None
                    self._plan()
            # Declared and undeclared without the lock, for which the notification of it waits.
            if is_back:
                self._offer()
            elif is_away and self._token:
                self._drop(self._token)
                self._token = None
            with self._changed:
                if job := self._pick():
                    return job
                wake = until if self._away_until is None else min(until, self._away_until)
                left = wake - time.monotonic()
                if left > 0:
                    self._changed.wait(left)
                elif wake == until:
                    return None

    def run(self, function) -> None:
        """Computes tiles until the worker is closed: ``function(job)`` fills the pixels of a job. An exception in it
        closes the worker and is raised."""
        with self:
            while self._end.alive:
                if job := self.next(0.5):
                    function(job)
                    self.publish(job)

    def publish(self, job: Job) -> None:
        """Sends a tile to the displays of the scene."""
        cost = min(int((time.monotonic() - job.begun) * 1e6), 2**32 - 1)
        header = dataclasses.replace(
            job.header, kind=TILE, region=job.region, sender=self._node, cost=cost, payload=len(job.pixels)
        )
        self._publisher.put(header.to_bytes() + bytes(job.pixels))
        with self._changed:
            self._begun, self._given_up = None, 0
            if self._is_newest(job):
                self._sent[job.index] = time.monotonic()
