//! Draws of a link's shown frame; and the link's reports.

use super::{Screen, World};
use crate::fuzz::{Choices, Turn, TurnResult, hold, hostile};
use pixelferry::api::gl::Viewport;
use pixelferry::{DrawOptions, Error, Filter, Fit, Manner, Region, TargetEncoding, ToneMap};
use pixelferry_tests::faults::Faults;

fn options(t: &mut Choices) -> DrawOptions {
    let number = |t: &mut Choices| t.pick(&[0.0, 1.0, -1.0, 0.5, 40.0, f32::NAN, f32::INFINITY, f32::MAX, -0.0]);
    DrawOptions::default()
        .with_filter(t.pick(&[Filter::Nearest, Filter::Linear]))
        .with_fit(t.pick(&[Fit::Stretch, Fit::Contain, Fit::Cover]))
        .with_grey(t.one_in(2))
        .with_background(t.one_in(3).then(|| [number(t), number(t), 0.25]))
        .with_exposure(if t.one_in(3) { number(t) } else { 0.0 })
        .with_tone_map(if t.one_in(4) { ToneMap::Reinhard { white: number(t) } } else { ToneMap::default() })
        .with_target(t.pick(&[TargetEncoding::Srgb, TargetEncoding::Linear]))
        .with_manner(t.pick(&[None, Some(Manner::Triangle), Some(Manner::Compute)]))
}

impl World<'_> {
    pub(super) fn draw(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &self.open[at];
        let (options, sides) = (options(t), (1 + t.below(40) as u32, 1 + t.below(40) as u32));
        let viewport = match t.one_in(4) {
            true => Region::new(hostile::side(t), hostile::side(t), hostile::side(t), hostile::side(t)),
            false => Region::new(0, 0, sides.0, sides.1),
        };
        t.op("links: draw", format_args!("{} {viewport} {options:?}", open.desc));
        let drawn = open.link.shown().and_then(|shown| match &self.screen {
            Screen::Memory(display) => {
                let mut target = display.create_offscreen_target(sides.0, sides.1)?;
                display.draw(shown.surface(), &mut target, viewport, options)
            }
            Screen::Gl(display) => {
                let target = display.create_offscreen_target(sides.0, sides.1)?;
                target.bind()?;
                let Region { x, y, width, height } = viewport;
                let viewport = Viewport { x: x as i32, y: y as i32, width, height };
                let drawn = display.draw(shown.surface(), viewport, options);
                target.unbind()?;
                drawn
            }
        });
        match t.end_with(drawn) {
            Err(Error::Driver(error)) if !Faults::injected(&Error::Driver(error.clone())) => {
                hold!(false, "a draw was refused by the driver: {error}");
            }
            _ => {}
        }
        // To another display of the kind, the surface is foreign.
        let foreign = open.link.shown().and_then(|shown| match &self.other {
            Screen::Memory(display) => {
                let mut target = display.create_offscreen_target(sides.0, sides.1)?;
                display.draw(shown.surface(), &mut target, Region::new(0, 0, sides.0, sides.1), DrawOptions::default())
            }
            Screen::Gl(_) => Err(Error::NothingShown),
        });
        hold!(foreign.is_err(), "a surface of another display was drawn");
        Ok(())
    }

    pub(super) fn ask(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let open = &self.open[at];
        t.did("links: explain, report, demoted", format_args!(""));
        let text = open.link.explain();
        hold!(text.contains("in use"), "explain() says {text}");
        let demoted = open.link.demoted().len();
        hold!(demoted <= open.link.report().paths.len() * 4, "{demoted} paths were left");
        if t.one_in(3) {
            let (backend, display) = (open.link.backend(), open.link.display());
            hold!(!backend.device().name.is_empty() && !display.device().name.is_empty(), "a device has no name");
        }
        Ok(())
    }
}
