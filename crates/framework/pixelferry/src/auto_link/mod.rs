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
//! | `link_builder` | the builder with the program's declarations |
//! | `pairs` | the pairs that can be opened, in the order of the cost model |
//! | `open` | opening the first pair that works |
//! | `link` | the link that switches to another backend |
//! | `backend_trials` | whose turn it is, and the results of the turns |
//! | `contender` | one side of the comparison: its link and its times |
//! | `report` | the findings and their reasons |
//! | `saved_choice` | storage from start to start |

mod backend_trials;
mod contender;
mod link;
mod link_builder;
mod open;
mod pairs;
mod report;
mod saved_choice;

pub use link::AutoLink;
pub use link_builder::{InitialContent, LinkBuilder, Scratch};
pub use open::OpenedLink;
pub use report::{Basis, PairReport, PairRow, PairState};
