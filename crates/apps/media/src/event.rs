//! Input events that the browser's page sends to a scene.

use crate::wire::WireError;
use serde::{Deserialize, Serialize};

/// An input event of the browser's page, sent as JSON. Positions are in pixels of the picture, from the upper left
/// corner of the shown picture; they may be outside of the picture while a button is held.
///
///
/// ```
/// use pixelferry_media::Event;
///
/// let event = Event::read(br#"{"event":"pointer","x":12.5,"y":3,"buttons":1}"#)?;
/// assert_eq!(event, Event::Pointer { x: 12.5, y: 3.0, buttons: 1 });
/// # Ok::<(), pixelferry_media::wire::WireError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "lowercase")]
#[non_exhaustive]
pub enum Event {
    /// The pointer moved, or its buttons changed.
    Pointer {
        /// Columns from the left edge.
        x: f32,
        /// Rows from the upper edge.
        y: f32,
        /// Sum of the pressed buttons: 1 left, 2 right, 4 middle.
        buttons: u16,
    },
    /// The wheel was turned.
    Wheel {
        /// Columns from the left edge.
        x: f32,
        /// Rows from the upper edge.
        y: f32,
        /// Distance to the right, in the browser's pixels.
        dx: f32,
        /// Distance downwards, in the browser's pixels.
        dy: f32,
    },
    /// A key went down or up; a held key repeats its down events.
    Key {
        /// Physical key, such as `KeyA` or `Space`.
        code: String,
        /// Character that the key types, such as `a`, or its name.
        key: String,
        /// Whether the key went down.
        down: bool,
    },
}

impl Event {
    /// Decodes an event.
    ///
    /// # Errors
    /// [`WireError::Payload`] for bytes that are no event, or one of a later version.
    pub fn read(input: &[u8]) -> Result<Self, WireError> {
        let bad = |problem: String| WireError::Payload { codec: "event", problem };
        let event: Self = serde_json::from_slice(input).map_err(|error| bad(error.to_string()))?;
        let numbers = match &event {
            Self::Pointer { x, y, .. } => [*x, *y, 0.0, 0.0],
            Self::Wheel { x, y, dx, dy } => [*x, *y, *dx, *dy],
            Self::Key { .. } => [0.0; 4],
        };
        if numbers.iter().all(|number| number.is_finite()) {
            Ok(event)
        } else {
            Err(bad("a position is out of range".into()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_come_back_and_others_are_refused() {
        let all = [
            Event::Pointer { x: -1.5, y: 2.0, buttons: 5 },
            Event::Wheel { x: 1.0, y: 2.0, dx: 0.0, dy: -120.0 },
            Event::Key { code: "KeyA".into(), key: "ä".into(), down: true },
        ];
        for event in all {
            assert_eq!(Event::read(&serde_json::to_vec(&event).unwrap()), Ok(event));
        }
        for bad in ["", "{}", "[1]", r#"{"event":"tilt","x":1}"#, r#"{"event":"pointer","x":1e300,"y":0,"buttons":0}"#]
        {
            assert!(matches!(Event::read(bad.as_bytes()), Err(WireError::Payload { .. })), "{bad}");
        }
    }
}
