//! [`PtxGrid`].

/// Blocks of a launch, and threads of each, across and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PtxGrid {
    /// Blocks.
    pub grid: [u32; 2],
    /// Threads.
    pub block: [u32; 2],
}
