//! Reports of findings, measurements and choices: from [`crate::probe`], from [`crate::LinkBuilder::open`] and from
//! links.

pub use crate::auto_link::{Basis, PairReport, PairRow, PairState};
pub use crate::availability::Availability;
pub use crate::backends::BackendStatus;
pub use crate::displays::DisplayStatus;
pub use crate::probe::{DefaultChoice, SharingLevel, SystemReport};
pub use interop_core::{Diagnosis, Lateness, PathCost, PathReport, PathState, ProbeReport, Ratio};
