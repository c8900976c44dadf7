//! Subtracts two pictures number by number.

use crate::element::{Element, Number};
use crate::kernel::kernel;
use crate::layout::Layout;
use crate::paint::{Float, TOGETHER};
use crate::plane::Plane;
use crate::pool;
use crate::refusal::Refusal;
use crate::spot::Spot;
use crate::value::Value;
use pixelferry::{Arg, BufferView, ComputeBackend, ComputeMemory, Error, Kernel, Result, Target, View};
use rayon::prelude::*;
use std::sync::Arc;

impl Plane {
    /// Shape, order of the axes and number type of the output of [`Plane::minus`]: float32 for float32, smaller floats,
    /// and integers of up to 16 bits; otherwise float64. A fourth channel is left out.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for pictures of different sizes.
    pub fn difference(&self, other: &Self) -> Result<(Vec<i64>, Layout, Number), Refusal> {
        let sides = |of: &Self| [of.grid.count, of.grid.height, of.grid.width, of.channels.min(3)];
        if sides(self) != sides(other) {
            let [one, two] = [self, other].map(|of| {
                let [count, height, width, channels] = sides(of);
                let many = if count > 1 { format!("{count} times ") } else { String::new() };
                format!("{many}{width} x {height} x {channels}")
            });
            let what = "a difference needs two arrays of equal size; their width x height x channels are";
            return Err(Refusal::Shape(format!("{what} {one} and {two}")));
        }
        // Leave out axes of size 1.
        let kept = sides(self).into_iter().zip("NHWC".chars()).filter(|(side, axis)| *side > 1 || "HW".contains(*axis));
        let (shape, letters): (Vec<_>, String) = kept.map(|(side, axis)| (i64::from(side), axis)).unzip();
        let is_single = [self, other].iter().all(|of| of.numbers(&[]).is_single());
        let bits = if is_single { 32 } else { 64 };
        Ok((shape, Layout::named(&letters)?, Number { code: 2, bits, foreign: false }))
    }

    /// Writes the numbers of this picture minus those of another to `out`, as described by [`Plane::difference`]. Both
    /// are taken as shown: of complex numbers the magnitude, or the selected part. Integers are subtracted exactly.
    ///
    /// # Errors
    /// [`Error::InvalidInput`](pixelferry::Error::InvalidInput) for pictures of different sizes, and for missing bytes.
    pub fn minus(&self, bytes: &[u8], other: &Self, others: &[u8], out: &mut [u8]) -> Result<()> {
        let (shape, _, number) = self.difference(other).map_err(|refusal| wrong(refusal.to_string()))?;
        self.check(bytes)?;
        other.check(others)?;
        check_room(&shape, number, out.len())?;
        pool::run(|| match number.bits {
            32 => self.subtract::<f32>(bytes, other, others, out),
            _ => self.subtract::<f64>(bytes, other, others, out),
        });
        Ok(())
    }

    /// The pictures must have equal sizes, and all their bytes must be present.
    fn subtract<T: Float>(&self, bytes: &[u8], other: &Self, others: &[u8], out: &mut [u8]) {
        let (channels, width, size) = (self.channels.min(3), self.grid.width as usize, size_of::<T>());
        let is_exact = self.is_exact(other);
        out.par_chunks_mut(width * channels as usize * size).enumerate().for_each(|(row, out)| {
            let height = self.grid.height as usize;
            let (image, y) = ((row / height) as u32, (row % height) as u32);
            let (one, two) = (self.image(bytes, image), other.image(others, image));
            let (mut ones, mut twos) = ([T::default(); TOGETHER], [T::default(); TOGETHER]);
            for channel in 0..channels {
                for x in (0..width).step_by(TOGETHER) {
                    let some = TOGETHER.min(width - x);
                    let (ones, twos) = (&mut ones[..some], &mut twos[..some]);
                    if is_exact {
                        for (to, x) in ones.iter_mut().zip(x as u32..) {
                            let spot = Spot { image, row: y, column: x };
                            let whole = |of: &Self, bytes| match of.value_at(bytes, spot, channel) {
                                Some(Value::Whole(whole)) => whole,
                                _ => 0,
                            };
                            *to = T::of_double((whole(self, bytes) - whole(other, others)) as f64);
                        }
                    } else {
                        one.values(y, x, channel, ones);
                        two.values(y, x, channel, twos);
                    }
                    let pixels = out.chunks_exact_mut(channels as usize * size).skip(x);
                    for ((to, one), two) in pixels.zip(ones).zip(twos) {
                        to[channel as usize * size..][..size].copy_from_slice(bytemuck::bytes_of(&(*one - *two)));
                    }
                }
            }
        });
    }

