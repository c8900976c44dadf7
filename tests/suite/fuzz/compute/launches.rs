//! Kernels, by the backend's own calls.

use super::memories::Liar;
use super::{Effect, World};
use crate::fuzz::kernels;
use crate::fuzz::{Checked, Log, Rng, fail, hold, hostile, payload};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{Arg, BufferView, ImageView, Kernel, PixelFormat, Target, View};

/// A launch that fits its kernel.
pub(super) enum Fit {
    Stamp(BufferView, u32),
    Mix(BufferView, usize),
    Image(ImageView, u32),
}

impl Fit {
    pub(super) fn view(&self) -> View {
        match self {
            Self::Stamp(view, _) | Self::Mix(view, _) => View::Buffer(*view),
            Self::Image(view, _) => View::Image(*view),
        }
    }

    pub(super) fn effect(&self, to: u32, from: u32) -> Effect {
        match *self {
            Self::Stamp(view, seed) => Effect::stamp(to, view.offset..view.offset + view.len, seed),
            Self::Mix(view, _) => Effect::stir(from, None, to, view.offset..view.offset + view.len),
            Self::Image(view, seed) => Effect::change(to, move |all| kernels::paint(&view, seed, all)),
        }
    }
}

/// Rows of one view that share bytes leave them undefined.
fn overlaps(view: &View) -> bool {
    matches!(view, View::Image(i) if i.extent.height > 1 && i.pitch() < i.row_len())
}

