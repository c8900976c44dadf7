"""Waves around the mouse: a picture that NumPy computes in each frame, with mouse, wheel and keys. It needs `pip install numpy`."""

import time

import numpy as np
import pixelferry

WIDTH, HEIGHT = 640, 480
Y, X = np.mgrid[0:HEIGHT, 0:WIDTH].astype("float32")


def waves(middle, length, seconds):
    """Red, green and blue from 0 to 1. With `import cupy as np` the same text runs on a GPU, and nothing crosses the host."""
    away = np.hypot(X - middle[0], Y - middle[1])
    light = np.exp(-away / 200) * (0.5 + 0.5 * np.cos(away * (6.28 / length) - 6.28 * seconds))
    return light[:, :, None] * np.array([1.0, 0.8, 0.5], "float32")


def main():
    middle, length, seconds, is_paused = (WIDTH // 2, HEIGHT // 2), 30.0, 0.0, False
    before = time.perf_counter()
    picture = waves(middle, length, seconds)
    with pixelferry.Viewer(WIDTH, HEIGHT, title="waves", vsync=True) as viewer:
        while viewer.is_open:
            for event in viewer.events():
                if event.type == "pointer_move" and event.pixel:
                    middle = event.pixel
                elif event.type == "wheel":
                    length = min(max(length * 0.999**event.dy, 4.0), 400.0)
                elif event.type == "key_down" and event.key == " ":
                    is_paused = not is_paused
                elif event.type == "key_down" and event.key == "s":
                    pixelferry.show(picture, save="waves.png")
            now = time.perf_counter()
            seconds += 0.0 if is_paused else now - before
            before = now
            picture = waves(middle, length, seconds)
            viewer.show(picture)


if __name__ == "__main__":
    main()
