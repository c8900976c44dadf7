"""Which workers of a scene are alive, and which tiles they owe."""

from __future__ import annotations

import re

from ._shares import owners
from ._wire import Refused

#: No cluster has more workers; further ones are invented by somebody.
_MOST = 4096
_SIDES = 1 << 32
_KEY = re.compile(r"worker/([0-9a-f]{16})/(\d{1,10})_(\d{1,10})_(\d{1,10})_(\d{1,10})", re.ASCII)
_TIMES, _LEAST, _USUAL, _MOST_PATIENCE, _KEPT = 4, 0.2, 2.0, 60.0, 64
_PAUSE, _MOST_DOUBLINGS = 2.0, 7


def token(node: int, region) -> str:
    """The last part of the key of a worker's token."""
    return f"worker/{node:016x}/" + "_".join(str(side) for side in region)


class Workers:
    """The live workers of a scene, and the region that each computes, taken from their tokens."""

    def __init__(self):
        self._places, self._shares = {}, None

    def take(self, key: str, is_there: bool) -> bool:
        """Takes a token that appeared or went, and returns whether that changed anything. Raises `Refused` for an
        invalid one."""
        found = _KEY.fullmatch("/".join(key.split("/")[-3:]))
        node, place = (int(found[1], 16), tuple(map(int, found.groups()[1:]))) if found else (0, ())
        if not found or max(place) >= _SIDES or not key.endswith(token(node, place)):
            raise Refused("invalid token of a worker")
        known = self._places.get(node)
        if not is_there:
            # What somebody else says of a worker ends it as little as it moves it.
            return known == place and self._places.pop(node) is not None
        if known is not None or len(self._places) >= _MOST:
            return False
        self._places[node] = place
        return True

    def own(self, node: int, place) -> None:
        """Adds this program's own worker, whatever the network reports about it."""
        self._places[node] = tuple(place)

    def nodes(self):
        """The numbers of the live workers."""
        return self._places.keys()

    def owners(self, tiles, weights) -> list:
        """The worker of each tile, if any. Computed again only when the workers, the tiles or the weights have
        changed."""
        of = (dict(self._places), dict(weights), tiles)
        if not self._shares or self._shares[0] != of:
            self._shares = (of, owners(*of))
        return self._shares[1]


class _Row:
    def __init__(self):
        self.owes, self.longest, self.patience, self.passed, self.has_sent = None, 0.0, 0.0, None, False
        self.times, self.until = 0, None

    def _pause(self, times: int) -> float:
        return _PAUSE * 2 ** min(times, _MOST_DOUBLINGS)

    def pass_over(self, since: float, now: float) -> None:
        # It may send all tiles but one, which it cannot compute.
        if self.until is None or since - self.until >= self._pause(max(self.times - 1, 0)):
            self.times = 0
        self.until = now + self._pause(self.times)
        self.passed, self.owes, self.times = (since, self.until), None, self.times + 1

    def learn(self) -> None:
        """Twice the longest wait, or the time needed before if that was less: a hang long ago is forgotten."""
        self.patience = min(max(self.longest * 2, self.patience * 0.75), _MOST_PATIENCE)


class Owing:
    """Since when each worker owes tiles, and which workers are passed over for it."""

    def __init__(self):
        self._rows: dict[int, _Row] = {}
        self._waits: list[float] = []

    def look(self, owners: set[int], live, deadline: float, now: float) -> None:
        """Takes the live workers that owe tiles now; no other worker owes any.

        When one owes tiles for too long, all workers that have never sent a tile are passed over together with it,
        provided that some worker has sent one.
        """
        for node, row in self._rows.items():
            if row.passed and now >= row.passed[1]:
                row.passed = None
            if node not in owners:
                row.owes = None
        is_late, usual = False, min(self._usual(), max(deadline, _LEAST))
        for row in filter(None, map(self._row, owners)):
            row.owes = now if row.owes is None else row.owes
            if now - row.owes >= max(row.patience, usual):
                row.pass_over(row.owes, now)
                is_late = True
        rows = [row for row in map(self._row, live) if row] if is_late else []
        if any(row.has_sent and not row.passed for row in rows):
            for row in rows:
                if not row.has_sent and not row.passed:
                    row.pass_over(now, now)

    def _row(self, node: int):
        if node not in self._rows and len(self._rows) >= _MOST:
            self._rows = {node: row for node, row in self._rows.items() if row.owes is not None or row.passed}
            if len(self._rows) >= _MOST:
                return None
        return self._rows.setdefault(node, _Row())

    def _usual(self) -> float:
        """The time to wait for a worker about which nothing is known."""
        waits = sorted(self._waits)
        return min(max(waits[len(waits) // 2] * _TIMES, _LEAST), _MOST_PATIENCE) if waits else _USUAL

    def sent(self, node: int, now: float) -> None:
        """A live worker sent a tile: the time for its other tiles starts now."""
        if row := self._row(node):
            since, passed = row.owes, row.passed
            if since is None and passed:
                since = passed[0]
            row.owes, row.passed, row.has_sent = now, None, True
            if since is not None:
                row.longest = max(row.longest, now - since)
            if passed:
                row.until = None  # It was slow, but alive.
                row.learn()

    def begin(self) -> None:
        """A frame begins: what was seen during the last one counts."""
        for row in self._rows.values():
            if row.longest:
                self._waits.append(row.longest)
                row.learn()
                row.longest = 0.0
        del self._waits[:-_KEPT]

    def owed(self, now: float) -> dict[int, float]:
        """For how long each worker that is passed over has owed tiles."""
        return {node: now - row.passed[0] for node, row in self._rows.items() if row.passed and now < row.passed[1]}

    def clear(self) -> None:
        """Records that no tile is missing any more."""
        for row in self._rows.values():
            row.owes = None

    def weights(self, now: float) -> dict[int, int]:
        """A weight of 0 for each worker that is passed over."""
        return dict.fromkeys(self.owed(now), 0)
