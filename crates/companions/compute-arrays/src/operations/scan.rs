//! Scans: running values.

use super::reduce::part;
use super::{Form, on_cpu};
use crate::array::Array;
use crate::context::Arrays;
use crate::cpu;
use crate::element::Element;
use crate::expr::{BoundProgram, Expr};
use crate::monoid::{Monoid, Scan};
use crate::scratch::Scratch;
use crate::text::wgsl::{self, Wgsl};
use crate::text::{C, Dialect, ONE_PASS, SCAN, SCAN_RUNS, SCAN_STARTS, SCAN_THREE, TILE, Text, WARP, parameters};
use interop_core::{Arg, Error, Result, Target};

/// Work items of a group.
const WIDTH: usize = 256;

/// Rows of 16 bytes that a work item of the one-pass scan holds in registers; shared memory holds the same number
/// again. Four groups fit on a multiprocessor.
pub(super) const ROWS: usize = 8;

/// Elements of a work item in OpenCL's passes. A tile with its padding takes 17 KiB of local memory; OpenCL guarantees
/// 32.
const fn items(element_bytes: usize) -> usize {
    64 / element_bytes
}

/// Elements of a work item in WGSL's passes: a tile fits the 16 KiB of workgroup memory that WebGPU guarantees.
const WGSL_ITEMS: usize = 8;

impl<T: Element> Expr<'_, T> {
    /// Returns the running values of `monoid`, in row-major order, as an array of the expression's shape. The same
    /// kernel computes the expression. `monoid` need not be commutative.
    ///
    /// NVIDIA's GPUs need one pass over memory, with CUDA and with NVIDIA's OpenCL. The CPU needs one, and a second one
    /// in its caches. All other devices need three. In the one-pass scan, groups of work items wait for groups with
    /// smaller numbers. The device must therefore begin groups in that order and let running groups make progress,
    /// which OpenCL does not guarantee.
    ///
    /// Sums of floats are the same in every run on one device. On devices, their error is at most `(n / 4096 + 80) *
    /// epsilon` times the sum of the absolute values so far. On the CPU the factor is `(n / 32768 + 450) * epsilon`.
    /// Where errors cancel out, the error is far smaller.
    ///
    /// # Errors
    /// The errors of [`Expr::reduce`].
    pub fn scan(&self, monoid: &Monoid<T>, scan: Scan) -> Result<Array<T>> {
        self.scan_on(None, monoid, scan)
    }

    pub(crate) fn scan_on(&self, on: Option<&Arrays>, monoid: &Monoid<T>, scan: Scan) -> Result<Array<T>> {
        const OP: &str = "Expr::scan";
        let (bound, arrays, _) = self.bound(on, OP)?;
        let mut out = arrays.empty(bound.shape().unwrap_or_default())?;
        run(&arrays, &bound, monoid, scan, &mut out, OP)?;
        Ok(out)
    }

    /// Writes the running values of `monoid` to `into`. See [`Expr::scan`].
    ///
    /// # Errors
    /// The errors of [`Expr::scan`]; [`Error::InvalidInput`] where the shapes differ.
    pub fn scan_into(&self, monoid: &Monoid<T>, scan: Scan, into: &mut Array<T>) -> Result<()> {
        self.scan_into_on(None, monoid, scan, into)
    }

    pub(crate) fn scan_into_on(
        &self,
        on: Option<&Arrays>,
        monoid: &Monoid<T>,
        scan: Scan,
        into: &mut Array<T>,
    ) -> Result<()> {
        const OP: &str = "Expr::scan_into";
        let (bound, arrays, _) = self.bound(on, OP)?;
        arrays.check_same(into.arrays(), OP)?;
        arrays.check_shape(&bound, into.shape(), OP)?;
        run(&arrays, &bound, monoid, scan, into, OP)
    }

    /// Returns the running sums, each including its own element; integers wrap. See [`Expr::scan`].
    ///
    /// # Errors
    /// The errors of [`Expr::scan`].
    pub fn cumulative_sum(&self) -> Result<Array<T>> {
        self.scan(&Monoid::sum(), Scan::Inclusive)
    }
}

