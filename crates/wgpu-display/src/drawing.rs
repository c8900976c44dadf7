//! One draw to a view: by a triangle or by stores, and timed while it is found out which is quicker.

use crate::device_state::DeviceState;
use crate::format::texture_format;
use crate::painter::{DrawTarget, Frame, Painter, begin_pass};
use crate::picture::Picture;
use crate::store::{self, Made, StoreKey, Storer};
use interop_core::Result;
use interop_core::draw::{Drawn, Manner, Manners, Obstacle, Plan, Storing, Why};
use std::time::Instant;

/// What a draw's time depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Class {
    kind: StoreKey,
    weighs: bool,
    size: u32,
}

/// The choices of a display.
#[derive(Default)]
pub(crate) struct Drawing {
    manners: Manners<Class>,
    storer: Storer,
}

/// A view, as what is drawn to.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    /// What the caller called.
    pub operation: &'static str,
    pub view: &'a wgpu::TextureView,
    pub format: wgpu::TextureFormat,
    pub clear: Option<wgpu::Color>,
}

impl Target<'_> {
    /// True where `area` is all that the view can hold, so that nothing needs to be cleared.
    fn is_covered_by(&self, area: [i32; 4]) -> bool {
        let texture = self.view.texture();
        let [left, top, width, height] = area.map(i64::from);
        let ends = |start: i64, len: i64, side: u32| start <= 0 && start + len >= i64::from(side);
        // Else its size is that of a level which nobody tells.
        let whole = texture.mip_level_count() == 1;
        whole && ends(left, width, texture.width()) && ends(top, height, texture.height())
    }
}

impl Drawing {
    pub(crate) fn last(&self) -> Option<Drawn> {
        self.manners.last()
    }

    /// A draw was recorded into a pass of the caller's.
    pub(crate) fn in_pass(&self) {
        self.manners.only(Obstacle::InPass);
    }

    /// Draws and submits.
    pub(crate) fn draw_to(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        picture: &Picture,
        target: Target<'_>,
        frame: Frame,
        asked: Option<Manner>,
    ) -> Result<Drawn> {
        self.draw_unless(None, shared, painter, (picture, frame), target, asked)
    }

    fn draw_unless(
        &self,
        obstacle: Option<Obstacle>,
        shared: &DeviceState,
        painter: &Painter,
        (picture, frame): (&Picture, Frame),
        target: Target<'_>,
        asked: Option<Manner>,
    ) -> Result<Drawn> {
        let able = || {
            obstacle.map_or(Ok(()), Err)?;
            let texture = target.view.texture();
            if texture.sample_count() > 1 {
                return Err(Obstacle::Texture("it has several samples for each pixel"));
            }
            let format = shared.stores.get(target.format)?;
            if !texture.usage().contains(wgpu::TextureUsages::STORAGE_BINDING) {
                return Err(Obstacle::Texture("its usage is without STORAGE_BINDING"));
            }
            frame.plan.may_store(Storing { reads: format.reads, encodes: false }, &target.format)?;
            let kind = StoreKey::of(&frame.plan, picture, format);
            let size = Manners::<Class>::size_class(frame.plan.drawn.extent().pixels());
            Ok((Class { kind, weighs: frame.plan.weighs, size }, ()))
        };
        let (mut drawn, class) = self.manners.choose(asked, able)?;
        let class = class.map(|(class, ())| class);
        let bound = match class {
            Some(class) if drawn.manner == Manner::Compute => {
                let bound = self.bind(shared, painter, class, target);
                bound.map_err(|refused| drawn = refused).ok()
            }
            _ => None,
        };
        let record = |encoder: &mut wgpu::CommandEncoder| match &bound {
            None => {
                let mut pass = begin_pass(encoder, target.view, target.clear);
                painter.paint(shared, &mut pass, picture, DrawTarget::new(target.format), frame);
            }
            Some((kind, made, group)) => {
                if target.clear.is_some() && (frame.plan.blends || !target.is_covered_by(frame.draw_params().area)) {
                    drop(begin_pass(encoder, target.view, target.clear));
                }
                Storer::store(shared, encoder, (&painter.halves, *kind, made), picture, group, frame);
            }
        };
        match class.filter(|_| drawn.why == Why::Measuring) {
            None => shared.submit(target.operation, record).map(drop)?,
            Some(class) => {
                shared.wait(target.operation, None)?;
                let start = Instant::now();
                let index = shared.submit(target.operation, record)?;
                shared.wait(target.operation, Some(index))?;
                self.manners.told(class, drawn.manner, start.elapsed());
            }
        }
        Ok(drawn)
    }

    /// Draws all of an image at its own size to where nobody looks; see [`Manners::settle`].
    pub(crate) fn draw_offscreen(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        picture: &Picture,
        asked: Option<Manner>,
    ) -> Result<()> {
        const OP: &str = "draw_offscreen";
        let (extent, format) = (picture.extent(), texture_format(picture.format()));
        let (bits, format) = painter.offscreen_format(shared, format);
        let view = shared.scoped(OP, || painter.offscreen(shared, extent, format).1)?;
        let target = Target { operation: OP, view: &view, format, clear: None };
        let frame = Frame { region: extent.full(), at: (0, 0), plan: Plan::exact(extent), bits };
        self.manners.settle(asked, shared.identity.software, |obstacle| {
            self.draw_unless(obstacle, shared, painter, (picture, frame), target, asked)
        })
    }

    /// What a draw by stores needs, or how it is drawn instead.
    fn bind(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        class: Class,
        Target { operation, view, .. }: Target<'_>,
    ) -> Result<(StoreKey, Made, wgpu::BindGroup), Drawn> {
        let kind = class.kind;
        let made = self.storer.get(shared, &painter.halves, kind, operation).map_err(|error| {
            tracing::warn!(%error, "no compute shader for draws of this kind");
            self.manners.refuse(class, error.to_string())
        })?;
        // The next view may be another: of more dimensions or for fewer uses this one is not seen to be.
        let group = shared.scoped(operation, || store::target(&shared.device, &made, view));
        let group = group.map_err(|error| self.manners.only(Obstacle::Refused(error.to_string())))?;
        Ok((kind, made, group))
    }
}
