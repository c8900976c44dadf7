"""Films of what a viewer shows."""

import numpy as np
import pytest

import pixelferry


@pytest.fixture(params=["gl", "memory"])
def viewer(request):
    with pixelferry.Viewer(48, 32, headless=True, display=request.param) as made:
        yield made


def films(path):
    """The lumas of a Y4M film: (frames, height, width)."""
    header, _, rest = path.read_bytes().partition(b"\n")
    words = header.split()
    width, height = (int(next(word[1:] for word in words if word[:1] == side)) for side in (b"W", b"H"))
    frames = np.frombuffer(rest, "u1").reshape(-1, 6 + 3 * width * height)
    assert all(frame[:6].tobytes() == b"FRAME\n" for frame in frames)
    return frames[:, 6:6 + width * height].reshape(-1, height, width)


def luma(grey):
    return round(16 + grey / 255 * 219)


def test_each_array_is_a_frame(viewer, tmp_path):
    with viewer.record(tmp_path / "film.y4m", rate=25, step=True) as film:
        assert film.frames is None and "under way" in repr(film)
        for grey in range(20):
            viewer.show(np.full((32, 48), grey * 10, "u1"))
    assert (film.frames, film.dropped) == (20, 0) and "20 frames" in repr(film)
    film.stop()
    found = films(tmp_path / "film.y4m")
    assert found.shape == (20, 32, 48)
    assert all((frame == luma(grey * 10)).all() for grey, frame in enumerate(found))
    # What comes later is not in it, and another film may begin.
    viewer.show(np.zeros((32, 48), "u1"))
    with viewer.record(tmp_path / "%02d.png", step=True):
        viewer.show(np.full((32, 48), 99, "u1"))
    assert [file.name for file in sorted(tmp_path.glob("*.png"))] == ["00.png"]


def test_a_film_by_the_clock_has_what_was_shown(viewer, tmp_path):
    film = viewer.record(tmp_path / "film.y4m", rate=200)
    for grey in (10, 20, 30):
        viewer.show(np.full((32, 48), grey, "u1"))
    film.stop()
    found = films(tmp_path / "film.y4m")
    assert len(found) == film.frames >= 1
    levels = [int(frame[0, 0]) for frame in found]
    assert levels == sorted(levels) and set(levels) <= {luma(grey) for grey in (10, 20, 30)}
    assert levels[0] == luma(10)


def test_what_is_no_film_is_refused(viewer, tmp_path):
    for name in ("film.gif", "film.png", "-"):
        with pytest.raises(pixelferry.ShapeError):
            viewer.record(name)
    with pytest.raises(FileNotFoundError):
        viewer.record(tmp_path / "absent" / "film.y4m")
    with pytest.raises(pixelferry.ShapeError):
        viewer.record(tmp_path / "film.y4m", rate=0)
    film = viewer.record(tmp_path / "film.y4m")
    with pytest.raises(pixelferry.ShapeError, match="already"):
        viewer.record(tmp_path / "other.y4m")
    viewer.show(np.zeros((32, 48), "u1"))
    viewer.close()
    with pytest.raises(pixelferry.ClosedError):
        film.stop()
    assert len(films(tmp_path / "film.y4m")) >= 1


def test_a_full_disk_is_said(viewer, tmp_path):
    (tmp_path / "full.y4m").symlink_to("/dev/full")
    film = viewer.record(tmp_path / "full.y4m", step=True)
    with pytest.raises(OSError, match="No space left"):
        for _ in range(50):
            viewer.show(np.zeros((32, 48), "u1"))
        film.stop()
    # The viewer goes on.
    viewer.show(np.zeros((32, 48), "u1"))
