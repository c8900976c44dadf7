//! Expressions on the CPU: each step processes a block of elements that stays in the first-level cache, in loops that
//! the compiler vectorises. A truth value is a `u32` of 0 or 1.

use super::arith::{Arith, FloatArith, IntArith};
use crate::element::{Constant, Element, ElementType, Float, Integer};
use crate::expr::{Access, Binary, Program, ProgramStep, Unary};
use crate::layout::Layout;
use bytemuck::{Pod, cast_slice, cast_slice_mut};
use std::ops::Range;

/// Elements of a block: 4 KiB of `f32`.
pub const BLOCK: usize = 1024;

/// A program with its numbers and the layouts of its leaves.
#[derive(Clone)]
pub struct CpuProgram {
    pub program: Program,
    pub constants: Vec<Constant>,
    pub layouts: Vec<Layout>,
    /// For each step, the slot that holds its value.
    slots: Vec<usize>,
    slot_count: usize,
}

fn operands(step: &ProgramStep) -> impl Iterator<Item = usize> {
    let all = match *step {
        ProgramStep::Unary(_, a) | ProgramStep::Cast(a) => [Some(a), None, None],
        ProgramStep::Binary(_, a, b) => [Some(a), Some(b), None],
        ProgramStep::Select(a, b, c) | ProgramStep::MulAdd(a, b, c) => [Some(a), Some(b), Some(c)],
        ProgramStep::Load(_) | ProgramStep::Constant(_) | ProgramStep::Index | ProgramStep::Old => [None; 3],
    };
    all.into_iter().flatten()
}

impl CpuProgram {
    pub fn new(program: Program, constants: Vec<Constant>, layouts: Vec<Layout>) -> Self {
        let steps = &program.steps;
        let mut last_use = vec![0; steps.len()];
        for (at, (step, _)) in steps.iter().enumerate() {
            operands(step).for_each(|reg| last_use[reg] = at);
        }
        let (mut slots, mut free, mut slot_count) = (Vec::new(), Vec::new(), 0);
        // Constants are written once for all blocks, so no other value may use their slots.
        let lasts = |reg: &usize| matches!(steps[*reg].0, ProgramStep::Constant(_));
        for (at, (step, _)) in steps.iter().enumerate() {
            let reused = if lasts(&at) { None } else { free.pop() };
            slots.push(reused.unwrap_or_else(|| {
                slot_count += 1;
                slot_count - 1
            }));
            // Freed after the step's own slot was taken: a step never overwrites its operands.
            let mut done: Vec<usize> = operands(step).filter(|r| last_use[*r] == at && !lasts(r)).collect();
            done.sort_unstable();
            done.dedup();
            free.extend(done.into_iter().map(|r| slots[r]));
        }
        Self { slots, slot_count, program, constants, layouts }
    }

    /// Returns a worker over these leaves, one for each task.
    pub fn worker<'p>(&'p self, leaves: &'p [&'p [u8]]) -> Worker<'p> {
        let mut worker = Worker { program: self, leaves, slots: vec![vec![0; BLOCK]; self.slot_count] };
        for (at, (step, kind)) in self.program.steps.iter().enumerate() {
            if let ProgramStep::Constant(number) = step {
                fill(self.constants[*number], *kind, cast_slice_mut(&mut worker.slots[self.slots[at]]));
            }
        }
        worker
    }
}

fn fill(constant: Constant, kind: ElementType, bytes: &mut [u8]) {
    if kind.bits() == 64 {
        cast_slice_mut::<u8, u64>(bytes).fill(constant.bits);
    } else {
        cast_slice_mut::<u8, u32>(bytes).fill(constant.bits as u32);
    }
}

macro_rules! casts {
    ($from:ident, $values:expr, $to:expr, $out:expr) => {
        match $to {
            ElementType::F32 => one($values, cast_slice_mut($out), |v: $from| v as f32),
            ElementType::F64 => one($values, cast_slice_mut($out), |v: $from| v as f64),
            ElementType::I32 => one($values, cast_slice_mut($out), |v: $from| v as i32),
            ElementType::U32 | ElementType::Bool => one($values, cast_slice_mut($out), |v: $from| v as u32),
            ElementType::I64 => one($values, cast_slice_mut($out), |v: $from| v as i64),
            ElementType::U64 => one($values, cast_slice_mut($out), |v: $from| v as u64),
        }
    };
}

