//! Luma and chroma, the pixels of video: conversion from and to RGB, and frames of YUV4MPEG2 (Y4M), which encoders read
//! from a pipe. The crate `yuv` (0.8) is no replacement: it cuts off luma below black, and panics where a picture with an
//! odd number of rows has padding between its planes.

mod make;
mod matrix;
mod planes;

pub use make::{Frames, Yuv};
pub use matrix::Matrix;
pub use planes::{Layout, Plane, Planes};

/// Pictures with at least this many rows use BT.709.
const HIGH: u32 = 720;

/// Weights of red and blue in luma.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// Weight of red.
    pub red: f64,
    /// Weight of blue.
    pub blue: f64,
}

impl Weights {
    /// ITU-R BT.601-7, 2.5.1.
    pub const BT601: Self = Self { red: 0.299, blue: 0.114 };
    /// ITU-R BT.709-6, 3.2.
    pub const BT709: Self = Self { red: 0.2126, blue: 0.0722 };
    /// ITU-R BT.2020-2, table 4.
    pub const BT2020: Self = Self { red: 0.2627, blue: 0.0593 };

    /// Weights for a video that names no matrix, such as a Y4M file: BT.709 from 720 rows on, BT.601 below.
    pub const fn of_rows(rows: u32) -> Self {
        if rows < HIGH { Self::BT601 } else { Self::BT709 }
    }
}
