//! One draw to a view: by a triangle or by stores, timed until the faster method is known.

use crate::context::device_state::DeviceState;
use crate::context::format::texture_format;
use crate::context::read_back;
use crate::draw::beside::{self, Canvas, StoreView, Target};
use crate::draw::painter::{DrawTarget, Frame, Painter, begin_pass};
use crate::draw::picture::Picture;
use crate::draw::store::{self, StoreKey, StorePipeline, Storer};
use interop_core::draw::{DrawReport, Manner, MannerReason, Manners, Obstacle, Plan};
use interop_core::{Region, Result};
use std::time::Instant;

/// Properties that the time of a draw depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Class {
    kind: StoreKey,
    weighs: bool,
    size: u32,
    reach: StoreView,
}

/// Objects that a draw with stores needs.
struct StoreBinding {
    kind: StoreKey,
    made: StorePipeline,
    group: wgpu::BindGroup,
    /// Texture that it stores into, if the stores go to an auxiliary texture.
    canvas: Option<wgpu::Texture>,
}

/// The choices of a display.
#[derive(Default)]
pub(crate) struct DrawChoices {
    manners: Manners<Class>,
    storer: Storer,
    canvas: Canvas,
}

impl DrawChoices {
    pub(crate) fn last(&self) -> Option<DrawReport> {
        self.manners.last()
    }

    /// Notes that a draw was recorded into a pass of the caller.
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
    ) -> Result<DrawReport> {
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
    ) -> Result<DrawReport> {
        let able = || {
            obstacle.map_or(Ok(()), Err)?;
            let (reach, format) = StoreView::of(shared, target, &frame.plan)?;
            let kind = StoreKey::of(&frame.plan, picture, format);
            let size = Manners::<Class>::size_class(frame.plan.drawn.extent().pixels());
            Ok((Class { kind, weighs: frame.plan.weighs, size, reach }, ()))
        };
        let (mut drawn, class) = self.manners.choose(asked, able)?;
        let class = class.map(|(class, ())| class);
        let bound = match class {
            Some(class) if drawn.manner == Manner::Compute => {
                let bound = self.bind(shared, painter, class, target, &frame);
                bound.map_err(|refused| drawn = refused).ok()
            }
            Some(Class { reach: StoreView::Copy, .. }) if drawn.why != MannerReason::Measuring => {
                self.canvas.forget();
                None
            }
            _ => None,
        };
        if bound.is_some() && class.is_some_and(|class| class.reach == StoreView::Copy) {
            drawn = self.manners.copied(drawn);
        }
        let record = |encoder: &mut wgpu::CommandEncoder| match &bound {
            None => {
                let mut pass = begin_pass(encoder, target.view, target.clear);
                painter.paint(shared, &mut pass, picture, DrawTarget::new(target.format), frame);
            }
            Some(bound) => {
                if target.clear.is_some() && (frame.plan.blends || !target.is_covered_by(frame.draw_params().area())) {
                    drop(begin_pass(encoder, target.view, target.clear));
                }
                bound.record(shared, painter, encoder, picture, target, frame);
            }
        };
        match class.filter(|_| drawn.why == MannerReason::Measuring) {
            None => shared.submit(record).map(drop)?,
            Some(class) => {
                shared.wait(None)?;
                let start = Instant::now();
                let index = shared.submit(record)?;
                shared.wait(Some(index))?;
                self.manners.told(class, drawn.manner, start.elapsed());
            }
        }
        Ok(drawn)
    }

    /// Draws all of an image at its own size into an offscreen target; see [`Manners::settle`].
    pub(crate) fn draw_offscreen(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        picture: &Picture,
        asked: Option<Manner>,
    ) -> Result<()> {
        let (extent, format) = (picture.extent(), texture_format(picture.format()));
        let (bits, format) = painter.offscreen_format(shared, format);
        let view = shared.scoped(|| painter.offscreen(shared, extent, format).1)?;
        let target = Target { view: &view, format, clear: None };
        let frame = Frame { region: extent.full(), at: (0, 0), plan: Plan::exact(extent), bits };
        self.manners.settle(asked, shared.identity.software, |obstacle| {
            self.draw_unless(obstacle, shared, painter, (picture, frame), target, asked)
        })
    }

    /// Draws a region of an image in this manner, as programs do, and reads the result; see
    /// [`interop_core::Surface::draw_back`].
    pub(crate) fn draw_back(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        picture: &Picture,
        region: Region,
        plan: &Plan,
        manner: Option<Manner>,
    ) -> Result<Option<Vec<u8>>> {
        let Some(manner) = manner else { return Ok(None) };
        let format = wgpu::TextureFormat::Rgba8Unorm;
        let (texture, view) = shared.scoped(|| painter.offscreen(shared, region.extent(), format))?;
        let target = Target { view: &view, format, clear: Some(wgpu::Color::TRANSPARENT) };
        let frame = Frame { region, at: (0, 0), plan: *plan, bits: false };
        let drawn = self.draw_to(shared, painter, picture, target, frame, Some(manner))?;
        if drawn.manner != manner {
            return Ok(None);
        }
        read_back::image(shared, region.extent().full(), 4, |_| texture).map(Some)
    }

    /// Returns the objects that a draw with stores needs, or the manner to draw in instead.
    fn bind(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        class: Class,
        Target { view, .. }: Target<'_>,
        frame: &Frame,
    ) -> Result<StoreBinding, DrawReport> {
        let kind = class.kind;
        let made = self.storer.get(shared, &painter.layouts, kind).map_err(|error| {
            tracing::warn!(%error, "no compute shader for draws of this kind");
            self.manners.refuse(class, error.to_string())
        })?;
        // The next view may have more dimensions or fewer usages, which cannot be queried.
        let bound = shared.scoped(|| {
            let device = &shared.device;
            let (own, canvas) = match class.reach {
                StoreView::Own => (view.clone(), None),
                StoreView::Plain => (beside::plain(view.texture(), kind.format()), None),
                StoreView::Copy => {
                    // Copying an empty area has no effect.
                    let area = beside::area(frame, view.texture()).unwrap_or([0, 0, 1, 1]);
                    let canvas = self.canvas.get(device, kind.format(), area);
                    (canvas.create_view(&wgpu::TextureViewDescriptor::default()), Some(canvas))
                }
            };
            (store::target(device, &made, &own), canvas)
        });
        let (group, canvas) = bound.map_err(|error| self.manners.only(Obstacle::Refused(error.to_string())))?;
        Ok(StoreBinding { kind, made, group, canvas })
    }
}

impl StoreBinding {
    fn record(
        &self,
        shared: &DeviceState,
        painter: &Painter,
        encoder: &mut wgpu::CommandEncoder,
        picture: &Picture,
        target: Target<'_>,
        frame: Frame,
    ) {
        let by = (&painter.layouts, self.kind, &self.made);
        let Some(canvas) = &self.canvas else {
            return Storer::store(shared, encoder, by, picture, &self.group, frame);
        };
        let texture = target.view.texture();
        let Some(area @ [left, top, ..]) = beside::area(&frame, texture) else { return };
        if frame.plan.blends {
            beside::copy(encoder, canvas, texture, area, false);
        }
        let at = (frame.at.0.saturating_sub(left as i32), frame.at.1.saturating_sub(top as i32));
        Storer::store(shared, encoder, by, picture, &self.group, Frame { at, ..frame });
        beside::copy(encoder, canvas, texture, area, true);
    }
}