    /// Whether the difference must be computed before conversion to a float: integers of 64 bits, and others.
    fn is_exact(&self, other: &Self) -> bool {
        self.is_long() && other.has_integers() || other.is_long() && self.has_integers()
    }

    /// Integers, including those that floats of 64 bits cannot represent.
    fn has_integers(&self) -> bool {
        matches!(self.element.row().code.0, 0 | 1 | 6) && self.pair.is_none()
    }

    const fn is_long(&self) -> bool {
        matches!(self.element, Element::I64 | Element::U64)
    }
}

fn wrong(what: String) -> Error {
    Error::invalid("minus", what)
}

/// Returns the bytes of a difference, or an error if there is no room for them.
fn check_room(shape: &[i64], number: Number, room: usize) -> Result<usize> {
    let size = number.bits / 8;
    let needed = shape.iter().try_fold(size, |all, side| all.checked_mul(*side as usize)).unwrap_or(usize::MAX);
    let said = || wrong(format!("the difference needs {needed} bytes, but there is room for {room}"));
    if room == needed { Ok(needed) } else { Err(said()) }
}

/// A picture, and the memory of its span.
pub type PlaneMemory<'a> = (&'a Plane, &'a dyn ComputeMemory);

/// Subtracts arrays on one device, with PTX or OpenCL C.
#[derive(Default)]
pub struct Difference {
    /// For floats of 32 and of 64 bits; built when first needed.
    kernels: [Option<Arc<dyn Kernel>>; 2],
}

impl Difference {
    /// Like [`Plane::minus`], on the device. Returns false and writes nothing for integers of 64 bits and similar
    /// types, whose exact differences have more bits than kernels support. Does not wait.
    ///
    /// # Errors
    /// Those of [`Plane::minus`], and errors of the backend.
    pub fn minus(
        &mut self,
        backend: &dyn ComputeBackend,
        (one, ones): PlaneMemory<'_>,
        (two, twos): PlaneMemory<'_>,
        out: &mut dyn ComputeMemory,
    ) -> Result<bool> {
        const MOST_ITEMS: usize = 1 << 20;
        let (shape, _, number) = one.difference(two).map_err(|refusal| wrong(refusal.to_string()))?;
        let len = check_room(&shape, number, out.len())?;
        if one.is_exact(two) {
            return Ok(false);
        }
        let (name, built) = match (number.bits, &mut self.kernels) {
            (32, [built, _]) => ("pf_minus32", built),
            (_, [_, built]) => ("pf_minus64", built),
        };
        let built = match built {
            Some(built) => built,
            // SAFETY: items read both arrays at indices that `Plane` checked against their memory, and write the
            // numbers of a picture of that size, for which there is room.
            none => none.insert(backend.build(&unsafe { kernel(name) })?),
        };
        let [row, column, channel] = two.strides;
        let mut arguments = one.arguments(ones, None);
        arguments.push(Arg::Memory(twos));
        arguments.extend([two.span.first as i64, row, column, channel].map(Arg::I64));
        arguments.extend([two.element as i32, two.pair.map_or(0, |pair| pair as i32)].map(Arg::I32));
        arguments.push(Arg::I64(two.grid.stride));
        let target = Target::new(out, View::Buffer(BufferView { offset: 0, len }))?;
        let items = (len * 8 / number.bits).min(MOST_ITEMS);
        backend.launch(built.as_ref(), target.with_items(items), &arguments)?;
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Look, MemoryLocation, Raw, TABLE};
    use pixelferry::PixelFormat;

    fn plane(bytes: &[u8], shape: &[i64], layout: &str, name: &str) -> Plane {
        let (address, number) = (bytes.as_ptr().addr(), Number::of_name(name).unwrap());
        let raw = Raw { address, shape: shape.to_vec(), strides: None, number, place: MemoryLocation::Host };
        Plane::new(&raw, Layout::named(layout).unwrap(), PixelFormat::Rgba8, &Look::default()).unwrap()
    }