/// The blocks of one task.
pub struct Worker<'p> {
    program: &'p CpuProgram,
    leaves: &'p [&'p [u8]],
    slots: Vec<Vec<u64>>,
}

impl<'p> Worker<'p> {
    /// Returns the elements `range` in place, if the program is a single leaf.
    pub fn in_place<T: Element>(&self, range: Range<usize>) -> Option<&'p [T]> {
        if !self.program.program.is_linear_leaf() {
            return None;
        }
        let first = self.program.layouts.first().map_or(0, Layout::offset);
        Some(&cast_slice(self.leaves.first()?)[first + range.start..first + range.end])
    }

    /// Computes the elements from `start` on, as many as `out` holds. `out` holds the old values at first.
    pub fn run<T: Element>(&mut self, start: usize, out: &mut [T]) {
        if let Some(source) = self.in_place::<T>(start..start + out.len()) {
            out.copy_from_slice(source);
            return;
        }
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            self.block(start + block * BLOCK, out);
        }
    }

    fn block<T: Element>(&mut self, start: usize, out: &mut [T]) {
        let program = self.program;
        let (steps, len) = (&program.program.steps, out.len());
        for (at, (step, kind)) in steps.iter().enumerate() {
            let range = start..start + len;
            if at + 1 == steps.len() {
                // The result is written in place; earlier steps have read the old values.
                match step {
                    ProgramStep::Constant(number) => fill(program.constants[*number], *kind, cast_slice_mut(out)),
                    ProgramStep::Old => {}
                    _ => self.step(step, *kind, range, cast_slice_mut(out)),
                }
            } else {
                let slot = program.slots[at];
                let mut into = std::mem::take(&mut self.slots[slot]);
                let bytes = &mut cast_slice_mut(&mut into)[..len * (kind.bits() / 8) as usize];
                match step {
                    ProgramStep::Old => bytes.copy_from_slice(cast_slice(out)),
                    ProgramStep::Constant(_) => {}
                    // Read in place by the steps that use it.
                    ProgramStep::Load(leaf) if program.program.leaves[*leaf].1 == Access::Linear => {}
                    _ => self.step(step, *kind, range, bytes),
                }
                self.slots[slot] = into;
            }
        }
    }

    fn value<T: Pod>(&self, reg: usize, range: &Range<usize>) -> &[T] {
        if let (ProgramStep::Load(leaf), _) = self.program.program.steps[reg]
            && self.program.program.leaves[leaf].1 == Access::Linear
        {
            return self.linear(leaf, range);
        }
        &cast_slice(&self.slots[self.program.slots[reg]])[..range.len()]
    }

    fn linear<T: Pod>(&self, leaf: usize, range: &Range<usize>) -> &[T] {
        let first = self.program.layouts[leaf].offset();
        &cast_slice(self.leaves[leaf])[first + range.start..first + range.end]
    }

    fn step(&self, step: &ProgramStep, kind: ElementType, range: Range<usize>, out: &mut [u8]) {
        match step {
            ProgramStep::Load(leaf) if kind.bits() == 64 => self.load::<u64>(*leaf, &range, cast_slice_mut(out)),
            ProgramStep::Load(leaf) => self.load::<u32>(*leaf, &range, cast_slice_mut(out)),
            ProgramStep::Index => {
                let first = range.start as u64;
                cast_slice_mut(out).iter_mut().zip(first..).for_each(|(o, i): (&mut u64, _)| *o = i);
            }
            ProgramStep::Unary(op, a) => self.unary(*op, kind, *a, &range, out),
            ProgramStep::Binary(op, a, b) => self.binary(*op, *a, *b, &range, out),
            ProgramStep::Select(test, a, b) if kind.bits() == 64 => self.select::<u64>([*test, *a, *b], &range, out),
            ProgramStep::Select(test, a, b) => self.select::<u32>([*test, *a, *b], &range, out),
            ProgramStep::MulAdd(a, b, c) if kind == ElementType::F64 => self.mul_add::<f64>([*a, *b, *c], &range, out),
            ProgramStep::MulAdd(a, b, c) => self.mul_add::<f32>([*a, *b, *c], &range, out),
            ProgramStep::Cast(a) => self.cast(self.program.program.kind_of(*a), kind, *a, &range, out),
            // The caller has done these.
            ProgramStep::Constant(_) | ProgramStep::Old => {}
        }
    }

    fn load<T: Pod>(&self, leaf: usize, range: &Range<usize>, out: &mut [T]) {
        if self.program.program.leaves[leaf].1 == Access::Linear {
            out.copy_from_slice(self.linear(leaf, range));
            return;
        }
        let (layout, source) = (&self.program.layouts[leaf], cast_slice::<u8, T>(self.leaves[leaf]));
        let axes = layout.collapsed();
        let Some(((side, stride), outer)) = axes.split_last() else { return };
        // Along the last axis the elements are evenly spaced: one run for each of its lines.
        let (mut done, mut linear) = (0, range.start);
        while done < out.len() {
            let (mut rest, along) = (linear / side, linear % side);
            let mut at = layout.offset() as isize + along as isize * stride;
            for (side, stride) in outer.iter().rev() {
                at += (rest % side) as isize * stride;
                rest /= side;
            }
            let run = (side - along).min(out.len() - done);
            for (k, o) in out[done..done + run].iter_mut().enumerate() {
                *o = source[at.wrapping_add(k as isize * stride) as usize];
            }
            (done, linear) = (done + run, linear + run);
        }
    }

    fn unary(&self, op: Unary, kind: ElementType, a: usize, range: &Range<usize>, out: &mut [u8]) {
        match kind {
            ElementType::F32 => unary_float::<f32>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::F64 => unary_float::<f64>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::I32 => unary_any::<i32>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::U32 => unary_any::<u32>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::I64 => unary_any::<i64>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::U64 => unary_any::<u64>(op, self.value(a, range), cast_slice_mut(out)),
            ElementType::Bool => one(self.value::<u32>(a, range), cast_slice_mut(out), |v: u32| v ^ 1),
        }
    }

    fn binary(&self, op: Binary, a: usize, b: usize, range: &Range<usize>, out: &mut [u8]) {
        match self.program.program.kind_of(a) {
            ElementType::F32 => binary_float::<f32>(op, self.value(a, range), self.value(b, range), out),
            ElementType::F64 => binary_float::<f64>(op, self.value(a, range), self.value(b, range), out),
            ElementType::I32 => binary_int::<i32>(op, self.value(a, range), self.value(b, range), out),
            ElementType::U32 | ElementType::Bool => {
                binary_int::<u32>(op, self.value(a, range), self.value(b, range), out)
            }
            ElementType::I64 => binary_int::<i64>(op, self.value(a, range), self.value(b, range), out),
            ElementType::U64 => binary_int::<u64>(op, self.value(a, range), self.value(b, range), out),
        }
    }

    fn select<T: Pod>(&self, [test, a, b]: [usize; 3], range: &Range<usize>, out: &mut [u8]) {
        let (test, a, b) = (self.value::<u32>(test, range), self.value::<T>(a, range), self.value(b, range));
        let all = test.iter().zip(a).zip(b);
        cast_slice_mut(out).iter_mut().zip(all).for_each(|(o, ((t, a), b))| *o = if *t != 0 { *a } else { *b });
    }

    fn mul_add<T: Float>(&self, [a, b, c]: [usize; 3], range: &Range<usize>, out: &mut [u8]) {
        let all = self.value::<T>(a, range).iter().zip(self.value::<T>(b, range)).zip(self.value::<T>(c, range));
        cast_slice_mut(out).iter_mut().zip(all).for_each(|(o, ((a, b), c))| *o = FloatArith::mul_add(*a, *b, *c));
    }

    fn cast(&self, from: ElementType, to: ElementType, a: usize, range: &Range<usize>, out: &mut [u8]) {
        match from {
            ElementType::F32 => casts!(f32, self.value(a, range), to, out),
            ElementType::F64 => casts!(f64, self.value(a, range), to, out),
            ElementType::I32 => casts!(i32, self.value(a, range), to, out),
            ElementType::U32 | ElementType::Bool => casts!(u32, self.value(a, range), to, out),
            ElementType::I64 => casts!(i64, self.value(a, range), to, out),
            ElementType::U64 => casts!(u64, self.value(a, range), to, out),
        }
    }
}

