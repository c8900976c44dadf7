//! Properties of a device, parts of it, and objects of another context.

use super::World;
use crate::fuzz::{Turn, TurnResult, hold};
use pixelferry::api::opencl::cl::{Arg, Buffer, Context, Device, MemFlags, NdRange, Partition, Queue, UserEvent};

impl World<'_> {
    pub(super) fn device(&mut self, t: &mut Turn) -> TurnResult {
        let device = &self.base.device;
        let units = t.pick(&[0, 1, 2, 3, u32::MAX, 1 << 31]);
        let partition = match t.below(4) {
            0 => Partition::Equally(units),
            1 => Partition::ByCounts(vec![units; t.below(3)]),
            2 => Partition::ByCounts(vec![1]),
            _ => {
                t.did("cl: properties of a device", format_args!(""));
                hold!(!device.properties().is_empty(), "a device has no properties");
                return Ok(());
            }
        };
        t.op("cl: partition a device", format_args!("{partition:?}"));
        let parts = t.end(device.partition(&partition))?;
        hold!(!parts.is_empty(), "{partition:?} gave no part");
        if t.one_in(2) {
            let part = parts[t.below(parts.len())].clone();
            drop(parts);
            t.op("cl: context of a part of a device", format_args!(""));
            let made = Context::new(std::slice::from_ref(&part)).and_then(|context| {
                let queue = Queue::new(&context)?;
                let buffer = Buffer::with_data(&context, MemFlags::READ_WRITE, &[3_u8; 64])?;
                drop((context, part));
                queue.read_all::<u8>(&buffer, &[])
            });
            if let Ok(bytes) = t.end(made) {
                hold!(bytes == [3; 64], "a part of a device read something else");
            }
        }
        Ok(())
    }

    /// Objects of another context are refused, in any place.
    pub(super) fn foreign(&mut self, t: &mut Turn) -> TurnResult {
        let (at, queue, other) = (self.slot(t), self.queue(t), &self.base.other);
        let own = &self.slots[at].buffer;
        let buffer = Buffer::new(other, MemFlags::READ_WRITE, 64)?;
        let user = UserEvent::new(other)?;
        let strange = Queue::new(other)?;
        let what = t.below(8);
        t.op("cl: objects of another context", format_args!("{what}"));
        let result = match what {
            0 => queue.copy((own, 0), (&buffer, 0), 1, &[]).map(|_| ()),
            1 => queue.read::<u8>(&buffer, 0, 4, &[]).map(|_| ()),
            2 => queue.fill(own, 1_u8, 0..1, &[user.event().clone()]).map(|_| ()),
            3 => {
                let args = [Arg::from(&buffer), Arg::from(1_u32), Arg::from(1_u32)];
                queue.launch(&self.base.kernels.stamp, &args, NdRange::new([1]), &[]).map(|_| ())
            }
            4 => {
                let args = [Arg::from(own), Arg::from(1_u32), Arg::from(1_u32)];
                strange.launch(&self.base.kernels.stamp, &args, NdRange::new([1]), &[]).map(|_| ())
            }
            5 => strange.map_write::<u8>(own, 0..1, &[]).map(|_| ()),
            6 => strange.migrate(&[own], pixelferry::api::opencl::cl::Migration::ToHost, &[]).map(|_| ()),
            _ => {
                let none: [Device; 0] = [];
                Context::new(&none).map(|_| ())
            }
        };
        hold!(t.end(result).is_err(), "{what}: an object of another context was taken");
        Ok(())
    }
}
