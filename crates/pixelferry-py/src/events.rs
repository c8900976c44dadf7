//! Events of the window's user, as Python sees them.

use pixelferry::api::gl::winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use pixelferry::api::gl::winit::keyboard::{Key, ModifiersState};
use pyo3::prelude::*;
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

/// Older ones go where nobody asks for them.
const MOST: usize = 4096;

/// Something that the user did, or that happened to the window. Fields without meaning for its kind are None.
#[pyclass(module = "pixelferry", frozen, get_all)]
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Event {
    kind: &'static str,
    /// Position in the window, in pixels from its top left corner; for "wheel" and the buttons, too.
    x: Option<f64>,
    y: Option<f64>,
    /// Column and row of the array that is there.
    pixel: Option<(u32, u32)>,
    button: Option<String>,
    /// Lines of the wheel: right and away from the user are positive.
    dx: Option<f64>,
    dy: Option<f64>,
    key: Option<String>,
    text: Option<String>,
    repeat: Option<bool>,
    size: Option<(u32, u32)>,
    /// "shift", "control", "alt", "super": those that are held.
    modifiers: Vec<&'static str>,
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let mut out = format!("<pixelferry.Event: {}", self.kind);
        let mut tell = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                out += &format!(", {name}={value}");
            }
        };
        tell("x", self.x.map(|x| x.to_string()));
        tell("y", self.y.map(|y| y.to_string()));
        tell("pixel", self.pixel.map(|pixel| format!("{pixel:?}")));
        tell("button", self.button.clone());
        tell("dx", self.dx.map(|dx| dx.to_string()));
        tell("dy", self.dy.map(|dy| dy.to_string()));
        tell("key", self.key.as_ref().map(|key| format!("{key:?}")));
        tell("size", self.size.map(|size| format!("{size:?}")));
        tell("modifiers", (!self.modifiers.is_empty()).then(|| self.modifiers.join("+")));
        out + ">"
    }
}

impl Event {
    fn of(kind: &'static str) -> Self {
        Self { kind, ..Self::default() }
    }

    /// The window was closed.
    pub fn closed() -> Self {
        Self::of("close")
    }
}

/// State of the pointer and keys that events do not repeat.
#[derive(Default)]
pub struct Hand {
    at: Option<(f64, f64)>,
    modifiers: ModifiersState,
}

impl Hand {
    /// Returns what Python gets for an event of the window system. `pixel` finds what the window shows at a place.
    pub fn follow(&mut self, event: &WindowEvent, pixel: impl Fn(f64, f64) -> Option<(u32, u32)>) -> Option<Event> {
        let mut made = match event {
            WindowEvent::ModifiersChanged(now) => {
                self.modifiers = now.state();
                return None;
            }
            WindowEvent::CursorMoved { position, .. } => {
                self.at = Some((position.x, position.y));
                Event::of("mouse_move")
            }
            WindowEvent::CursorLeft { .. } => {
                self.at = None;
                Event::of("mouse_leave")
            }
            WindowEvent::MouseInput { state, button, .. } => Event {
                button: Some(match button {
                    MouseButton::Other(number) => number.to_string(),
                    known => format!("{known:?}").to_lowercase(),
                }),
                ..Event::of(if *state == ElementState::Pressed { "mouse_down" } else { "mouse_up" })
            },
            WindowEvent::MouseWheel { delta, .. } => {
                /// Pixels of a line, for devices that report pixels.
                const LINE: f64 = 20.0;
                let (dx, dy) = match delta {
                    MouseScrollDelta::LineDelta(x, y) => (f64::from(*x), f64::from(*y)),
                    MouseScrollDelta::PixelDelta(by) => (by.x / LINE, by.y / LINE),
                };
                Event { dx: Some(dx), dy: Some(dy), ..Event::of("wheel") }
            }
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => Event {
                key: Some(match &event.logical_key {
                    Key::Character(text) => text.to_string(),
                    // They have the names that the web gives them.
                    Key::Named(name) => format!("{name:?}"),
                    _ => "Unidentified".into(),
                }),
                text: event.text.as_ref().map(ToString::to_string),
                repeat: Some(event.repeat),
                ..Event::of(if event.state == ElementState::Pressed { "key_down" } else { "key_up" })
            },
            WindowEvent::Resized(size) => Event { size: Some((size.width, size.height)), ..Event::of("resize") },
            WindowEvent::Focused(gained) => Event::of(if *gained { "focus" } else { "blur" }),
            _ => return None,
        };
        if let (Some((x, y)), "mouse_move" | "mouse_down" | "mouse_up" | "wheel") = (self.at, made.kind) {
            (made.x, made.y, made.pixel) = (Some(x), Some(y), pixel(x, y));
        }
        let held = |state, name| self.modifiers.contains(state).then_some(name);
        made.modifiers = [
            held(ModifiersState::SHIFT, "shift"),
            held(ModifiersState::CONTROL, "control"),
            held(ModifiersState::ALT, "alt"),
            held(ModifiersState::SUPER, "super"),
        ]
        .into_iter()
        .flatten()
        .collect();
        Some(made)
    }
}

/// Events on their way to Python.
#[derive(Default)]
pub struct Events {
    waiting: Mutex<VecDeque<Event>>,
    came: Condvar,
}

impl Events {
    pub fn push(&self, event: Event) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // After several moves, or sizes, in a row the last one counts.
        if let Some(last) = waiting.back_mut()
            && last.kind == event.kind
            && matches!(event.kind, "mouse_move" | "resize")
        {
            *last = event;
        } else {
            if waiting.len() == MOST {
                waiting.pop_front();
            }
            waiting.push_back(event);
        }
        self.came.notify_all();
    }

    /// Takes what there is; waits for the first one at most so long.
    pub fn take(&self, most: Duration) -> Vec<Event> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = match self.came.wait_timeout_while(waiting, most, |waiting| waiting.is_empty()) {
            Ok((waiting, _)) => waiting,
            Err(poisoned) => poisoned.into_inner().0,
        };
        waiting.drain(..).collect()
    }
}
