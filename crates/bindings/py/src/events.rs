//! Events of the window's user, for Python.

use crate::job::TICK;
use pixelferry::api::gl::winit::dpi::PhysicalSize;
use pixelferry::api::gl::winit::event::{ElementState, MouseButton, MouseScrollDelta, WindowEvent};
use pixelferry::api::gl::winit::keyboard::{Key, ModifiersState, NamedKey};
use pixelferry::api::gl::winit::window::Window;
use pixelferry_media as page;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::collections::{BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Queue limit; the oldest events are dropped.
const MOST: usize = 4096;

/// An input of the user, or a change of the window, with the names of the renderview specification
/// (<https://github.com/pygfx/renderview>). Fields that have no meaning for its type are None.
#[pyclass(module = "pixelferry", frozen, get_all)]
#[derive(Debug, Clone, Default)]
pub struct Event {
    r#type: &'static str,
    /// Seconds on the clock of Python's `time.perf_counter`.
    timestamp: f64,
    /// Position in the window, in logical pixels from its top left corner; also for "wheel" and the buttons.
    x: Option<f64>,
    y: Option<f64>,
    /// Column and row of the array there.
    pixel: Option<(u32, u32)>,
    /// The pressed or released button, numbered as by [`button_number`]; 0 for a move.
    button: Option<u32>,
    /// Turns of the wheel, with 100 per notch: right and towards the user are positive.
    dx: Option<f64>,
    dy: Option<f64>,
    key: Option<String>,
    text: Option<String>,
    /// Typed text of "char".
    data: Option<String>,
    input_type: Option<&'static str>,
    is_composing: Option<bool>,
    repeat: Option<bool>,
    /// Logical pixels.
    width: Option<f64>,
    height: Option<f64>,
    /// Physical pixels.
    pwidth: Option<u32>,
    pheight: Option<u32>,
    /// Physical pixels per logical pixel.
    ratio: Option<f64>,
    /// Held buttons.
    buttons: Tuple<u32>,
    /// Held modifiers: "Shift", "Control", "Alt", "Meta".
    modifiers: Tuple<&'static str>,
}

/// A list that becomes a tuple in Python.
#[derive(Debug, Clone, Default)]
struct Tuple<T>(Vec<T>);

impl<'py, T: IntoPyObject<'py>> IntoPyObject<'py> for Tuple<T> {
    type Target = PyTuple;
    type Output = Bound<'py, PyTuple>;
    type Error = PyErr;

    fn into_pyobject(self, py: Python<'py>) -> PyResult<Self::Output> {
        PyTuple::new(py, self.0)
    }
}

#[pymethods]
impl Event {
    fn __repr__(&self) -> String {
        let mut out = format!("<pixelferry.Event: {}", self.r#type);
        let mut tell = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                out += &format!(", {name}={value}");
            }
        };
        tell("x", self.x.map(|x| x.to_string()));
        tell("y", self.y.map(|y| y.to_string()));
        tell("pixel", self.pixel.map(|pixel| format!("{pixel:?}")));
        tell("button", self.button.map(|button| button.to_string()));
        tell("dx", self.dx.map(|dx| dx.to_string()));
        tell("dy", self.dy.map(|dy| dy.to_string()));
        tell("key", self.key.as_ref().map(|key| format!("{key:?}")));
        tell("data", self.data.as_ref().map(|data| format!("{data:?}")));
        tell("width", self.width.map(|width| width.to_string()));
        tell("height", self.height.map(|height| height.to_string()));
        tell("ratio", self.ratio.map(|ratio| ratio.to_string()));
        tell("buttons", (!self.buttons.0.is_empty()).then(|| format!("{:?}", self.buttons.0)));
        tell("modifiers", (!self.modifiers.0.is_empty()).then(|| self.modifiers.0.join("+")));
        out + ">"
    }
}

