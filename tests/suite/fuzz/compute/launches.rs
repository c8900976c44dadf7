//! Kernels.

use super::memories::Liar;
use super::{Effect, Slot, World};
use crate::fuzz::kernels;
use crate::fuzz::{Choices, Turn, TurnResult, fail, hold, hostile, payload};
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{Arg, BufferView, ImageView, PixelFormat, Target, View};

/// A launch that fits its kernel.
enum Fit {
    Stamp(BufferView, u32),
    /// Reads this slot.
    Mix(BufferView, usize),
    Image(ImageView, u32),
}

fn buffer_view(t: &mut Choices, len: usize) -> BufferView {
    let range = hostile::range(t, len);
    BufferView { offset: range.start, len: range.end.wrapping_sub(range.start) }
}

impl World<'_> {
    /// Into a view that need not fit.
    pub(super) fn launch(&mut self, t: &mut Turn, queued: bool) -> TurnResult {
        let at = self.slot(t);
        let (by, engine, len) = (self.by(t, at, queued), self.engine(at), self.slots[at].memory.len());
        let fit = match (t.below(3), self.partner(t, at)) {
            (0, Some(other)) => Fit::Mix(buffer_view(t, len), other),
            (1, _) => Fit::Stamp(buffer_view(t, len), t.word()),
            _ => Fit::Image(hostile::image_view(t, len), t.word()),
        };
        let items = t.one_in(4).then(|| 1 + t.below(5000));
        let (view, kernel) = match &fit {
            Fit::Stamp(view, _) => (View::Buffer(*view), engine.stamp()?),
            Fit::Mix(view, _) => (View::Buffer(*view), engine.mix()?),
            Fit::Image(view, _) => (View::Image(*view), engine.image(view.format)?),
        };
        let to = self.slots[at].id;
        t.op(by.name("compute: launch", "queue: launch"), format_args!("{view:?} of {to}"));
        let target = |memory| {
            let target = Target::new(memory, view)?;
            Ok(match items {
                Some(items) => target.with_items(items),
                None => target,
            })
        };
        let (launched, effect) = match fit {
            Fit::Mix(view, other) => {
                let [memory, from] = self.slots.get_disjoint_mut([at, other]).unwrap();
                let args = [Arg::Memory(from.memory.as_ref()), Arg::U32(from.memory.len() as u32)];
                let launched = target(memory.memory.as_mut()).and_then(|to| by.launch(kernel.as_ref(), to, &args));
                (launched, Effect::stir(from.id, None, to, view.offset..view.offset.wrapping_add(view.len)))
            }
            Fit::Stamp(_, seed) | Fit::Image(_, seed) => {
                let memory = target(self.slots[at].memory.as_mut());
                let launched = memory.and_then(|to| by.launch(kernel.as_ref(), to, &[Arg::U32(seed)]));
                let effect = Effect::change(to, move |all| match view {
                    View::Buffer(view) => kernels::stamp_all(&mut all[view.offset..][..view.len], seed),
                    View::Image(view) => kernels::paint(&view, seed, all),
                });
                (launched, effect)
            }
        };
        let event = t.end(launched)?;
        hold!(view.checked_span().is_some_and(|span| span.end <= len), "{view:?} of {len} bytes was taken");
        self.taken(by, event, effect)?;
        Ok(())
    }

    /// Arguments and targets that fit no kernel, and kernels of another backend. Closures in queues find out when they run.
    pub(super) fn misfit(&mut self, t: &mut Turn, queued: bool) -> TurnResult {
        let (at, other) = self.two_slots(t);
        let (by, engine) = (self.by(t, at, queued), self.engine(at));
        let stranger = &self.engines[(self.slots[at].owner + 1) % self.engines.len()];
        let [to, from] = self.slots.get_disjoint_mut([at, other]).unwrap();
        let all = [
            Arg::I32(-1),
            Arg::U64(u64::MAX),
            Arg::F64(f64::NAN),
            Arg::F32(0.5),
            Arg::I64(i64::MIN),
            Arg::Memory(from.memory.as_ref()),
        ];
        let mut args: Vec<_> = (0..t.below(5)).map(|_| t.pick(&all)).collect();
        let kernel = match t.below(5) {
            0 => engine.stamp()?,
            1 => engine.mix()?,
            2 => engine.image(PixelFormat::ALL[2])?,
            _ => match engine.failing.first() {
                Some(kernel) if queued => {
                    args = vec![Arg::U32(t.below(8) as u32)];
                    kernel.clone()
                }
                _ => {
                    args = vec![Arg::U32(1)];
                    stranger.stamp()?
                }
            },
        };
        let name = by.name("compute: launch with wrong arguments", "queue: launch with wrong arguments");
        t.op(name, format_args!("{} of {}", args.len(), kernel.name()));
        let event = t.end(by.launch(kernel.as_ref(), Target::buffer(to.memory.as_mut()), &args))?;
        hold!(event.is_some(), "a launch with wrong arguments, or a kernel of another backend, was taken");
        self.taken(by, event, Effect::Fails)?;
        Ok(())
    }

    /// Kernels that refuse or panic, in all ways there are.
    pub(super) fn fail(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let engine = self.engine(at);
        let late = t.one_in(2);
        let Some(kernel) = engine.failing.get(usize::from(late)) else { return Ok(()) };
        // Even numbers refuse, odd ones panic.
        let how = if late { payload::kind(t) } else { t.below(8) } as u32;
        t.op("compute: launch a kernel that fails", format_args!("{how} {late}"));
        let slot = &mut self.slots[at];
        let (id, len) = (slot.id, slot.memory.len());
        let target = Target::buffer(slot.memory.as_mut());
        let launched = t.end(engine.backend.launch(kernel.as_ref(), target, &[Arg::U32(how)]));
        hold!(launched.is_err() || (late && len <= 64), "a kernel that fails was said to have run");
        if late {
            // The other threads may have written anything by then.
            let bytes = t.bytes(len);
            slot.memory.write(0, &bytes)?;
            self.work.done(Effect::set(id, 0, bytes));
        }
        Ok(())
    }

    pub(super) fn pattern(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let engine = self.engine(at);
        let slot = &mut self.slots[at];
        let (to, view) = (slot.id, hostile::view(t, slot.memory.len()));
        let pattern = Pattern::for_view(&view, t.word());
        t.op("compute: write the pattern", format_args!("{view:?} of {to}"));
        let target = Target::new(slot.memory.as_mut(), view);
        t.end(target.and_then(|target| engine.backend.write_pattern(target, &pattern)))?;
        self.work.done(Effect::change(to, move |all| pattern.write(&view, all)));
        Ok(())
    }

    /// Memory of a type of the caller's, which says that it has more bytes than it has.
    pub(super) fn lie(&mut self, t: &mut Turn) -> TurnResult {
        let at = self.slot(t);
        let engine = self.engine(at);
        let (backend, kernel) = (&engine.backend, engine.stamp()?);
        let slot = self.slots.swap_remove(at);
        let real = slot.memory.len();
        let len = if t.one_in(2) { real + 1 + t.below(1 << 20) } else { t.below(real) };
        let view = View::Buffer(buffer_view(t, len.max(1)));
        let mut liar = Liar { inner: slot.memory, len };
        t.op("compute: memory that lies", format_args!("{view:?} of {len} bytes, {real} in truth"));
        let launches = t.one_in(2);
        let done = t.end(Target::new(&mut liar, view).and_then(|target| match launches {
            true => backend.launch(kernel.as_ref(), target, &[Arg::U32(5)]),
            false => backend.write_pattern(target, &Pattern::for_view(&view, 3)),
        }));
        self.slots.push(Slot { memory: liar.inner, ..slot });
        if done.is_ok() {
            fail!("{view:?} was written in memory of {real} bytes that said it had {len}, by a type of the caller's");
        }
        Ok(())
    }
}
