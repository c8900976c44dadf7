"""Arrays as textures of the program's own OpenGL context."""

from ._pixelferry import Texture

__all__ = ["Texture"]