impl Event {
    fn of(r#type: &'static str) -> Self {
        Self { r#type, ..Self::default() }
    }

    /// The window or page was closed.
    pub fn closed() -> Self {
        Self::of("close")
    }

    /// What a key typed: the specification's "char", which is experimental there. `None` if the key types no text, such
    /// as backspace.
    fn typed(text: &str, repeat: bool) -> Option<Self> {
        (!text.is_empty() && !text.contains(char::is_control)).then(|| Self {
            data: Some(text.into()),
            input_type: Some("insertText"),
            is_composing: Some(false),
            repeat: Some(repeat),
            ..Self::of("char")
        })
    }

    /// The pointer entered or left a page's picture.
    pub fn entered(is_there: bool) -> Self {
        Self::of(if is_there { "pointer_enter" } else { "pointer_leave" })
    }

    /// A page shows its picture in this size, in logical pixels.
    pub fn resized(width: f64, height: f64, ratio: f64) -> Self {
        let physical = |side: f64| Some((side * ratio).round() as u32);
        Self {
            width: Some(width),
            height: Some(height),
            pwidth: physical(width),
            pheight: physical(height),
            ratio: Some(ratio),
            ..Self::of("resize")
        }
    }
}

/// The specification names three buttons; others get the next numbers.
fn button_number(button: MouseButton) -> u32 {
    match button {
        MouseButton::Left => 1,
        MouseButton::Right => 2,
        MouseButton::Middle => 3,
        MouseButton::Back => 4,
        MouseButton::Forward => 5,
        // Systems number further buttons differently, some from below six.
        MouseButton::Other(number) => u32::from(number).max(6),
    }
}

/// The text that the key types, or its name in the web's KeyboardEvent.key.
fn key_name(key: &Key) -> String {
    match key {
        Key::Character(text) => text.to_string(),
        Key::Named(NamedKey::Space) => " ".into(),
        // The key with the system's logo has this name in browsers.
        Key::Named(NamedKey::Super) => "Meta".into(),
        // All others have the web's name in winit.
        Key::Named(name) => format!("{name:?}"),
        Key::Dead(_) => "Dead".into(),
        Key::Unidentified(_) => "Unidentified".into(),
    }
}

/// Detects double clicks, which the system does not report.
#[derive(Default)]
struct Clicks {
    /// Button, time and position of the last click that was not the second of a double click.
    first: Option<(u32, Instant, (f64, f64))>,
    second: Option<u32>,
}

impl Clicks {
    /// Longest time and distance in logical pixels between the clicks: the usual defaults of desktops.
    const APART: (Duration, f64) = (Duration::from_millis(500), 5.0);

    fn down(&mut self, button: u32, at: (f64, f64)) {
        let now = Instant::now();
        let is_second = self.first.take().is_some_and(|(first, came, place)| {
            let near = (at.0 - place.0).abs().max((at.1 - place.1).abs()) <= Self::APART.1;
            first == button && near && now.duration_since(came) <= Self::APART.0
        });
        (self.second, self.first) = if is_second { (Some(button), None) } else { (None, Some((button, now, at))) };
    }

    /// Returns whether this completes a double click.
    fn up(&mut self, button: u32) -> bool {
        self.second.take() == Some(button)
    }
}

/// State of window, pointer and keys that events do not repeat.
pub struct InputState {
    /// Position in physical pixels.
    at: Option<(f64, f64)>,
    size: PhysicalSize<u32>,
    ratio: f64,
    buttons: BTreeSet<u32>,
    modifiers: ModifiersState,
    clicks: Clicks,
}

impl InputState {
    pub fn new(window: &Window) -> Self {
        Self {
            at: None,
            size: window.inner_size(),
            ratio: window.scale_factor(),
            buttons: BTreeSet::new(),
            modifiers: ModifiersState::default(),
            clicks: Clicks::default(),
        }
    }

