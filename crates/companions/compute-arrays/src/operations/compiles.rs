//! Every kernel's text through NVRTC and naga, which need no GPU: what a machine without one can say about CUDA and WGSL.

use super::Form::{Groups, Runs};
use super::{elementwise, histogram, random, reduce, scan};
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{BoundProgram, Expr, Role};
use crate::monoid::Monoid;
use crate::text::{C, Dialect, narrow};
use cuda_backend::{Variant, compile_ptx};
use interop_core::{ComputeBackend, Error, KernelSource, PixelFormat};
use pixelferry_testing::{Need, by_level, need};
use random::Distribution;
use std::sync::Arc;

const CUDA: Dialect = Dialect::C(C::Cuda);
const LONG: usize = 1 << 31;

/// A kernel's name, its text, and the memories among its arguments.
type Text = (&'static str, String, usize);

/// All that are made of an expression of `len` elements.
fn texts<T: Element>(dialect: Dialect, len: usize, value: impl Fn(Expr<'_, T>) -> Expr<'_, T>) -> Vec<Text> {
    let arrays = Arrays::new(Arc::new(cpu_fallback::CpuBackend::new().unwrap())).unwrap();
    let a = arrays.from_slice(&[T::default(); 6]).unwrap().reshape(&[2, 3]).unwrap();
    let expr = value(a.expr()) + a.view().slice(0, 0..1).unwrap().broadcast_to(&[2, 3]).unwrap();
    let bound = BoundProgram::new(&expr.tree, Role::Plain, "test").unwrap();
    let bins = expr.clone().cast::<u32>();
    let bins = BoundProgram::new(&bins.tree, Role::Plain, "test").unwrap();
    let own = Monoid::<T>::new(T::default(), |a, b| a.clone() + b * a).unwrap();
    let monoids = [Monoid::sum(), Monoid::min(), own];
    let mut all = vec![("pf_elementwise", elementwise::text::<T>(dialect, &bound, len, 4), 2)];
    all.push(("pf_histogram", histogram::text(dialect, &bins, len), 2));
    let extrema = ["<", ">"].map(|better| reduce::Acc::extremum::<T>(better, Groups));
    for acc in extrema.into_iter().chain(monoids.iter().map(|monoid| reduce::Acc::monoid(monoid, Groups))) {
        all.push(("pf_reduce", acc.reduce_text(dialect, &bound, len), 2));
        all.push(("pf_reduce", acc.fold_text(dialect), 1));
    }
    for monoid in &monoids {
        match dialect {
            Dialect::C(c) => all.push(("pf_scan", scan::one_pass_text(c, &bound, monoid, len, scan::ROWS), 0)),
            Dialect::Wgsl => {
                for [totals, tiles] in [Groups, Runs].map(|form| scan::wgsl_texts(form, &bound, monoid)) {
                    all.extend([("pf_tile_totals", totals, 2), ("pf_scan_tiles", tiles, 3)]);
                }
                all.push(("pf_scan_totals", Groups.totals_text(dialect, monoid, len), 0));
            }
        }
    }
    for distribution in [Distribution::Bits, Distribution::Uniform, Distribution::Normal] {
        if distribution == Distribution::Bits || T::KIND.is_float() {
            all.push(("pf_philox", random::text(dialect, T::KIND, distribution, len), 0));
        }
    }
    all
}

#[test]
#[cfg_attr(miri, ignore = "it opens NVRTC, a library of C")]
fn texts_compile_for_cuda() {
    let all = [
        texts::<f32>(CUDA, 6, |a| a.clone().sin().mul_add(a.clone().powf(2.0), a) + Expr::index().cast()),
        texts::<f64>(CUDA, LONG, |a| a.clone().round_even() % a.atan2(0.5)),
        texts::<i32>(CUDA, LONG, |a| (a.clone() << 3) / ((a >> 1) % 7)),
        texts::<u32>(CUDA, 6, |a| a.clone().lt(5).select(a.cast::<f32>().cast::<u32>(), 1)),
        texts::<i64>(CUDA, LONG, |a| -(a.clone().abs() ^ a.cast::<f64>().cast::<i64>())),
        texts::<u64>(CUDA, 6, |a| (a.clone() & Expr::index()) | a.clamp(1, 9)),
    ];
    for (name, text, _) in all.into_iter().flatten() {
        let compiled = compile_ptx(name, &text, 90, Variant::Linear);
        if let Err(error) = &compiled
            && !matches!(error, Error::Unavailable { .. })
        {
            panic!("{error}\n{text}");
        }
        if need(Need::Nvrtc, compiled).is_none() {
            return;
        }
    }
}

#[test]
fn texts_are_valid_wgsl() {
    assert_eq!(narrow::MOST_NUMBERS, wgsl_kernel::MOST_NUMBERS);
    let all = [
        texts::<f32>(Dialect::Wgsl, 6, |a| {
            let all = a.clone().sin().mul_add(a.clone().powf(2.0), a.clone()) + Expr::index().cast();
            all.exp().ln().cos().tan().tanh().floor().ceil().trunc().round_even().sqrt().atan2(a.clone()) % a
        }),
        texts::<i32>(Dialect::Wgsl, 6, |a| (a.clone() << 3) / ((a.clone() >> 1) % 7) - a.abs().cast::<f32>().cast()),
        texts::<u32>(Dialect::Wgsl, 6, |a| (!a.clone().lt(5)).select(a.cast::<f32>().cast::<u32>(), 1)),
    ];
    let device = cpu_fallback::CpuBackend::new().unwrap();
    // Limits that WebGPU promises.
    let limits = wgsl_kernel::Limits::new(device.device(), 8, 65_535, 256);
    for (name, text, memories) in all.into_iter().flatten() {
        let source = KernelSource::new(name).wgsl(text.clone());
        let kernel = wgsl_kernel::KernelText::of(&source, &limits).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(kernel.memories(), memories, "{text}");
        for dialect in &[wgsl_kernel::Dialect::Desktop, wgsl_kernel::Dialect::Es][..by_level(1, 2, 2)] {
            kernel.glsl(PixelFormat::Rgba8, *dialect).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
}
