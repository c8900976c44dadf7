//! The ladder beyond the matrix.