    /// Converts an event of the window system to Python's. `pixel` finds what the window shows at a position in
    /// physical pixels.
    pub fn follow(&mut self, event: &WindowEvent, pixel: impl Fn(f64, f64) -> Option<(u32, u32)>) -> Vec<Event> {
        // Follows the event itself.
        let mut after = None;
        let made = match event {
            WindowEvent::ModifiersChanged(now) => {
                self.modifiers = now.state();
                return Vec::new();
            }
            WindowEvent::CursorEntered { .. } => Event::of("pointer_enter"),
            WindowEvent::CursorMoved { position, .. } => {
                self.at = Some((position.x, position.y));
                self.pointer("pointer_move", Some(0), &pixel)
            }
            WindowEvent::CursorLeft { .. } => {
                self.at = None;
                Event::of("pointer_leave")
            }
            WindowEvent::MouseInput { state, button, .. } => {
                let button = button_number(*button);
                if *state == ElementState::Pressed {
                    self.buttons.insert(button);
                    let (x, y) = self.at.unwrap_or_default();
                    self.clicks.down(button, (x / self.ratio, y / self.ratio));
                    self.pointer("pointer_down", Some(button), &pixel)
                } else {
                    self.buttons.remove(&button);
                    let is_double = self.clicks.up(button);
                    after = is_double.then(|| self.pointer("double_click", Some(button), &pixel));
                    self.pointer("pointer_up", Some(button), &pixel)
                }
            }
            WindowEvent::MouseWheel { delta, .. } => {
                /// The specification's value for a notch.
                const NOTCH: f64 = 100.0;
                let (x, y) = match delta {
                    MouseScrollDelta::LineDelta(x, y) => (f64::from(*x) * NOTCH, f64::from(*y) * NOTCH),
                    MouseScrollDelta::PixelDelta(by) => (by.x / self.ratio, by.y / self.ratio),
                };
                // winit reports how the content moves, which is against the wheel. The subtraction avoids -0.
                Event { dx: Some(0.0 - x), dy: Some(0.0 - y), ..self.pointer("wheel", None, &pixel) }
            }
            WindowEvent::KeyboardInput { event, is_synthetic: false, .. } => {
                let is_down = event.state == ElementState::Pressed;
                let text = event.text.as_ref().filter(|_| is_down);
                after = text.and_then(|text| Event::typed(text, event.repeat));
                Event {
                    key: Some(key_name(&event.logical_key)),
                    text: event.text.as_ref().map(ToString::to_string),
                    repeat: Some(event.repeat),
                    ..Event::of(if is_down { "key_down" } else { "key_up" })
                }
            }
            WindowEvent::Occluded(is_hidden) => Event::of(if *is_hidden { "hide" } else { "show" }),
            WindowEvent::Resized(size) => {
                self.size = *size;
                self.resized()
            }
            // The same number of physical pixels may now be more or fewer logical ones.
            WindowEvent::ScaleFactorChanged { scale_factor, .. } => {
                self.ratio = *scale_factor;
                self.resized()
            }
            WindowEvent::Focused(gained) => Event::of(if *gained { "focus_in" } else { "focus_out" }),
            _ => return Vec::new(),
        };
        let held = |state, name| self.modifiers.contains(state).then_some(name);
        let modifiers = [
            held(ModifiersState::SHIFT, "Shift"),
            held(ModifiersState::CONTROL, "Control"),
            held(ModifiersState::ALT, "Alt"),
            held(ModifiersState::SUPER, "Meta"),
        ];
        let modifiers: Vec<_> = modifiers.into_iter().flatten().collect();
        let buttons: Vec<_> = self.buttons.iter().copied().collect();
        let all = [made].into_iter().chain(after);
        all.map(|event| Event { modifiers: Tuple(modifiers.clone()), buttons: Tuple(buttons.clone()), ..event })
            .collect()
    }

