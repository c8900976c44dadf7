"""Arrays as textures and buffer objects of the program's own OpenGL context."""

from ._pixelferry import Buffer, Texture

__all__ = ["Buffer", "Texture"]
