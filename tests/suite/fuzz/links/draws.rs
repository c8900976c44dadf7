//! Draws of a link's shown frame; and the link's reports.

use super::{Screen, World};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::api::gl::Viewport;
use pixelferry::{DrawOptions, Error, Filter, Fit, Manner, Region, TargetEncoding, ToneMap};
use pixelferry_tests::faults::Faults;

fn options(rng: &mut Rng) -> DrawOptions {
    let number = |rng: &mut Rng| rng.pick(&[0.0, 1.0, -1.0, 0.5, 40.0, f32::NAN, f32::INFINITY, f32::MAX, -0.0]);
    DrawOptions::default()
        .with_filter(rng.pick(&[Filter::Nearest, Filter::Linear]))
        .with_fit(rng.pick(&[Fit::Stretch, Fit::Contain, Fit::Cover]))
        .with_grey(rng.one_in(2))
        .with_background(rng.one_in(3).then(|| [number(rng), number(rng), 0.25]))
        .with_exposure(if rng.one_in(3) { number(rng) } else { 0.0 })
        .with_tone_map(if rng.one_in(4) { ToneMap::Reinhard { white: number(rng) } } else { ToneMap::default() })
        .with_target(rng.pick(&[TargetEncoding::Srgb, TargetEncoding::Linear]))
        .with_manner(rng.pick(&[None, Some(Manner::Triangle), Some(Manner::Compute)]))
}

impl World<'_> {
    pub(super) fn draw(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let open = &self.open[at];
        let (options, sides) = (options(rng), (1 + rng.below(40) as u32, 1 + rng.below(40) as u32));
        let viewport = match rng.one_in(4) {
            true => Region::new(hostile::side(rng), hostile::side(rng), hostile::side(rng), hostile::side(rng)),
            false => Region::new(0, 0, sides.0, sides.1),
        };
        log.op("links: draw", format_args!("{} {viewport} {options:?}", open.desc));
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
        match log.end_with(drawn) {
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

    pub(super) fn ask(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let open = &self.open[at];
        log.did("links: explain, report, demoted", format_args!(""));
        let text = open.link.explain();
        hold!(text.contains("in use"), "explain() says {text}");
        let demoted = open.link.demoted().len();
        hold!(demoted <= open.link.report().paths.len() * 4, "{demoted} paths were left");
        if rng.one_in(3) {
            let (backend, display) = (open.link.backend(), open.link.display());
            hold!(!backend.device().name.is_empty() && !display.device().name.is_empty(), "a device has no name");
        }
        Ok(())
    }
}
