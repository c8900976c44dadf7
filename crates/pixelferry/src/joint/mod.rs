//! Backend, display and path chosen together, by the program's own kernels on scratch memory.
//!
//! | where | what |
//! |---|---|
//! | `declare` | the builder: what a program declares |
//! | `open` | opening what is best for it |
//! | `pairs` | what can be opened, in the order of the cost model |
//! | `bench` | one pair with its scratch memory, and its turns |
//! | `report` | what was found, and why |
//! | `memory` | what is remembered from start to start |

mod bench;
mod declare;
mod memory;
mod open;
mod pairs;
mod report;

pub use declare::{Initial, LinkBuilder, Scratch};
pub use open::Opened;
pub use report::{Basis, JointReport, JointRow, JointState};
