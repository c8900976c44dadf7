//! Copies between views: as boxes where the driver can (`clEnqueueCopyBufferRect`), otherwise by a kernel.

use super::{
    Arg, Buffer, Context, Event, Kernel, MemFlags, NdView, OwnedValues, PendingRead, Program, Queue, RectLayout,
};
use crate::Element;
use crate::transfer::fills_with;
use interop_core::{Error, Result};

const OP: &str = "Queue::copy_view";

/// Copies one value of `units` units for each work item. `plan` begins with the number of dimensions, the units of a
/// value, and the first value of both sides. Then come side, stride and stride for each dimension, innermost first.
const SOURCE: &str = "
__kernel void copy_view(__global const UNIT *from, __global UNIT *to, __global const long *plan) {
  size_t rest = get_global_id(0);
  const long dimensions = plan[0], units = plan[1];
  long a = plan[2], b = plan[3];
  for (long i = 0; i < dimensions; ++i) {
    const long side = plan[4 + 3 * i];
    const long at = (long)(rest % side);
    rest /= side;
    a += at * plan[5 + 3 * i];
    b += at * plan[6 + 3 * i];
  }
  for (long u = 0; u < units; ++u) to[b * units + u] = from[a * units + u];
}";

/// Returns the kernel that copies units of this type in a context, built once.
fn copy_kernel(context: &Context, unit: &'static str) -> Result<Kernel> {
    let make = || {
        // SAFETY: only `copy_by_kernel` launches it. It makes the plan of two views that lie inside their buffers and
        // do not overlap, with one item for each value.
        let program = unsafe { Program::build(context, SOURCE, &format!("-DUNIT={unit}")) }?;
        Ok(program.kernel("copy_view")?.apart())
    };
    Ok(Kernel::of_apart(context.copies().get(unit, make)?, context))
}

/// A dimension of a copy, with the strides of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Axis {
    side: usize,
    from: isize,
    to: isize,
}

/// Returns the relevant dimensions, the innermost first. Those of side 1 are left out, and those that follow each other
/// without a gap on both sides are joined.
fn collapse<T: Element>(from: &NdView<T>, to: &NdView<T>) -> Vec<Axis> {
    let mut axes: Vec<Axis> = Vec::new();
    for i in (0..from.shape().len()).rev() {
        let axis = Axis { side: from.shape()[i], from: from.strides()[i], to: to.strides()[i] };
        if axis.side == 1 {
            continue;
        }
        match axes.last_mut() {
            Some(inner)
                if axis.from == inner.from * inner.side as isize && axis.to == inner.to * inner.side as isize =>
            {
                inner.side *= axis.side;
            }
            _ => axes.push(axis),
        }
    }
    axes
}

/// Returns the axes as one box: layouts of both sides and the region. `None` where they do not form a box.
fn as_box(axes: &[Axis], value: usize, origins: [usize; 2]) -> Option<(RectLayout, RectLayout, [usize; 3])> {
    let (run, outer) = match axes.split_first() {
        Some((inner, outer)) if inner.from == 1 && inner.to == 1 => (inner.side, outer),
        _ => (1, axes),
    };
    if outer.len() > 2 {
        return None;
    }
    let side = |i: usize| outer.get(i).map_or(1, |axis| axis.side);
    let region = [run * value, side(0), side(1)];
    let layout = |origin: usize, stride: fn(&Axis) -> isize| {
        let pitch = |i: usize| match outer.get(i) {
            Some(axis) => usize::try_from(stride(axis)).ok()?.checked_mul(value),
            None => Some(0),
        };
        let layout = RectLayout { origin: [origin * value, 0, 0], row_pitch: pitch(0)?, slice_pitch: pitch(1)? };
        // Pitches of 0 would have another meaning.
        let real = outer.iter().all(|axis| stride(axis) > 0);
        (real && layout.resolve(region).is_some()).then_some(layout)
    };
    Some((layout(origins[0], |a| a.from)?, layout(origins[1], |a| a.to)?, region))
}

impl Queue {
    /// Copies values between views of one shape with any strides: by `clEnqueueCopyBufferRect` where they form a box,
    /// otherwise by a kernel (`clEnqueueNDRangeKernel`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the shapes differ, or where the bytes from the first to the last value of both
    /// overlap in one buffer.
    pub fn copy_view<T: Element>(&self, from: &NdView<T>, to: &NdView<T>, wait: &[Event]) -> Result<Event> {
        if from.shape() != to.shape() {
            return Err(Error::invalid(
                OP,
                format!("values of shape {:?} cannot be copied to shape {:?}", from.shape(), to.shape()),
            ));
        }
        if from.buffer().raw.overlaps(&from.bytes(), &to.buffer().raw, &to.bytes()) {
            return Err(Error::invalid(OP, "the two views may overlap; copy through another buffer"));
        }
        let axes = collapse(from, to);
        match as_box(&axes, size_of::<T>(), [from.offset(), to.offset()]) {
            Some((a, b, region)) => self.copy_rect((from.buffer(), a), (to.buffer(), b), region, wait),
            None => self.copy_by_kernel(from, to, &axes, wait),
        }
    }

