//! Frames into an engine's object: what they write, what they leave, and what the engine writes in between.

use super::context::{Context, Manner};
use super::failure::{Failure, each};
use super::pixels::{same_bytes, tight};
use super::unwritten::{alone, columns, parts, put, surfaces, write_part};
use crate::describe::error::Error;
use crate::describe::geometry::RowOrder;
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, SurfaceDesc, Unwritten};
use crate::display::SurfacePart;
use crate::engine::{Outlet, OutletFrame, OutletOptions};
use crate::path::{FrameLayout, is_object};
use std::sync::Arc;

pub(super) fn formats(context: &Context<'_>) -> Result<(), Failure> {
    each(context.formats(), |format| {
        for (width, height) in [(1, 1), (37, 9)] {
            for order in [RowOrder::TopDown, RowOrder::BottomUp] {
                let image = ImageDesc::new(width, height, format).with_row_order(order);
                let mut run = Run::open(context, SurfaceDesc::Image(image))?;
                for _ in 0..2 {
                    let full = SurfacePart::full(&run.desc);
                    run.frame(&full, std::slice::from_ref(&full))?;
                }
            }
        }
        Ok(())
    })
}

pub(super) fn kept(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc.with_unwritten(Unwritten::Keep)))
}

pub(super) fn cleared(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc.with_unwritten(Unwritten::Clear)))
}

pub(super) fn overwritten(context: &Context<'_>) -> Result<(), Failure> {
    each(surfaces(), |desc| play(context, desc.with_unwritten(Unwritten::Overwrite)))
}

/// An outlet together with a model of the object's expected content: tight rows in the order of the frames.
struct Run<'a> {
    context: &'a Context<'a>,
    outlet: Outlet,
    desc: SurfaceDesc,
    holds: Vec<u8>,
    /// All contents that the object ever had, which a frame under [`Unwritten::Overwrite`] may leave.
    seen: Vec<Vec<u8>>,
    nonce: u32,
}

fn play(context: &Context<'_>, desc: SurfaceDesc) -> Result<(), Failure> {
    let mut run = Run::open(context, desc)?;
    let (full, columns, parts) = (SurfacePart::full(&desc), columns(&desc), parts(&desc));
    run.frame(&full, &columns[..1])?;
    run.draw()?;
    run.frame(&full, &[])?;
    for column in columns.chunks(2) {
        run.draw()?;
        run.frame(&full, column)?;
        run.frame(&full, &columns[..1])?;
        run.give_up(&full, column)?;
        run.frame(&full, &[])?;
    }
    for (part, inside) in &parts {
        run.draw()?;
        run.frame(part, std::slice::from_ref(inside))?;
        run.frame(&full, &columns[2..3])?;
        run.give_up(part, std::slice::from_ref(part))?;
        run.draw()?;
        run.frame(part, &[])?;
        run.frame(part, std::slice::from_ref(part))?;
    }
    Ok(())
}

impl<'a> Run<'a> {
    fn open(context: &'a Context<'a>, desc: SurfaceDesc) -> Result<Self, Failure> {
        let Manner { mode, sync } = context.manner;
        if mode != Manner::default().mode || sync.is_some() {
            return Err(Failure::Skipped("surface: an engine's object shows each frame at once".into()));
        }
        if Outlet::paths().all(|path| path != context.path) {
            return Err(Failure::Skipped("surface: the path does not support engine's objects".into()));
        }
        // The object's own rows are in the display's order, whatever the frames' order is.
        let (mut options, mut object) = (OutletOptions::default().with_path(context.path), desc);
        options = options.with_unwritten(desc.unwritten());
        if let SurfaceDesc::Image(image) = desc {
            options = options.with_row_order(image.row_order);
            object = SurfaceDesc::Image(image.with_row_order(context.display.caps().native_row_order));
        }
        let target = context.display.create_surface(&object)?;
        let (backend, display) = (Arc::clone(context.backend), Arc::clone(context.display));
        let outlet = match Outlet::open_with(backend, display, target, options) {
            Err(Error::Unavailable { reason, .. }) => return Err(Failure::Skipped(format!("surface: {reason}"))),
            opened => opened?,
        };
        let holds = vec![0; desc.byte_len()?];
        Ok(Self { context, outlet, desc, seen: vec![holds.clone()], holds, nonce: 5000 })
    }

