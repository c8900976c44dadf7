"""Measures how fast a sender's link is, for senders that choose their codec by it."""

from __future__ import annotations

import struct
import time

from ._wire import MARK, REPORT, Header, Refused

_TELL_EVERY = 0.25
_REPORT = struct.Struct("<3Q")


class Meter:
    """Measures the time from the arrival of a mark to the end of the message that follows it. Callers hold the lock."""

    def __init__(self, receiver: int):
        self._receiver, self._marks, self._sums, self._told = receiver, {}, {}, {}
        self.refused = 0

    def mark(self, message: bytes) -> None:
        """Records the arrival of a mark."""
        try:
            header = Header.read(message, MARK)
        except Refused:
            self.refused += 1
            return
        if len(self._marks) < 4096 or header.sender in self._marks:
            self._marks[header.sender] = (header.epoch, header.frame, header.region, time.monotonic())

    def came(self, header: Header) -> None:
        """Records the arrival of a message with pixels."""
        mark = self._marks.get(header.sender)
        if mark and mark[:3] == (header.epoch, header.frame, header.region):
            self._marks[header.sender] = (0, 0, None, 0.0)
            size, seconds = self._sums.get(header.sender, (0, 0.0))
            self._sums[header.sender] = (size + header.payload, seconds + time.monotonic() - mark[3])

    def due(self) -> list[tuple[int, bytes]]:
        """The senders, and the report to send to each."""
        now, due = time.monotonic(), []
        for sender in [each for each in self._sums if now - self._told.get(each, 0.0) >= _TELL_EVERY]:
            size, seconds = self._sums.pop(sender)
            self._told[sender] = now
            # Messages to Python never pass through shared memory.
            payload = _REPORT.pack(size, max(int(seconds * 1e6), 1), 0)
            header = Header(REPORT, (1, 1), (0, 0, 1, 1), "R8", sender=self._receiver, payload=len(payload))
            due.append((sender, header.to_bytes() + payload))
        return due
