//! The available filters.

/// The filter to apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Filter {
    /// Gaussian blur, radius 6, sigma 2.5.
    Gaussian,
    /// Strength of edges.
    Sobel,
    /// Blur, then edges: less noise.
    #[default]
    Edges,
}