fn run<T: Element>(
    arrays: &Arrays,
    bound: &BoundProgram<'_>,
    monoid: &Monoid<T>,
    scan: Scan,
    out: &mut Array<T>,
    operation: &'static str,
) -> Result<()> {
    let len = out.len();
    let Some(mut memory) = out.memory_mut(operation)? else { return Ok(()) };
    let target = out.target(memory.as_mut())?;
    let Some(dialect) = arrays.dialect() else {
        let combine = cpu::combine_of(monoid);
        return on_cpu::<T>(arrays, "scan", (target, len), bound, operation, move |program, out, leaves| {
            cpu::scan(program, leaves, out, combine.as_ref(), scan);
        });
    };
    let device = Device::new(arrays, bound, dialect, scan, operation);
    if arrays.groups_may_wait() {
        device.one_pass(monoid, target, len, ROWS)
    } else {
        device.three_passes(Form::of(arrays), monoid, target, len)
    }
}

/// Returns the text of `pf_scan`.
pub(super) fn one_pass_text<T: Element>(
    dialect: C,
    bound: &BoundProgram<'_>,
    monoid: &Monoid<T>,
    len: usize,
    rows: usize,
) -> String {
    let text = Text::new(dialect, bound, T::KIND, len).map(bound).words(T::KIND).monoid(monoid.parts());
    text.define("PF_HALF", rows).append(WARP).append(ONE_PASS).finish()
}

impl Form {
    /// Returns the number of elements of a tile, and of the work items that process it.
    const fn tile(self, dialect: Dialect, element_bytes: usize) -> (usize, usize) {
        match (self, dialect) {
            (_, Dialect::Wgsl) => (WIDTH * WGSL_ITEMS, WIDTH),
            (Self::Groups, Dialect::C(_)) => (WIDTH * items(element_bytes), WIDTH),
            (Self::Runs, Dialect::C(_)) => (128, 1),
        }
    }

    /// Returns the text of `pf_tile_totals` and `pf_scan_tiles`.
    fn tiles_text<T: Element>(self, c: C, bound: &BoundProgram<'_>, monoid: &Monoid<T>, len: usize) -> String {
        let text = Text::new(c, bound, T::KIND, len).map(bound).monoid(monoid.parts());
        match self {
            Self::Groups => {
                text.append(SCAN).define("PF_ITEMS", items(size_of::<T>())).append(TILE).append(SCAN_THREE).finish()
            }
            Self::Runs => text.append(SCAN_RUNS).finish(),
        }
    }

    /// Returns the text of `pf_scan_totals`.
    pub(super) fn totals_text<T: Element>(self, dialect: Dialect, monoid: &Monoid<T>, tiles: usize) -> String {
        match (self, dialect) {
            (_, Dialect::Wgsl) => {
                let text = Wgsl::new(T::KIND).monoid(monoid.parts()).define("PF_NEIGHBOURS", 8);
                text.append(wgsl::SCAN).append(wgsl::SCAN_STARTS).finish()
            }
            (Self::Groups, Dialect::C(c)) => {
                Text::with(c, T::KIND, tiles, false).monoid(monoid.parts()).append(SCAN).append(SCAN_STARTS).finish()
            }
            (Self::Runs, Dialect::C(c)) => {
                Text::with(c, T::KIND, tiles, false).monoid(monoid.parts()).append(SCAN_RUNS).finish()
            }
        }
    }
}

/// Returns the texts of `pf_tile_totals`, and of `pf_scan_tiles`, which has one more memory.
pub(super) fn wgsl_texts<T: Element>(form: Form, bound: &BoundProgram<'_>, monoid: &Monoid<T>) -> [String; 2] {
    let tiles = match form {
        Form::Groups => wgsl::SCAN_TILES,
        Form::Runs => wgsl::SCAN_ITEMS,
    };
    let text = |memories| {
        let text = Wgsl::new(T::KIND).map(bound, memories, 1).monoid(monoid.parts());
        text.define("PF_ITEMS", WGSL_ITEMS).append(wgsl::SCAN).append(wgsl::SCAN_OWN).append(tiles)
    };
    let starts = "@group(1) @binding(0) var<storage, read> pf_start_bits: array<u32>;\n";
    [text(0).append(wgsl::SCAN_TOTALS).finish(), text(1).append(starts).append(wgsl::SCAN_OUT).finish()]
}