fn one<A: Copy, R>(a: &[A], out: &mut [R], f: impl Fn(A) -> R) {
    out.iter_mut().zip(a).for_each(|(o, a)| *o = f(*a));
}

fn two<A: Copy, R>(a: &[A], b: &[A], out: &mut [R], f: impl Fn(A, A) -> R) {
    out.iter_mut().zip(a.iter().zip(b)).for_each(|(o, (a, b))| *o = f(*a, *b));
}

fn unary_any<T: Element>(op: Unary, a: &[T], out: &mut [T]) {
    match op {
        Unary::Neg => one(a, out, Arith::neg),
        Unary::Abs => one(a, out, Arith::abs),
        // These operations exist only for floats and truth values.
        _ => out.copy_from_slice(a),
    }
}

fn unary_float<T: Float>(op: Unary, a: &[T], out: &mut [T]) {
    match op {
        Unary::Sqrt => one(a, out, FloatArith::sqrt),
        Unary::Exp => one(a, out, FloatArith::exp),
        Unary::Ln => one(a, out, FloatArith::ln),
        Unary::Sin => one(a, out, FloatArith::sin),
        Unary::Cos => one(a, out, FloatArith::cos),
        Unary::Tan => one(a, out, FloatArith::tan),
        Unary::Tanh => one(a, out, FloatArith::tanh),
        Unary::Floor => one(a, out, FloatArith::floor),
        Unary::Ceil => one(a, out, FloatArith::ceil),
        Unary::Trunc => one(a, out, FloatArith::trunc),
        Unary::RoundEven => one(a, out, FloatArith::round_ties_even),
        Unary::Neg | Unary::Abs | Unary::Not => unary_any(op, a, out),
    }
}

