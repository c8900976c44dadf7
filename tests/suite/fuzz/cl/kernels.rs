//! Kernels and their arguments.

use super::{Effect, World};
use crate::fuzz::{Turn, TurnResult, fail, hold, hostile};
use pixelferry::api::opencl::cl::{Addressing, Arg, Filter, NdRange, Sampler};
use pixelferry_tests::by_level;

impl World<'_> {
    pub(super) fn launch(&mut self, t: &mut Turn) -> TurnResult {
        let (a, b, queue) = (self.slot(t), self.slot(t), self.queue(t));
        let wait = self.wait_list(t, &[a, b]);
        let (to, from) = (&self.slots[a], &self.slots[b]);
        let (kernels, len, seed) = (&self.base.kernels, to.buffer.len() as u32, t.word());
        // Kernels go through all bytes, however many work items there are; drivers compile a kernel again for each size of a
        // group.
        let items = by_level(t.pick(&[1, 60, 64]), 1 + t.below(64), 1 + t.below(64));
        let range = match t.below(4) {
            0 => NdRange::new([items * 4]).local([4]),
            1 => NdRange::new([items, 1, 1]),
            2 => NdRange::new([items]).offset([0]),
            _ => NdRange::new([items]),
        };
        let place = to.range(&(0..to.buffer.len()));
        let (launched, effect) = if t.one_in(2) {
            t.op("cl: launch stamp", format_args!("{} by {range:?}", to.root));
            let args = [Arg::from(&to.buffer), Arg::from(len), Arg::from(seed)];
            (queue.launch(&kernels.stamp, &args, range, &wait), Effect::stamp(to.root, place, seed))
        } else {
            if to.root == from.root {
                return Ok(());
            }
            t.op("cl: launch stir", format_args!("{} by {} by {range:?}", to.root, from.root));
            let n = from.buffer.len() as u32;
            let args = [Arg::from(&to.buffer), Arg::from(len), Arg::from(&from.buffer), Arg::from(n), Arg::Local(16)];
            let of = from.range(&(0..from.buffer.len()));
            let effect = Effect::stir(from.root, Some(of), to.root, place);
            (queue.launch(&kernels.stir, &args, range, &wait), effect)
        };
        match t.end_with(launched) {
            Ok(event) => self.taken(event, wait, &[a, b], effect),
            Err(error) => hold!(to.stuck || from.stuck || Self::doomed(&wait), "a launch was refused: {error}"),
        }
        Ok(())
    }

    /// Arguments that fit no parameter, and work items that are none.
    pub(super) fn misfit(&mut self, t: &mut Turn) -> TurnResult {
        let (a, queue) = (self.slot(t), self.queue(t));
        let (slot, kernels) = (&self.slots[a], &self.base.kernels);
        let addressing = t.pick(&[Addressing::Repeat, Addressing::ClampToEdge, Addressing::None]);
        let normalized = t.one_in(2);
        t.op("cl: sampler", format_args!("{addressing:?}"));
        let sampler = t.end(Sampler::new(&self.base.context, normalized, addressing, Filter::Nearest));
        let address = 0x4141_4141_4141_4141_u64;
        let wide = [1_u64; 4];
        let mut all = vec![
            Arg::Null,
            Arg::Local(hostile::near(t, 32)),
            Arg::from(1_u8),
            Arg::from(2.0_f32),
            Arg::from(address),
            Arg::value(&wide),
            Arg::value(&address),
        ];
        all.extend(sampler.as_ref().map(Arg::from));
        all.extend(self.images.first().map(|image| Arg::from(image.image())));
        let fitting = [Arg::from(&slot.buffer), Arg::from(1_u32), Arg::from(7_u32)];
        let (kernel, mut args) = match t.below(4) {
            0 => (&kernels.stir, fitting.to_vec()),
            1 => (&kernels.sampled, vec![Arg::from(&slot.buffer), Arg::from(address)]),
            2 => (&kernels.renamed, vec![Arg::from(&slot.buffer), Arg::value(&address)]),
            _ => (&kernels.stamp, fitting.to_vec()),
        };
        let (what, at) = (t.below(4), t.below(args.len()));
        let mut range = NdRange::new([4]);
        match what {
            0 => args[at] = t.pick(&all),
            1 => args.push(t.pick(&all)),
            2 => {
                args.pop();
            }
            _ => {
                range = match t.below(4) {
                    0 => NdRange::new([0]),
                    1 => NdRange::new([4]).local([0]),
                    2 => NdRange::new([usize::MAX, usize::MAX, 2]),
                    _ => NdRange::new([1 << 20]).local([1 << 20]),
                };
            }
        }
        // A null pointer in a buffer's place is allowed; `stamp` with no bytes does not touch it.
        let allowed = what == 0 && std::ptr::eq(kernel, &kernels.stamp) && at == 0 && matches!(args[0], Arg::Null);
        if allowed {
            args[1] = Arg::from(0_u32);
        }
        let samples = std::ptr::eq(kernel, &kernels.sampled) || std::ptr::eq(kernel, &kernels.renamed);
        if samples && what == 0 && at == 1 && matches!(args[1], Arg::Sampler(_)) {
            return Ok(());
        }
        t.op("cl: launch with wrong arguments", format_args!("{} {what} {at}", kernel.name()));
        let launched = t.end(queue.launch(kernel, &args, range, &[]));
        if let Ok(event) = launched {
            if !allowed {
                fail!("{}: wrong arguments were taken, {what} {at}", kernel.name());
            }
            event.wait()?;
        }
        Ok(())
    }
}
