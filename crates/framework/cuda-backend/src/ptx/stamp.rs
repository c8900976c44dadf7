//! Links PTX in the repository to the source that it was compiled from.

use interop_core::describe::pattern::Pattern;

/// Returns the pattern's kernels with the function that they call.
pub fn pattern_text(kernels: &str) -> String {
    format!("{}\n{kernels}", Pattern::C_SOURCE)
}

/// Returns the first line of the PTX that was compiled from `source` in `file`. FNV-1a suffices, because it detects
/// mistakes, not attacks.
pub fn line(file: &str, source: &str) -> String {
    let hash = source
        .replace("\r\n", "\n")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("// Compiled from {file} by cargo xtask ptx; source {hash:016x}")
}
