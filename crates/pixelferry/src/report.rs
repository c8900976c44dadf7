//! Reports of what was found, measured and chosen: by [`crate::probe`], by [`crate::LinkBuilder::open`] and by a link.

pub use crate::availability::Availability;
pub use crate::backends::BackendStatus;
pub use crate::displays::DisplayStatus;
pub use crate::joint::{Basis, JointReport, JointRow, JointState};
pub use crate::probe::{Chosen, Sharing, SystemReport};
pub use interop_core::{Diagnosis, Lateness, Measured, PathReport, PathState, ProbeReport, Ratio};