    /// An event at the pointer's position, if that is known.
    fn pointer(
        &self,
        r#type: &'static str,
        button: Option<u32>,
        pixel: impl Fn(f64, f64) -> Option<(u32, u32)>,
    ) -> Event {
        Event {
            x: self.at.map(|(x, _)| x / self.ratio),
            y: self.at.map(|(_, y)| y / self.ratio),
            pixel: self.at.and_then(|(x, y)| pixel(x, y)),
            button,
            ..Event::of(r#type)
        }
    }

    fn resized(&self) -> Event {
        let PhysicalSize { width, height } = self.size;
        Event::resized(f64::from(width) / self.ratio, f64::from(height) / self.ratio, self.ratio)
    }
}

/// State that a page does not repeat: what its user holds.
#[derive(Default)]
pub struct PageHand {
    buttons: u16,
    has_shift: bool,
    clicks: Clicks,
}

impl PageHand {
    /// Converts an event of a page, whose positions are pixels of its picture. A pointer event reports all pressed
    /// buttons; this makes an event for each that changed.
    pub fn follow(&mut self, event: &page::Event) -> Vec<Event> {
        /// A page's bits of mouse buttons, ordered by the specification's numbers from 1.
        const BITS: [u16; 5] = [1, 2, 4, 8, 16];
        let place = |r#type, x: f32, y: f32, button| Event {
            x: Some(x.into()),
            y: Some(y.into()),
            button,
            ..Event::of(r#type)
        };
        let mut made = match event {
            page::Event::Pointer { x, y, buttons } => {
                let before = std::mem::replace(&mut self.buttons, *buttons);
                let changed = (1..).zip(BITS).filter(|(_, bit)| (before ^ buttons) & bit != 0);
                let mut all = Vec::new();
                for (number, bit) in changed {
                    let is_down = buttons & bit != 0;
                    all.push(place(if is_down { "pointer_down" } else { "pointer_up" }, *x, *y, Some(number)));
                    if is_down {
                        self.clicks.down(number, (f64::from(*x), f64::from(*y)));
                    } else if self.clicks.up(number) {
                        all.push(place("double_click", *x, *y, Some(number)));
                    }
                }
                if all.is_empty() { vec![place("pointer_move", *x, *y, Some(0))] } else { all }
            }
            page::Event::Wheel { x, y, dx, dy } => {
                let by = |by: f32| Some(f64::from(by));
                vec![Event { dx: by(*dx), dy: by(*dy), ..place("wheel", *x, *y, None) }]
            }
            page::Event::Key { key, down, .. } => {
                if key == "Shift" {
                    self.has_shift = *down;
                }
                let r#type = if *down { "key_down" } else { "key_up" };
                // The name of a key that types is its character.
                let typed = (*down && key.chars().count() == 1).then(|| Event::typed(key, false)).flatten();
                [Event { key: Some(key.clone()), ..Event::of(r#type) }].into_iter().chain(typed).collect()
            }
            _ => Vec::new(),
        };
        for event in &mut made {
            let held = (1..).zip(BITS).filter(|(_, bit)| self.buttons & bit != 0);
            event.buttons = Tuple(held.map(|(number, _)| number).collect());
            event.modifiers = Tuple(self.has_shift.then_some("Shift").into_iter().collect());
        }
        made
    }
}

/// Queue of events for Python.
#[derive(Default)]
pub struct Events {
    waiting: Mutex<VecDeque<(Instant, Event)>>,
    came: Condvar,
}

impl Events {
    pub fn push(&self, event: Event) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        // Of consecutive moves or sizes, only the last one is kept.
        let came = (Instant::now(), event);
        if let Some(last) = waiting.back_mut()
            && last.1.r#type == came.1.r#type
            && matches!(came.1.r#type, "pointer_move" | "resize")
        {
            *last = came;
        } else {
            if waiting.len() == MOST {
                waiting.pop_front();
            }
            waiting.push_back(came);
        }
        self.came.notify_all();
    }

    /// Takes all events, each with its time; waits up to `most` for the first.
    pub fn take(&self, most: Duration) -> Vec<(Instant, Event)> {
        let waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = match self.came.wait_timeout_while(waiting, most, |waiting| waiting.is_empty()) {
            Ok((waiting, _)) => waiting,
            Err(poisoned) => poisoned.into_inner().0,
        };
        waiting.drain(..).collect()
    }
}

/// Waits up to `timeout` seconds for events while any can come, and converts their times to Python's clock, which the
/// windows' thread cannot read. Ctrl-C ends the wait.
pub fn awaited(py: Python<'_>, events: &Events, timeout: f64, can_come: impl Fn() -> bool) -> PyResult<Vec<Event>> {
    let end = Instant::now().checked_add(Duration::try_from_secs_f64(timeout.max(0.0)).unwrap_or(Duration::MAX));
    let taken = loop {
        let left = end.map_or(TICK, |end| end.saturating_duration_since(Instant::now()).min(TICK));
        let taken = py.detach(|| events.take(left));
        if !taken.is_empty() || left.is_zero() || !can_come() {
            break taken;
        }
        py.check_signals()?;
    };
    let clock: f64 = py.import("time")?.call_method0("perf_counter")?.extract()?;
    let now = Instant::now();
    let stamp = |(came, event)| Event { timestamp: clock - now.duration_since(came).as_secs_f64(), ..event };
    Ok(taken.into_iter().map(stamp).collect())
}
