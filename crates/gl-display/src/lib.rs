//! OpenGL display of pixelferry.