    fn copy_by_kernel<T: Element>(
        &self,
        from: &NdView<T>,
        to: &NdView<T>,
        axes: &[Axis],
        wait: &[Event],
    ) -> Result<Event> {
        let value = size_of::<T>();
        let (unit, bytes) = [("ulong", 8), ("uint", 4), ("ushort", 2)]
            .into_iter()
            .find(|(_, bytes)| value.is_multiple_of(*bytes))
            .unwrap_or(("uchar", 1));
        let mut plan: Vec<i64> =
            vec![axes.len() as i64, (value / bytes) as i64, from.offset() as i64, to.offset() as i64];
        plan.extend(axes.iter().flat_map(|axis| [axis.side as i64, axis.from as i64, axis.to as i64]));
        let plan = Buffer::with_data(self.context(), MemFlags::READ_ONLY, &plan)?;
        let kernel = copy_kernel(self.context(), unit)?;
        let args = [Arg::from(from.buffer()), Arg::from(to.buffer()), Arg::from(&plan)];
        self.launch(&kernel, &args, [from.len()], wait)
    }

    /// Copies the values to a new buffer (`clCreateBuffer`), row-major without gaps, by [`Queue::copy_view`]. Does not
    /// block.
    pub fn contiguous<T: Element>(&self, view: &NdView<T>, wait: &[Event]) -> Result<(NdView<T>, Event)> {
        let buffer = Buffer::new(self.context(), MemFlags::READ_WRITE, view.len() * size_of::<T>())?;
        let copy = NdView::new(&buffer, view.shape())?;
        let event = self.copy_view(view, &copy, wait)?;
        Ok((copy, event))
    }

    /// Reads the values of a view, row-major (`clEnqueueReadBuffer`; a view with gaps is copied by
    /// [`Queue::contiguous`] first). Does not block.
    pub fn read_view<T: Element>(&self, view: &NdView<T>, wait: &[Event]) -> Result<PendingRead<T>> {
        if view.is_contiguous() {
            return self.read(view.buffer(), view.bytes().start, view.len(), wait);
        }
        let (copy, event) = self.contiguous(view, wait)?;
        self.read(copy.buffer(), 0, view.len(), &[event])
    }

    /// Writes values, row-major, to a view (`clEnqueueWriteBuffer`; for a view with gaps, they are written to a
    /// separate buffer, then copied by [`Queue::copy_view`]). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where their number differs from the view's.
    pub fn write_view<T: Element>(
        &self,
        view: &NdView<T>,
        values: impl Into<OwnedValues<T>>,
        wait: &[Event],
    ) -> Result<Event> {
        let values = values.into();
        let (given, bytes) = (values.as_slice().len(), size_of_val(values.as_slice()));
        if given != view.len() {
            return Err(Error::invalid(
                "Queue::write_view",
                format!("{given} values were given for {:?}", view.shape()),
            ));
        }
        if view.is_contiguous() {
            return self.write(view.buffer(), view.bytes().start, values, wait);
        }
        let buffer = Buffer::new(self.context(), MemFlags::READ_WRITE, bytes)?;
        let written = self.write(&buffer, 0, values, wait)?;
        self.copy_view(&NdView::new(&buffer, view.shape())?, view, &[written])
    }

    /// Sets all values of a view (`clEnqueueFillBuffer`). Where the view has gaps, or the driver cannot fill with
    /// values of this size, [`Queue::copy_view`] copies a single value. Does not block.
    pub fn fill_view<T: Element>(&self, view: &NdView<T>, value: T, wait: &[Event]) -> Result<Event> {
        if view.is_contiguous() && fills_with(size_of::<T>()) {
            return self.fill(view.buffer(), value, view.bytes(), wait);
        }
        let one = Buffer::with_data(self.context(), MemFlags::READ_WRITE, &[value])?;
        let zeros = vec![0; view.shape().len()];
        self.copy_view(&NdView::with_strides(&one, 0, view.shape(), &zeros)?, view, wait)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn axis(side: usize, from: isize, to: isize) -> Axis {
        Axis { side, from, to }
    }

    #[test]
    fn boxes_are_found_where_the_driver_can_copy_them() {
        let (from, to, region) = as_box(&[axis(5, 1, 1), axis(4, 10, 5)], 4, [3, 0]).unwrap();
        assert_eq!(region, [20, 4, 1]);
        assert_eq!((from.origin[0], from.row_pitch, to.row_pitch), (12, 40, 20));
        // Single values with gaps are rows of one value.
        assert_eq!(as_box(&[axis(5, 2, 1)], 4, [0, 0]).unwrap().2, [4, 5, 1]);
        assert_eq!(as_box(&[], 4, [7, 0]).unwrap().2, [4, 1, 1]);
        for axes in [
            vec![axis(5, -1, 1)],
            vec![axis(5, 0, 1)],
            vec![axis(5, 4, 1), axis(4, 1, 5)],
            vec![axis(2, 1, 1), axis(2, 4, 4), axis(2, 16, 16), axis(2, 64, 64)],
        ] {
            assert_eq!(as_box(&axes, 4, [0, 0]), None, "{axes:?}");
        }
    }
}
