//! Every kernel's text through NVRTC and naga, which need no GPU: what a machine without one can say about CUDA and WGSL.

use super::Form::{Groups, Runs};
use super::{elementwise, random, reduce, scan};
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Bound, Expr, Role};
use crate::monoid::Monoid;
use crate::text::{C, Dialect, narrow};
use cuda_backend::{Variant, compile_ptx};
use interop_core::{ComputeBackend, Error, KernelSource, PixelFormat};
use pixelferry_testing::{Need, need};
use random::Distribution;
use std::sync::Arc;

const CUDA: Dialect = Dialect::C(C::Cuda);
const LONG: usize = 1 << 31;

/// False where there is no compiler.
fn compile(name: &str, text: &str) -> bool {
    match compile_ptx(name, text, 90, Variant::Linear) {
        Err(error) if !matches!(error, Error::Unavailable { .. }) => panic!("{error}\n{text}"),
        compiled => need(Need::Nvrtc, compiled).is_some(),
    }
}

fn all_of<T: Element>(arrays: &Arrays, len: usize, value: impl Fn(Expr<'_, T>) -> Expr<'_, T>) -> bool {
    let a = arrays.from_slice(&[T::default(); 6]).unwrap().reshape(&[2, 3]).unwrap();
    let expr = value(a.expr()) + a.view().slice(0, 0..1).unwrap().broadcast_to(&[2, 3]).unwrap();
    let bound = Bound::new(&expr.tree, Role::Plain, "test").unwrap();
    let own = Monoid::<T>::new(T::default(), |a, b| a.clone() + b * a).unwrap();
    let extremum = reduce::Acc::extremum::<T>("<", Groups);
    compile("pf_elementwise", &elementwise::text::<T>(CUDA, &bound, len, 4))
        && compile("pf_reduce", &extremum.reduce_text(CUDA, &bound, len))
        && compile("pf_reduce", &extremum.fold_text(CUDA))
        && [Monoid::sum(), Monoid::min(), own].iter().all(|monoid| {
            let acc = reduce::Acc::monoid(monoid, Groups);
            let scan = scan::one_pass_text(C::Cuda, &bound, monoid, len, scan::ROWS);
            compile("pf_reduce", &acc.fold_text(CUDA)) && compile("pf_scan", &scan)
        })
        && [Distribution::Bits, Distribution::Uniform, Distribution::Normal].into_iter().all(|distribution| {
            let possible = distribution == Distribution::Bits || T::KIND.is_float();
            !possible || compile("pf_philox", &random::text(CUDA, T::KIND, distribution, len))
        })
}

#[test]
#[cfg_attr(miri, ignore = "it opens NVRTC, a library of C")]
fn texts_compile_for_cuda() {
    let arrays = Arrays::new(Arc::new(cpu_fallback::CpuBackend::new().unwrap())).unwrap();
    let _ = all_of::<f32>(&arrays, 6, |a| a.clone().sin().mul_add(a.clone().powf(2.0), a) + Expr::index().cast())
        && all_of::<f64>(&arrays, LONG, |a| a.clone().round_even() % a.atan2(0.5))
        && all_of::<i32>(&arrays, LONG, |a| (a.clone() << 3) / ((a >> 1) % 7))
        && all_of::<u32>(&arrays, 6, |a| a.clone().lt(5).select(a.cast::<f32>().cast::<u32>(), 1))
        && all_of::<i64>(&arrays, LONG, |a| -(a.clone().abs() ^ a.cast::<f64>().cast::<i64>()))
        && all_of::<u64>(&arrays, 6, |a| (a.clone() & Expr::index()) | a.clamp(1, 9));
}

/// A text with so many memories among its arguments.
fn validate(name: &'static str, text: String, memories: usize) {
    let device = cpu_fallback::CpuBackend::new().unwrap();
    // What WebGPU promises.
    let limits = wgsl_kernel::Limits::new(device.device(), 8, 65_535, 256);
    let source = KernelSource::new(name).wgsl(text.clone());
    let kernel = wgsl_kernel::KernelText::of(&source, &limits).unwrap_or_else(|error| panic!("{error}\n{text}"));
    assert_eq!(kernel.memories(), memories, "{text}");
    for dialect in [wgsl_kernel::Dialect::Desktop, wgsl_kernel::Dialect::Es] {
        kernel.glsl(PixelFormat::Rgba8, dialect).unwrap_or_else(|error| panic!("{error}\n{text}"));
    }
}

fn validate_all<T: Element>(arrays: &Arrays, value: impl Fn(Expr<'_, T>) -> Expr<'_, T>) {
    let a = arrays.from_slice(&[T::default(); 6]).unwrap().reshape(&[2, 3]).unwrap();
    let expr = value(a.expr()) + a.view().slice(0, 0..1).unwrap().broadcast_to(&[2, 3]).unwrap();
    let bound = Bound::new(&expr.tree, Role::Plain, "test").unwrap();
    let own = Monoid::<T>::new(T::default(), |a, b| a.clone() + b * a).unwrap();
    validate("pf_elementwise", elementwise::text::<T>(Dialect::Wgsl, &bound, 6, 4), 2);
    let extrema = ["<", ">"].map(|better| reduce::Acc::extremum::<T>(better, Groups));
    let monoids = [Monoid::sum(), Monoid::min(), own];
    for acc in extrema.into_iter().chain(monoids.iter().map(|monoid| reduce::Acc::monoid(monoid, Groups))) {
        validate("pf_reduce", acc.reduce_text(Dialect::Wgsl, &bound, 6), 2);
        validate("pf_reduce", acc.fold_text(Dialect::Wgsl), 1);
    }
    for monoid in &monoids {
        for form in [Groups, Runs] {
            let [totals, tiles] = scan::wgsl_texts(form, &bound, monoid);
            validate("pf_tile_totals", totals, 2);
            validate("pf_scan_tiles", tiles, 3);
        }
        validate("pf_scan_totals", Groups.totals_text(Dialect::Wgsl, monoid, 6), 0);
    }
    for distribution in [Distribution::Bits, Distribution::Uniform, Distribution::Normal] {
        validate("pf_philox", random::text(Dialect::Wgsl, T::KIND, distribution, 6), 0);
    }
}

#[test]
fn texts_are_valid_wgsl() {
    assert_eq!(narrow::MOST_NUMBERS, wgsl_kernel::MOST_NUMBERS);
    let arrays = Arrays::new(Arc::new(cpu_fallback::CpuBackend::new().unwrap())).unwrap();
    validate_all::<f32>(&arrays, |a| {
        let all = a.clone().sin().mul_add(a.clone().powf(2.0), a.clone()) + Expr::index().cast();
        all.exp().ln().cos().tan().tanh().floor().ceil().trunc().round_even().sqrt().atan2(a.clone()) % a
    });
    validate_all::<i32>(&arrays, |a| (a.clone() << 3) / ((a.clone() >> 1) % 7) - a.abs().cast::<f32>().cast::<i32>());
    validate_all::<u32>(&arrays, |a| (!a.clone().lt(5)).select(a.cast::<f32>().cast::<u32>(), 1));
}
