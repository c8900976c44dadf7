//! Loops compiled for this processor's instructions.

/// Loops. Everything that they call should be `inline(always)`, because only inlined code is compiled for the
/// processor.
pub trait Loops {
    fn run(self);
}

/// Runs loops with the widest vector instructions of the processor.
pub fn run(loops: impl Loops) {
    #[cfg(target_arch = "x86_64")]
    if std::arch::is_x86_feature_detected!("avx2") {
        // SAFETY: the processor supports what the function needs.
        return unsafe { avx2(loops) };
    }
    loops.run();
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn avx2(loops: impl Loops) {
    loops.run();
}
