"""Arrays as textures and buffer objects in the program's own OpenGL context, and back."""

from ._pixelferry import Buffer, Source, Target, Texture

__all__ = ["Buffer", "Source", "Target", "Texture"]
