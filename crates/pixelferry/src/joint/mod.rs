//! Backend, display and path chosen together, by frames that the program shows.
//!
//! The first pair that works shows the first frames ([`LinkBuilder::open`]). The path of a pair is chosen as for any link
//! ([`interop_core::select`]). With [`LinkBuilder::open_auto`], the other backends then make some of the frames, in turns with the
//! one in use ([`interop_core::tournament`]).
//!
//! The result is remembered beside the profiles of paths (`together-*.json`), for the kernels' texts, the kinds of their arguments, the
//! name of the work, surface, mode, wishes and devices. The next start opens that pair and checks the time that it takes.
//!
//! | where | what |
//! |---|---|
//! | `declare` | the builder: what a program declares |
//! | `pairs` | what can be opened, in the order of the cost model |
//! | `open` | opening the first pair that works |
//! | `auto` | the link that goes over to another backend |
//! | `contest` | whose turn it is, and what the turns told |
//! | `lane` | a side of the comparison: its link and its times |
//! | `report` | what was found, and why |
//! | `memory` | what is remembered from start to start |

mod auto;
mod contest;
mod declare;
mod lane;
mod memory;
mod open;
mod pairs;
mod report;

pub use auto::AutoLink;
pub use declare::{Initial, LinkBuilder, Scratch};
pub use open::Opened;
pub use report::{Basis, JointReport, JointRow, JointState};
