"""Chooses who computes each tile: the rule under "Who computes a tile" in ``integrations/net/docs/protocol.md``."""

from __future__ import annotations

import numpy

#: The weight of a worker that is not listed.
_USUAL = 1000
#: The number of scores computed at a time.
_BLOCK = 1 << 18


def _mix(words):
    words = words + numpy.uint64(0x9E3779B97F4A7C15)
    words = (words ^ words >> numpy.uint64(30)) * numpy.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ words >> numpy.uint64(27)) * numpy.uint64(0x94D049BB133111EB)
    return words ^ words >> numpy.uint64(31)


def owners(places: dict[int, tuple], weights: dict[int, int], tiles: list[tuple]) -> list:
    """The worker of each tile, or ``None``. ``places`` holds each worker's region."""
    nodes = sorted(places, reverse=True)
    counted = {node: weights.get(node, _USUAL) for node in nodes if weights.get(node, _USUAL)}
    found = [None] * len(tiles)
    # Workers that are passed over only get tiles that no other worker may compute.
    for group in (counted, {node: 1 for node in nodes if node not in counted}):
        rest = [tile for tile, owner in enumerate(found) if owner is None]
        if group and rest:
            for tile, owner in _Deal(places, group, tiles).deal(rest):
                found[tile] = owner
    return found


class _Deal:
    """Rendezvous hashing with bounded load, of tiles among workers with weights."""

    def __init__(self, places, weights, tiles):
        self._nodes, self._weights = list(weights), list(weights.values())
        self._ids = numpy.array(self._nodes, numpy.uint64)
        self._even = len(set(self._weights)) == 1
        self._float = numpy.array(self._weights, numpy.float64)
        self._tiles = tiles
        self._places = numpy.array([places[node] for node in self._nodes], numpy.int64)
        self._anywhere = not self._places.any()

    def _keys(self, tiles):
        """The rank of the workers for each tile; 0 for those that may not compute it."""
        scores = _mix(self._ids ^ _mix(numpy.array(tiles, numpy.uint64))[:, None])
        if not self._even:
            with numpy.errstate(divide="ignore"):
                scores = abs(self._float / numpy.log(((scores >> numpy.uint64(11)) + 0.5) / 2.0**53))
        if not self._anywhere:
            x, y, w, h = self._places.T
            a, b, c, d = numpy.array([self._tiles[tile] for tile in tiles], numpy.int64).T[:, :, None]
            inside = (x <= a) & (a + c <= x + w) & (y <= b) & (b + d <= y + h)
            scores[~(inside | ~self._places.any(axis=1))] = 0
        return scores

    def deal(self, tiles):
        """Pairs of tile and worker: each tile's highest score while shares last, then the highest one with room."""
        total = sum(self._weights)
        share = numpy.array([-(-len(tiles) * weight // total) for weight in self._weights])
        firsts, step = [[] for _ in self._nodes], max(_BLOCK // len(self._nodes), 1)
        for start in range(0, len(tiles), step):
            block = tiles[start : start + step]
            keys = self._keys(block)
            best = keys.argmax(axis=1)
            for tile, at, key in zip(block, best.tolist(), keys[range(len(block)), best].tolist(), strict=True):
                if key:
                    firsts[at].append((-key, tile))
        rest, room = [], share.copy()
        for at, first in enumerate(firsts):
            first.sort()
            rest += [tile for _, tile in first[share[at] :]]
            room[at] -= min(len(first), share[at])
            yield from ((tile, self._nodes[at]) for _, tile in first[: share[at]])
        rest.sort()
        while rest:
            full = []
            for start in range(0, len(rest), step):
                block = rest[start : start + step]
                for tile, keys in zip(block, self._keys(block), strict=True):
                    keys[room <= 0] = 0
                    at = int(keys.argmax())
                    if keys[at]:
                        room[at] -= 1
                        yield tile, self._nodes[at]
                    else:
                        full.append(tile)
            # The tiles whose regions belong only to full workers.
            rest, room, share = full, room + share, share * 2