/// Operations of all types; `out` has the same type, or holds truth values.
fn binary_any<T: Element>(op: Binary, a: &[T], b: &[T], out: &mut [u8]) {
    match op {
        Binary::Add => two(a, b, cast_slice_mut(out), Arith::add),
        Binary::Sub => two(a, b, cast_slice_mut(out), Arith::sub),
        Binary::Mul => two(a, b, cast_slice_mut(out), Arith::mul),
        Binary::Div => two(a, b, cast_slice_mut(out), Arith::div),
        Binary::Rem => two(a, b, cast_slice_mut(out), Arith::rem),
        Binary::Min => two(a, b, cast_slice_mut(out), Arith::least),
        Binary::Max => two(a, b, cast_slice_mut(out), Arith::most),
        Binary::Less => two(a, b, cast_slice_mut(out), |a, b| u32::from(a < b)),
        Binary::LessEqual => two(a, b, cast_slice_mut(out), |a, b| u32::from(a <= b)),
        Binary::Equal => two(a, b, cast_slice_mut(out), |a, b| u32::from(a == b)),
        Binary::NotEqual => two(a, b, cast_slice_mut(out), |a, b| u32::from(a != b)),
        // These operations exist only for floats or integers; the types of expressions ensure that.
        Binary::Pow | Binary::Atan2 | Binary::And | Binary::Or | Binary::Xor | Binary::Shl | Binary::Shr => {}
    }
}

fn binary_float<T: Float>(op: Binary, a: &[T], b: &[T], out: &mut [u8]) {
    match op {
        Binary::Pow => two(a, b, cast_slice_mut(out), FloatArith::powf),
        Binary::Atan2 => two(a, b, cast_slice_mut(out), FloatArith::atan2),
        _ => binary_any(op, a, b, out),
    }
}

fn binary_int<T: Integer>(op: Binary, a: &[T], b: &[T], out: &mut [u8]) {
    match op {
        Binary::And => two(a, b, cast_slice_mut(out), IntArith::and),
        Binary::Or => two(a, b, cast_slice_mut(out), IntArith::or),
        Binary::Xor => two(a, b, cast_slice_mut(out), IntArith::xor),
        Binary::Shl => two(a, b, cast_slice_mut(out), IntArith::shl),
        Binary::Shr => two(a, b, cast_slice_mut(out), IntArith::shr),
        _ => binary_any(op, a, b, out),
    }
}
