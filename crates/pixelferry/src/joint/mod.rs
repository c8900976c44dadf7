//! Backend, display and path chosen together, with the program's own kernels on scratch memory.
//!
//! Each backend that has a text of every kernel is opened with each display. The path of the pair is chosen as for any link
//! ([`interop_core::select`]), in half of the time for all pairs; what that leaves untimed is compared while the program runs. The
//! kernels then write the new link's memory, the frame is drawn, and the host waits for it. Pairs take turns with the best so far
//! ([`interop_core::tournament`]), so few at a time that the devices' memory suffices.
//!
//! The result is remembered beside the profiles of paths (`together-*.json`), for these kernels' texts, arguments' sizes, surface,
//! mode, wishes and devices. The next start opens that pair and measures nothing, unless it has more time and pairs were left untried.
//!
//! | where | what |
//! |---|---|
//! | `declare` | the builder: what a program declares |
//! | `open` | opening what is best for it |
//! | `pairs` | what can be opened, in the order of the cost model |
//! | `bench` | one pair with its scratch memory, and its turns |
//! | `report` | what was found, and why |
//! | `memory` | what is remembered from start to start |
//! | `trials` | pairs compared with the program's own frames, while it shows them |

mod bench;
mod declare;
mod memory;
mod open;
mod pairs;
mod report;
mod trials;

pub use bench::RepeatableFrame;
pub use declare::{Initial, LinkBuilder, Scratch};
pub use open::Opened;
pub use report::{Basis, JointReport, JointRow, JointState};
pub use trials::PairTrials;
