//! The window of [`super::show`].

use super::options::{Show, tell, tell_of};
use crate::Opened;
use interop_core::{Display, Error, Extent, Kernel, Link, Result};
use pixelferry_gl::winit::event::{ElementState, KeyEvent, WindowEvent};
use pixelferry_gl::winit::keyboard::{Key, NamedKey};
use pixelferry_gl::{Camera, Flow, GlWindow, Viewport, WindowApp};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

/// What its user can do.
const KEYS: &str = "the wheel zooms about the pointer, a drag moves the picture; F: all of it, 1: its own size, Space: halt the time, \
                    S: save the picture, Escape: close, ? or F1: these keys";

/// Callbacks of the window.
pub(super) struct Viewer {
    show: Show,
    frames: Option<Frames>,
    camera: Camera,
    clock: Clock,
    saving: bool,
}

/// Frames of the kernel, from the moment on at which the window is open.
struct Frames {
    kernel: Arc<dyn Kernel>,
    link: Link,
}

/// Seconds since the first frame, without those in which the time was halted.
#[derive(Default)]
struct Clock {
    begun: Option<Instant>,
    /// Seconds that passed before.
    passed: f32,
    halted: bool,
}

impl Clock {
    fn now(&mut self) -> f32 {
        match (self.halted, self.begun) {
            (true, _) => self.passed,
            (false, Some(begun)) => self.passed + begun.elapsed().as_secs_f32(),
            (false, None) => {
                self.begun = Some(Instant::now());
                self.passed
            }
        }
    }

    fn toggle(&mut self) {
        self.passed = self.now();
        self.begun = None;
        self.halted = !self.halted;
    }
}

impl Viewer {
    pub(super) fn new(show: Show) -> Self {
        let (camera, clock) = (Camera::default(), Clock::default());
        Self { show, frames: None, camera, clock, saving: false }
    }

    /// True once the window is there and its link open.
    pub(super) const fn is_open(&self) -> bool {
        self.frames.is_some()
    }

    pub(super) fn into_show(self) -> Show {
        self.show
    }

    fn key(&mut self, key: &Key) {
        match key {
            Key::Named(NamedKey::Space) => self.clock.toggle(),
            Key::Named(NamedKey::F1) => tell(KEYS),
            Key::Character(text) => match text.to_lowercase().as_str() {
                "f" => self.camera.fit(),
                "1" => self.camera.one_to_one(),
                "s" => self.saving = true,
                "?" => tell(KEYS),
                _ => {}
            },
            _ => {}
        }
    }

    fn save(&mut self) -> Result<()> {
        let Some(frames) = &mut self.frames else { return Ok(()) };
        match self.show.save(&mut frames.link) {
            // The file may be at fault, which ends no window.
            Err(error @ Error::InvalidInput { .. }) => tell(&error.to_string()),
            saved => saved?,
        }
        Ok(())
    }
}

impl WindowApp for Viewer {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<()> {
        let display: Rc<dyn Display> = window.display().clone();
        let Opened { mut kernels, link, report, .. } = self.show.builder()?.shown_by(&display).open()?;
        tell_of(&report);
        let kernel = kernels.pop().ok_or_else(|| Error::invalid("show", "no kernel was built"))?;
        self.frames = Some(Frames { kernel, link });
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow> {
        let Some(Frames { kernel, link }) = &mut self.frames else { return Ok(Flow::Exit) };
        let arguments = (self.show.arguments)(self.clock.now());
        let Extent { width, height } = window.size();
        let fit = self.camera.placement(self.show.size, Extent::new(width, height));
        let mut place = window.display().bound_target(Viewport::full(width, height));
        link.show(&mut place, self.show.draw.with_fit(fit), |next| next.launch(kernel.as_ref(), &arguments))?;
        if std::mem::take(&mut self.saving) {
            self.save()?;
        }
        Ok(Flow::Continue)
    }

    fn event(&mut self, window: &GlWindow, event: &WindowEvent) {
        self.camera.follow(event, self.show.size, window.size());
        if let WindowEvent::KeyboardInput {
            event: KeyEvent { logical_key, state: ElementState::Pressed, .. }, ..
        } = event
        {
            self.key(logical_key);
        }
    }

    fn closing(&mut self, _: &GlWindow) {
        self.frames = None;
    }
}
