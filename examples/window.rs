//! A window with a frame loop of its own: the mouse places a light, arguments go to the kernel.

use pixelferry::api::gl::winit::event::WindowEvent;
use pixelferry::api::gl::{Flow, GlWindow, Viewport, WindowApp, WindowOptions, run_window};
use pixelferry::prelude::*;
use pixelferry::{Display, Error};
use std::{sync::Arc, time::Instant};

/// Runs on OpenGL 4.3 and wgpu; other devices need their own version of the source.
const LIGHT: &str = "@compute @workgroup_size(16, 16)
fn light(@builtin(global_invocation_id) id: vec3<u32>) {
    let away = distance(vec2<f32>(id.xy), vec2(pf_arg_f32(0), pf_arg_f32(1)));
    pf_store(id.xy, vec4(vec3(1.0, 0.8, 0.5) * exp(-0.005 * away) * (0.6 + 0.4 * cos(0.2 * away - pf_arg_f32(2))), 1.0));
}";

struct App {
    opened: Option<OpenedLink>,
    begun: Instant,
    light: [f32; 2],
}

impl WindowApp for App {
    type Error = Error;

    fn init(&mut self, window: &GlWindow) -> Result<(), Error> {
        let builder = LinkBuilder::new(SurfaceDesc::image(640, 480, PixelFormat::Rgba8));
        let builder = builder.launch(&KernelSource::new("light").wgsl(LIGHT), vec![Scratch::F32(0.0); 3]);
        self.opened = Some(builder.shown_by(&(window.display().clone() as Arc<dyn Display>)).open()?);
        self.resized(window, window.size())
    }

    fn resized(&mut self, _: &GlWindow, size: Extent) -> Result<(), Error> {
        let surface = SurfaceDesc::image(size.width, size.height, PixelFormat::Rgba8);
        self.opened.as_mut().map_or(Ok(()), |opened| opened.link.resize(surface))
    }

    fn event(&mut self, _: &GlWindow, event: &WindowEvent) {
        if let WindowEvent::CursorMoved { position, .. } = event {
            self.light = [position.x as f32, position.y as f32];
        }
    }

    fn frame(&mut self, window: &GlWindow) -> Result<Flow, Error> {
        let Some(OpenedLink { kernels, link, .. }) = &mut self.opened else { return Ok(Flow::Exit) };
        let arguments = [self.light[0], self.light[1], self.begun.elapsed().as_secs_f32()].map(Arg::F32);
        let Extent { width, height } = window.size();
        let mut place = window.display().bound_target(Viewport::full(width, height));
        link.show(&mut place, DrawOptions::default(), |next| next.launch(kernels[0].as_ref(), &arguments))?;
        Ok(Flow::Continue)
    }

    fn closing(&mut self, _: &GlWindow) {
        self.opened = None;
    }
}

fn main() -> Result<(), Error> {
    let options = WindowOptions::default().with_title("light").with_size(Extent::new(640, 480));
    run_window(&options, &mut App { opened: None, begun: Instant::now(), light: [320.0, 240.0] }).map(drop)
}