impl World<'_> {
    /// A launch into slot `at`, whose view need not fit; `Mix` reads the slot that it names.
    pub(super) fn fit(&mut self, rng: &mut Rng, at: usize) -> Fit {
        let len = self.slots[at].memory.len();
        let buffer = |rng: &mut Rng| {
            let range = hostile::range(rng, len);
            BufferView { offset: range.start, len: range.end.wrapping_sub(range.start) }
        };
        match (rng.below(3), self.partner(rng, at)) {
            (0, Some(other)) => Fit::Mix(buffer(rng), other),
            (1, _) => Fit::Stamp(buffer(rng), rng.word()),
            _ => Fit::Image(hostile::image_view(rng, len), rng.word()),
        }
    }

    pub(super) fn kernel(&self, at: usize, fit: &Fit) -> &dyn Kernel {
        let kernels = &self.engine(at).kernels;
        match fit {
            Fit::Stamp(..) => kernels.stamp.as_ref(),
            Fit::Mix(..) => kernels.mix.as_ref(),
            Fit::Image(view, _) => {
                let number = PixelFormat::ALL.iter().position(|format| *format == view.format);
                kernels.images[number.unwrap_or(0)].as_ref()
            }
        }
    }

    pub(super) fn launch(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let fit = self.fit(rng, at);
        let view = fit.view();
        let engine = self.engine(at);
        let mut memory = self.take(at);
        let len = memory.len();
        let mut launched = || {
            let target = Target::new(memory.as_mut(), view)?;
            let target = if rng.one_in(4) { target.with_items(1 + rng.below(5000)) } else { target };
            let kernel = self.kernel(at, &fit);
            match &fit {
                Fit::Stamp(_, seed) | Fit::Image(_, seed) => engine.backend.launch(kernel, target, &[Arg::U32(*seed)]),
                Fit::Mix(_, other) => {
                    let from = self.slots[*other].memory.as_ref();
                    let args = [Arg::Memory(from), Arg::U32(from.len() as u32)];
                    engine.backend.launch(kernel, target, &args)
                }
            }
        };
        log.op("compute: launch", format_args!("{view:?} of {}", self.slots[at].id));
        let launched = log.end(launched());
        self.slots[at].memory = memory;
        if launched.is_some() {
            hold!(view.checked_span().is_some_and(|span| span.end <= len), "{view:?} of {len} bytes was taken");
            let from = if let Fit::Mix(_, other) = fit { self.slots[other].id } else { 0 };
            self.note(None, Vec::new(), fit.effect(self.slots[at].id, from));
            self.define(rng, at, &view)?;
        }
        Ok(())
    }

    /// Takes a memory out of its slot; it must be put back.
    pub(super) fn take(&mut self, at: usize) -> Box<dyn pixelferry::ComputeMemory> {
        std::mem::replace(&mut self.slots[at].memory, Box::new(super::nothing::Nothing))
    }

    /// Writes all of a memory of which a launch left some bytes undefined.
    pub(super) fn define(&mut self, rng: &mut Rng, at: usize, view: &View) -> Checked {
        if overlaps(view) {
            let bytes = rng.bytes(self.slots[at].memory.len());
            self.slots[at].memory.write(0, &bytes)?;
            self.note(None, Vec::new(), Effect::set(self.slots[at].id, 0, bytes));
        }
        Ok(())
    }

    /// Arguments and targets that fit no kernel.
    pub(super) fn misfit(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let (at, other) = self.two_slots(rng);
        let engine = self.engine(at);
        let mut memory = self.take(at);
        let from = self.slots[other].memory.as_ref();
        let stranger = &self.engines[(self.slots[at].owner + 1) % self.engines.len()];
        let all = [
            Arg::I32(-1),
            Arg::U64(u64::MAX),
            Arg::F64(f64::NAN),
            Arg::F32(0.5),
            Arg::I64(i64::MIN),
            Arg::Memory(from),
        ];
        let mut args: Vec<_> = (0..rng.below(5)).map(|_| rng.pick(&all)).collect();
        let kernels = &engine.kernels;
        let kernel = match rng.below(3) {
            0 => kernels.stamp.as_ref(),
            1 => kernels.mix.as_ref(),
            _ => rng.pick(&[kernels.images[2].as_ref()]),
        };
        let foreign = rng.one_in(3);
        let kernel = if foreign {
            args = vec![Arg::U32(1)];
            stranger.kernels.stamp.as_ref()
        } else {
            kernel
        };
        log.op("compute: launch with wrong arguments", format_args!("{} of {}", args.len(), kernel.name()));
        let target = Target::buffer(memory.as_mut());
        let taken = log.end(engine.backend.launch(kernel, target, &args));
        self.slots[at].memory = memory;
        hold!(taken.is_none(), "a launch with wrong arguments, or a kernel of another backend, was taken");
        Ok(())
    }

    /// Kernels that refuse or panic, in all ways there are.
    pub(super) fn fail(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let engine = self.engine(at);
        let late = rng.one_in(2);
        let Some(kernel) = engine.kernels.failing.get(usize::from(late)) else { return Ok(()) };
        // Even numbers refuse, odd ones panic.
        let how = if late { payload::kind(rng) } else { rng.below(8) } as u32;
        log.op("compute: launch a kernel that fails", format_args!("{how} {late}"));
        let target = Target::buffer(self.slots[at].memory.as_mut());
        let launched = log.end(engine.backend.launch(kernel.as_ref(), target, &[Arg::U32(how)]));
        let fails = !late || self.slots[at].memory.len() > 64;
        hold!(launched.is_none() || !fails, "a kernel that fails was said to have run");
        if late {
            // What the other threads had written by then is anybody's guess.
            let bytes = rng.bytes(self.slots[at].memory.len());
            self.slots[at].memory.write(0, &bytes)?;
            self.note(None, Vec::new(), Effect::set(self.slots[at].id, 0, bytes));
        }
        Ok(())
    }

    pub(super) fn pattern(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let engine = self.engine(at);
        let slot = &mut self.slots[at];
        let (to, view) = (slot.id, hostile::view(rng, slot.memory.len()));
        let pattern = Pattern::for_view(&view, rng.word());
        log.op("compute: write the pattern", format_args!("{view:?} of {to}"));
        let target = Target::new(slot.memory.as_mut(), view);
        if log.end(target.and_then(|target| engine.backend.write_pattern(target, &pattern))).is_some() {
            self.note(None, Vec::new(), Effect::change(to, move |all| pattern.write(&view, all)));
            self.define(rng, at, &view)?;
        }
        Ok(())
    }

    /// Memory of a type of the caller's, which says that it has more bytes than it has.
    pub(super) fn lie(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        self.settle_users(rng, log);
        let at = self.slot(rng);
        let engine = self.engine(at);
        let inner = self.take(at);
        let real = inner.len();
        let len = if rng.one_in(2) { real + 1 + rng.below(1 << 20) } else { rng.below(real) };
        let mut liar = Box::new(Liar { inner, len });
        let range = hostile::range(rng, len.max(1));
        let view = View::Buffer(BufferView { offset: range.start, len: range.end.wrapping_sub(range.start) });
        let pattern = Pattern::for_view(&view, 3);
        log.op("compute: memory that lies", format_args!("{view:?} of {len} bytes, {real} in truth"));
        let target = Target::new(liar.as_mut(), view);
        let kernel = engine.kernels.stamp.as_ref();
        let launch = rng.one_in(2);
        let done = log.end(target.and_then(|target| match launch {
            true => engine.backend.launch(kernel, target, &[Arg::U32(5)]),
            false => engine.backend.write_pattern(target, &pattern),
        }));
        self.slots[at].memory = liar.inner;
        if done.is_some() {
            fail!("{view:?} was written in memory of {real} bytes that said it had {len}, by a type of the caller's");
        }
        Ok(())
    }
}