    /// Converts rows from the frames' order to the display's, or the reverse.
    fn turned(&self, bytes: &[u8]) -> Vec<u8> {
        FrameLayout::new(&self.desc, self.context.display.caps()).to_surface_rows(bytes.to_vec())
    }

    /// Writes a picture into the object, as the engine does.
    fn draw(&mut self) -> Result<(), Failure> {
        self.nonce += 10;
        let view = tight(&self.desc)?;
        Pattern::for_view(&view, self.nonce).write(&view, &mut self.holds);
        self.seen.push(self.holds.clone());
        let bytes = self.turned(&self.holds);
        self.outlet.surface().upload(&SurfacePart::full(&self.desc), &bytes, &view)?;
        Ok(())
    }

    /// Runs a frame of `part` that ends in the given way. Returns its result and the written bytes.
    fn turn(
        &mut self,
        part: &SurfacePart,
        written: &[SurfacePart],
        outcome: crate::Result<()>,
    ) -> (crate::Result<()>, Vec<(SurfacePart, Vec<u8>)>) {
        self.nonce += 10;
        let (context, desc, nonce) = (self.context, self.desc, self.nonce);
        let mut all = Vec::new();
        let compute = |frame: &mut OutletFrame<'_>| {
            let parts = (nonce..).zip(written);
            all = parts
                .map(|(nonce, at)| write_part(context, &desc, (part, frame.target()?), at, nonce))
                .collect::<crate::Result<_>>()?;
            outcome.clone()
        };
        let done = match part {
            _ if *part == SurfacePart::full(&desc) => self.outlet.frame(compute),
            SurfacePart::Image(region) => self.outlet.frame_region(*region, compute),
            SurfacePart::Buffer(range) => self.outlet.frame_bytes(range.clone(), compute),
        };
        (done, all)
    }

    fn frame(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<(), Failure> {
        let (done, all) = self.turn(part, written, Ok(()));
        done?;
        if self.desc.unwritten() == Unwritten::Clear {
            let zeros = vec![0; alone(&self.desc, part).byte_len()?];
            put(&mut self.holds, &self.desc, part, &zeros);
        }
        let mut certain = vec![1; self.holds.len()];
        if self.desc.unwritten() == Unwritten::Overwrite {
            let open = vec![0; alone(&self.desc, part).byte_len()?];
            put(&mut certain, &self.desc, part, &open);
        }
        for (at, bytes) in &all {
            put(&mut self.holds, &self.desc, at, bytes);
            put(&mut certain, &self.desc, at, &vec![1; bytes.len()]);
        }
        let found = self.outlet.surface().read_back(&SurfacePart::full(&self.desc))?;
        let found = self.turned(&found);
        // Unwritten bytes are some that the object or a frame held there before, or zero.
        for (at, _) in certain.iter().enumerate().filter(|(_, certain)| **certain == 0) {
            if self.seen.iter().any(|seen| seen[at] == found[at]) {
                self.holds[at] = found[at];
            }
        }
        self.seen.push(self.holds.clone());
        let what = format!("{}, unwritten: {}, {part}", self.desc, self.desc.unwritten());
        same_bytes(&what, &self.holds, &found)
    }

    /// Runs a frame whose closure fails after it has written.
    fn give_up(&mut self, part: &SurfacePart, written: &[SurfacePart]) -> Result<(), Failure> {
        let failed = Err(Error::invalid("conformance", "given up on purpose"));
        let (done, all) = self.turn(part, written, failed);
        if !matches!(done, Err(Error::InvalidInput { .. })) {
            return Err(Failure::Failed(format!("a frame whose closure failed returned {done:?}")));
        }
        let mut seen = self.holds.clone();
        all.iter().for_each(|(at, bytes)| put(&mut seen, &self.desc, at, bytes));
        self.seen.push(seen);
        if is_object(self.context.path) {
            // Kernels wrote the object itself.
            return self.draw();
        }
        let found = self.outlet.surface().read_back(&SurfacePart::full(&self.desc))?;
        same_bytes(&format!("{}, {part} after a frame was given up", self.desc), &self.holds, &self.turned(&found))
    }
}