/// A scan on a device.
pub(super) struct Device<'s, 'a> {
    arrays: &'s Arrays,
    bound: &'s BoundProgram<'a>,
    dialect: Dialect,
    exclusive: i32,
    operation: &'static str,
}

impl<'s, 'a> Device<'s, 'a> {
    pub(super) fn new(
        arrays: &'s Arrays,
        bound: &'s BoundProgram<'a>,
        dialect: Dialect,
        scan: Scan,
        operation: &'static str,
    ) -> Self {
        Self { arrays, bound, dialect, exclusive: i32::from(scan == Scan::Exclusive), operation }
    }

    /// Scans in one pass, on devices where [`Arrays::groups_may_wait`].
    pub(super) fn one_pass<T: Element>(
        &self,
        monoid: &Monoid<T>,
        target: Target<'_>,
        len: usize,
        rows: usize,
    ) -> Result<()> {
        let Dialect::C(c) = self.dialect else {
            return self.three_passes(Form::Groups, monoid, target, len);
        };
        let text = one_pass_text(c, self.bound, monoid, len, rows);
        let kernel = self.arrays.kernel("pf_scan", &text, self.dialect)?;
        let tiles = self.count(len, WIDTH * rows * 32 / size_of::<T>())?;
        // A word of 64 bits for each 4 bytes of a value; a value for each tile, and one in front.
        let state = (tiles + 1) * size_of::<T>() * 2;
        self.arrays.with_scratch(Scratch::State, state, |kept| {
            kept.epoch += 1;
            let before = [Arg::Memory(kept.memory.as_ref()), Arg::U32(kept.epoch), Arg::I32(self.exclusive)];
            self.launch(kernel.as_ref(), target.with_items(tiles * WIDTH), &before)
        })
    }

    pub(super) fn three_passes<T: Element>(
        &self,
        form: Form,
        monoid: &Monoid<T>,
        target: Target<'_>,
        len: usize,
    ) -> Result<()> {
        let [of_totals, of_scan] = match self.dialect {
            Dialect::C(c) => {
                let both = form.tiles_text(c, self.bound, monoid, len);
                [both.clone(), both]
            }
            Dialect::Wgsl => wgsl_texts(form, self.bound, monoid),
        };
        let totals = self.arrays.kernel("pf_tile_totals", &of_totals, self.dialect)?;
        let scan = self.arrays.kernel("pf_scan_tiles", &of_scan, self.dialect)?;
        let (tile, items) = form.tile(self.dialect, size_of::<T>());
        let tiles = self.count(len, tile)?;
        let of_starts = form.totals_text(self.dialect, monoid, tiles);
        let starts = self.arrays.kernel("pf_scan_totals", &of_starts, self.dialect)?;
        self.arrays.with_scratch(Scratch::Tiles, tiles * size_of::<T>(), |kept| {
            let (memory, bytes) = (&mut kept.memory, tiles * size_of::<T>());
            let into = part(memory.as_mut(), bytes)?.with_items(tiles * items);
            self.launch(totals.as_ref(), into, &[self.dialect.count(len)])?;
            let into = part(memory.as_mut(), bytes)?.with_items(items);
            self.arrays.launch(starts.as_ref(), into, &[self.dialect.count(tiles)], &[], &[], self.operation)?;
            let before = [Arg::Memory(memory.as_ref()), Arg::I32(self.exclusive)];
            self.launch(scan.as_ref(), target.with_items(tiles * items), &before)
        })
    }

    fn launch(&self, kernel: &dyn interop_core::Kernel, target: Target<'_>, before: &[Arg<'_>]) -> Result<()> {
        // One of the preceding arguments is a number.
        let after = parameters(self.dialect, self.bound, 1);
        self.arrays.launch(kernel, target, before, &self.bound.leaves, &after, self.operation)
    }

    /// Returns the number of tiles of this size.
    fn count(&self, len: usize, tile: usize) -> Result<usize> {
        let tiles = len.div_ceil(tile);
        if u32::try_from(tiles).is_ok() {
            return Ok(tiles);
        }
        let problem = format!("{len} elements give more tiles than can be counted; scan them in parts");
        Err(Error::invalid(self.operation, problem))
    }
}
