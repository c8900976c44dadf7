//! The loop that shows any scene.