    fn minus(one: (&Plane, &[u8]), two: (&Plane, &[u8])) -> Vec<f64> {
        let (shape, _, number) = one.0.difference(two.0).unwrap();
        let mut out = vec![0; shape.iter().product::<i64>() as usize * number.bits / 8];
        one.0.minus(one.1, two.0, two.1, &mut out).unwrap();
        match number.bits {
            32 => out.as_chunks().0.iter().map(|bytes| f32::from_ne_bytes(*bytes).into()).collect(),
            _ => out.as_chunks().0.iter().map(|bytes| f64::from_ne_bytes(*bytes)).collect(),
        }
    }

    #[test]
    fn every_type_minus_every_other_is_the_difference_of_their_values() {
        // More columns than are read together, and every byte in every place.
        let (width, bytes) = (300, |step: usize| (0..9600).map(|n| (n * step % 251) as u8).collect::<Vec<_>>());
        let (ones, twos) = (bytes(7), bytes(13));
        let value = |of: &Plane, bytes: &[u8], column| match of.values(bytes, Spot { image: 0, row: 1, column })[0] {
            Value::Complex(real, imaginary) => Value::Double(real.hypot(imaginary)),
            other => other,
        };
        for (a, b) in TABLE.iter().flat_map(|a| TABLE.iter().map(move |b| (a, b))) {
            let (one, two) = (plane(&ones, &[2, width], "HW", a.name), plane(&twos, &[2, width], "HW", b.name));
            let found = minus((&one, &ones), (&two, &twos));
            for (column, found) in found[width as usize..].iter().enumerate() {
                let [x, y] = [value(&one, &ones, column as u32), value(&two, &twos, column as u32)];
                let (wanted, [x, y]) = match [x, y] {
                    [Value::Whole(x), Value::Whole(y)] => ((x - y) as f64, [0.0; 2]),
                    of => (f64::from(of[0]) - f64::from(of[1]), of.map(f64::from)),
                };
                // Halves are told in fewer digits than they have.
                let near = (x.abs() + y.abs()) * 4e-3;
                let is_same = *found == wanted || found.is_nan() && wanted.is_nan() || (found - wanted).abs() <= near;
                assert!(is_same, "{} - {}: {found}, and not {wanted}", a.name, b.name);
            }
        }
        let large = [i64::MAX, i64::MIN].map(i64::to_ne_bytes).concat();
        let small = [i64::MAX - 3, i64::MIN + 5].map(i64::to_ne_bytes).concat();
        let [one, two] = [&large, &small].map(|bytes| plane(bytes, &[1, 2], "HW", "int64"));
        assert_eq!(minus((&one, &large), (&two, &small)), [3.0, -5.0]);
    }

    #[test]
    fn layouts_may_differ_and_sizes_may_not() {
        let bytes: Vec<u8> = (0..72).collect();
        // Of two pictures of 3 x 4 in three channels: channels apart, and together.
        let [apart, together] =
            [([2, 3, 3, 4], "NCHW"), ([2, 3, 4, 3], "NHWC")].map(|(s, l)| plane(&bytes, &s, l, "uint8"));
        let (shape, layout, number) = apart.difference(&together).unwrap();
        assert_eq!((shape, layout, number.bits), (vec![2, 3, 4, 3], Layout::named("NHWC").unwrap(), 32));
        let found = minus((&apart, &bytes), (&together, &bytes));
        let place = |of: &Plane, n: u32| of.values(&bytes, Spot { image: n / 36, row: n / 12 % 3, column: n / 3 % 4 });
        for n in 0..72 {
            let [x, y] = [&apart, &together].map(|of| f64::from(place(of, n)[n as usize % 3]));
            assert_eq!(found[n as usize], x - y, "{n}");
        }
        let other = plane(&bytes, &[6, 12], "HW", "uint8");
        let said = apart.difference(&other).unwrap_err().to_string();
        assert!(said.contains("2 times 4 x 3 x 3 and 12 x 6 x 1"), "{said}");
        assert!(apart.minus(&bytes, &other, &bytes, &mut [0; 288]).is_err());
        assert!(apart.minus(&bytes, &together, &bytes[1..], &mut [0; 288]).is_err());
        assert!(apart.minus(&bytes, &together, &bytes, &mut [0; 287]).is_err());
    }
}
