//! Every kernel's text through NVRTC, which needs no GPU: what a machine without one can say about CUDA.

use super::{Form::Groups, elementwise, random, reduce, scan};
use crate::context::Arrays;
use crate::element::Element;
use crate::expr::{Bound, Expr, Role};
use crate::monoid::Monoid;
use crate::text::Dialect::CudaCpp;
use cuda_backend::{Variant, compile_ptx};
use interop_core::Error;
use pixelferry_testing::{Need, need};
use random::Distribution;
use std::sync::Arc;

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
    compile("pf_elementwise", &elementwise::text::<T>(CudaCpp, &bound, len, 4))
        && compile("pf_reduce", &extremum.reduce_text(CudaCpp, &bound, len))
        && compile("pf_reduce", &extremum.fold_text(CudaCpp))
        && [Monoid::sum(), Monoid::min(), own].iter().all(|monoid| {
            let acc = reduce::Acc::monoid(monoid, Groups);
            let scan = scan::one_pass_text(CudaCpp, &bound, monoid, len, scan::ROWS);
            compile("pf_reduce", &acc.fold_text(CudaCpp)) && compile("pf_scan", &scan)
        })
        && [Distribution::Bits, Distribution::Uniform, Distribution::Normal].into_iter().all(|distribution| {
            let possible = distribution == Distribution::Bits || T::KIND.is_float();
            !possible || compile("pf_philox", &random::text(CudaCpp, T::KIND, distribution, len))
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
