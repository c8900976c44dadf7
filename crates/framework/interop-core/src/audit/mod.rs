//! Audits: frames that are proved while a program runs.
//!
//! A digest is one number for each band of rows. A kernel takes the digest of what the program's kernels wrote, in
//! their queue right behind them. Another one takes the digest of what the display reads, in the display's queue. Both
//! reach the host when the devices are done with them, and nobody waits. Where they differ, the path is left, as after
//! any fault.
//!
//! | module | content |
//! |---|---|
//! | `digest_plan` | the bands of a frame, and the digest on the host |
//! | `digest_kernels` | the digest as kernels |
//! | `digest_transfer` | digests on their way to the host |
//! | `sides` | which memory the digests are taken of |
//! | `auditor` | which frames are audited, and the verdicts |

mod auditor;
mod digest_kernels;
mod digest_plan;
mod digest_transfer;
mod sides;

pub(crate) use auditor::Auditor;
