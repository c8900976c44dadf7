//! State of the host that is changed during a call and restored, or for which calls are rejected.

use crate::api::host_state::{ALL, Calls, Setting, StateRow, refusal};
use crate::context::context_state::ContextState;
use crate::objects::switches::{set_color_mask, set_polygon_mode, set_switch};
use glow::HasContext as _;
use interop_core::Result;

impl StateRow {
    /// True where [`StateRow::set`] can set it.
    fn can_be_set(&self, shared: &ContextState) -> bool {
        match self.setting {
            Setting::PixelTransfer(_) => shared.raw.states.pixel_transfer.is_some(),
            Setting::Clamp(_) => shared.raw.states.clamp_color.is_some(),
            Setting::Refused(..) | Setting::Swizzle => false,
            _ => true,
        }
    }

    /// Sets the state. The context must be current and have it.
    fn set(&self, shared: &ContextState, value: f64) {
        let (gl, fns, whole) = (&shared.gl, &shared.raw.states, value as i32);
        // SAFETY: the context is current and has the state; the value was read from it, or is one that every context takes.
        unsafe {
            match self.setting {
                Setting::Switch(switch) => set_switch(shared, switch, value != 0.0),
                Setting::PixelStore(name) => gl.pixel_store_i32(name, whole),
                Setting::PixelTransfer(name) => fns.pixel_transfer.into_iter().for_each(|set| set(name, value as f32)),
                Setting::Clamp(name) => fns.clamp_color.into_iter().for_each(|set| set(name, whole as u32)),
                Setting::ColorMask => set_color_mask(shared, whole as u8),
                Setting::PolygonMode => set_polygon_mode(gl, whole as u32),
                Setting::QueryBuffer => {
                    let buffer = std::num::NonZeroU32::new(whole as u32).map(glow::NativeBuffer);
                    gl.bind_buffer(glow::QUERY_BUFFER, buffer);
                }
                Setting::Feedback if value != 0.0 => gl.resume_transform_feedback(),
                Setting::Feedback => gl.pause_transform_feedback(),
                Setting::Refused(..) | Setting::Swizzle => {}
            }
        }
    }

    /// True where the state need not be read in advance, because it is off unless the host switches it on.
    const fn is_only_kept(&self) -> bool {
        matches!(self.setting, Setting::Feedback | Setting::QueryBuffer | Setting::Refused(..) | Setting::Swizzle)
    }
}

/// States set to their neutral values for some calls, and restored when this is dropped.
pub(crate) struct NeutralState<'a> {
    shared: &'a ContextState,
    before: Vec<(&'static StateRow, f64)>,
}

impl<'a> NeutralState<'a> {
    /// Sets the states. The context must be current. With `keep`, reads them first and restores them; otherwise they
    /// stay set.
    pub(crate) fn set(shared: &'a ContextState, calls: Calls, keep: bool) -> Self {
        let mut before = Vec::new();
        for row in shared.host_states.of(calls) {
            if !keep {
                if !row.is_only_kept() {
                    row.set(shared, row.neutral);
                }
                continue;
            }
            // Most states are as in a new context and need no change.
            let value = row.read(&shared.gl);
            if value != row.neutral {
                row.set(shared, row.neutral);
                before.push((row, value));
            }
        }
        Self { shared, before }
    }
}

impl Drop for NeutralState<'_> {
    fn drop(&mut self) {
        self.before.iter().rev().for_each(|(row, value)| row.set(self.shared, *value));
    }
}

impl ContextState {
    /// Rejects calls that a state of the host would affect and that cannot be set here. The context must be current.
    pub(crate) fn check_host(&self, calls: Calls) -> Result<()> {
        let stuck = self.host_states.of(calls).filter(|row| self.is_engine() && !row.can_be_set(self));
        match stuck.into_iter().find(|row| row.read(&self.gl) != row.neutral) {
            None => Ok(()),
            Some(row) => Err(refusal(row.name)),
        }
    }

    /// Returns the states that differ from a new context. The context must be current.
    pub(crate) fn unusual_states(&self) -> Vec<String> {
        let told = |row: &StateRow| match (row.read(&self.gl), row.setting) {
            (value, _) if value == row.initial => None,
            (value, Setting::Switch(_)) => Some(format!("{} {}", row.name, if value == 0.0 { "off" } else { "on" })),
            (_, Setting::Refused(..) | Setting::Swizzle | Setting::Feedback) => Some(row.name.to_owned()),
            (value, Setting::Clamp(_) | Setting::ColorMask | Setting::PolygonMode) => {
                Some(format!("{} {:#x}", row.name, value as u32))
            }
            (value, _) => Some(format!("{} {value}", row.name)),
        };
        self.host_states.of(ALL).filter_map(told).collect()
    }
}
