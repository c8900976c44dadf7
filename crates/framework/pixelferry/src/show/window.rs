//! The window of [`super::show`].

use super::show_options::{Show, tell, tell_of};
use crate::AutoLink;
use interop_core::{Display, Error, Extent, Kernel, Result};
use pixelferry_gl::winit::event::{ElementState, KeyEvent, WindowEvent};
use pixelferry_gl::winit::keyboard::{Key, NamedKey};
use pixelferry_gl::{Camera, Flow, GlWindow, Viewport, WindowApp};
use std::sync::Arc;
use std::time::Instant;

/// The controls of the window, for users.
const KEYS: &str = "the wheel zooms about the pointer, a drag moves the picture; \
    F: fit all of it, 1: its own size, Space: pause the time, S: save the picture, Escape: close, ? or F1: these keys";

type Kernels = Vec<Arc<dyn Kernel>>;

/// Callbacks of the window.
pub(super) struct Viewer {
    show: Show,
    link: Option<AutoLink<Kernels>>,
    camera: Camera,
    clock: Clock,
    saving: bool,
}

/// Seconds since the first frame, without pauses.
#[derive(Default)]
struct Clock {
    begun: Option<Instant>,
    /// Seconds that passed before the current run.
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
        Self { show, link: None, camera, clock, saving: false }
    }

    /// True once the window and its link are open.
    pub(super) const fn is_open(&self) -> bool {
        self.link.is_some()
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
        let Some(link) = &mut self.link else { return Ok(()) };
        match self.show.save(link.link_mut()) {
            // The file may be at fault, which must not close the window.
            Err(error @ Error::InvalidInput { .. }) => tell(&error.to_string()),
            saved => saved?,
        }
        Ok(())
    }
}

impl WindowApp for Viewer {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<()> {
        let display: Arc<dyn Display> = window.display().clone();
        let link = self.show.builder()?.shown_by(&display).open_auto(|_, kernels| Ok(kernels))?;
        tell_of(link.report());
        self.link = Some(link);
        Ok(())
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow> {
        let Some(link) = &mut self.link else { return Ok(Flow::Exit) };
        let arguments = (self.show.arguments)(self.clock.now());
        let Extent { width, height } = window.size();
        let fit = self.camera.placement(self.show.size, Extent::new(width, height));
        let mut place = window.display().bound_target(Viewport::full(width, height));
        link.show(&mut place, self.show.draw.with_fit(fit), |next, kernels| {
            kernels.iter().try_for_each(|kernel| next.launch(kernel.as_ref(), &arguments))
        })?;
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
        self.link = None;
    }
}
