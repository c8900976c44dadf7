//! Joint choice of backend, display and path, with frames that the program shows.
//!
//! The first pair that works shows the first frames ([`LinkBuilder::open`]). A pair's path is selected as for any link
//! ([`interop_core::select`]). With [`LinkBuilder::open_auto`], other backends then compute some of the frames, in
//! alternation with the current one ([`interop_core::tournament`]).
//!
//! The result is stored with the profiles of paths (`together-*.json`), for the kernels' texts, the kinds of their
//! arguments, the name of the work, surface, mode, preferences and devices. The next start opens that pair and checks
//! its time.
//!
//! | module | content |
//! |---|---|
//! | `declare` | the builder with the program's declarations |
//! | `pairs` | the pairs that can be opened, in the order of the cost model |
//! | `open` | opening the first pair that works |
//! | `auto` | the link that switches to another backend |
//! | `contest` | whose turn it is, and the results of the turns |
//! | `lane` | one side of the comparison: its link and its times |
//! | `report` | the findings and their reasons |
//! | `memory` | storage from start to start |

mod auto;
mod contest;
mod declare;
mod lane;
mod memory;
mod open;
mod pairs;
mod report;

pub use auto::AutoLink;
pub use declare::{InitialContent, LinkBuilder, Scratch};
pub use open::OpenedLink;
pub use report::{Basis, JointReport, JointRow, JointState};
