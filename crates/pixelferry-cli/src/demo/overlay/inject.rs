//! Faults as the user asks for them.

use pixelferry_faults::{Fault, FaultKind, Side, Step};

/// Fault that is chosen in the picker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wish {
    pub step: Step,
    pub kind: FaultKind,
    /// Until it is cleared, not once.
    pub lasting: bool,
}

impl Default for Wish {
    fn default() -> Self {
        Self { step: Step::Launch, kind: FaultKind::Driver, lasting: false }
    }
}

impl Wish {
    pub fn fault(self) -> Fault {
        Fault { step: self.step, nth: 1, lasting: self.lasting, kind: self.kind }
    }
}

/// Every way to fail, with its name.
pub const KINDS: [(FaultKind, &str); 4] = [
    (FaultKind::Driver, "driver error"),
    (FaultKind::Timeout, "timeout"),
    (FaultKind::OutOfMemory, "out of memory"),
    (FaultKind::ContextLost, "context lost"),
];

pub fn kind_name(kind: FaultKind) -> &'static str {
    KINDS.iter().find(|(k, _)| *k == kind).map_or("", |(_, name)| name)
}

/// Without the side, which stands beside it.
pub fn short_name(step: Step) -> &'static str {
    step.name().split_once(": ").map_or(step.name(), |(_, name)| name)
}

pub fn side_name(step: Step) -> &'static str {
    match step.side() {
        Side::Compute => "compute",
        Side::Display => "display",
    }
}

/// The step's name on the command line: `display-upload-staged`.
fn slug(step: Step) -> String {
    format!("{}-{}", side_name(step), short_name(step).replace(' ', "-"))
}

/// A fault, and the frame before which it is injected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Injection {
    pub step: Step,
    pub frame: u64,
}

/// Reads `STEP` or `STEP@FRAME`.
pub fn parse(text: &str) -> Result<Injection, String> {
    let (name, frame) = match text.split_once('@') {
        Some((name, frame)) => (name, frame.parse().map_err(|e| format!("'{frame}' is no number of a frame: {e}"))?),
        None => (text, 10),
    };
    let step = Step::ALL.iter().copied().find(|step| slug(*step) == name).ok_or_else(|| {
        format!("no such step; the steps are {}", Step::ALL.iter().map(|s| slug(*s)).collect::<Vec<_>>().join(", "))
    })?;
    Ok(Injection { step, frame })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_step_can_be_asked_for() {
        for step in Step::ALL {
            assert_eq!(parse(&format!("{}@7", slug(*step))), Ok(Injection { step: *step, frame: 7 }));
        }
        assert_eq!(parse("compute-launch").map(|i| i.frame), Ok(10));
        assert!(parse("sabotage").unwrap_err().contains("display-upload-staged"));
        assert!(parse("compute-launch@soon").unwrap_err().contains("soon"));
    }
}
