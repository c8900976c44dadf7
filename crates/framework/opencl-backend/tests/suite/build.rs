//! Compiling the user's sources: what goes wrong must be told with the user's own names and lines.

use crate::suite::{on_every_device, vouched};
use interop_core::{ComputeBackend, Error, KernelSource, Language, Target};
use opencl_backend::OpenClBackend;
use std::sync::Arc;

fn refused(backend: &OpenClBackend, source: KernelSource) -> Error {
    match backend.build(&source) {
        Ok(kernel) => panic!("'{}' was built", kernel.name()),
        Err(error) => error,
    }
}

fn log(backend: &OpenClBackend, name: &'static str, text: &'static str) -> String {
    match refused(backend, vouched(name, text)) {
        Error::KernelBuild { kernel, device, log } => {
            assert_eq!((kernel.as_str(), &device), (name, &backend.device().name));
            log
        }
        other => panic!("{other}"),
    }
}

#[test]
fn the_log_gives_the_users_lines() {
    on_every_device(|backend| {
        let log = log(
            backend,
            "broken",
            "// line 1\n__kernel void broken(PF_IMAGE(uchar4, out)) {\n  PF_AT(out, 0, 0) = no_such_thing;\n}\n",
        );
        assert!(log.contains("no_such_thing"), "{log}");
        assert!(log.contains("kernel.cl:3:22:"), "line 3 is not named: {log}");
    });
}

#[test]
fn a_missing_function_is_told_with_those_that_exist() {
    on_every_device(|backend| {
        let text = "__kernel void one(PF_BUFFER(float, o)) {} __kernel void two(PF_BUFFER(float, o)) {}";
        let log = log(backend, "three", text);
        assert!(log.contains("'three'") && log.contains("one") && log.contains("two"), "{log}");
    });
}

/// PoCL's headers make another name of it.
#[test]
fn names_of_builtin_functions_work_or_are_called_so() {
    on_every_device(|backend| {
        for name in ["dot", "mix", "clamp"] {
            let text = format!("__kernel void {name}(PF_BUFFER(float, out)) {{ PF_ITEM(out, 0) = 1; }}");
            match backend.build(&vouched(name, text)) {
                Ok(kernel) => assert_eq!(kernel.name(), name),
                Err(error) => {
                    let text = error.to_string();
                    assert!(text.contains("is a builtin function of OpenCL C") && text.contains("rename"), "{text}");
                }
            }
        }
    });
}

#[test]
fn parameters_must_begin_with_the_target() {
    on_every_device(|backend| {
        let text = "__kernel void k(__global float *from, float scale) { from[0] = scale; }";
        let log = log(backend, "k", text);
        assert!(log.contains("PF_IMAGE") && log.contains("from") && log.contains("scale"), "{log}");
    });
}

#[test]
fn a_group_with_depth_is_refused() {
    on_every_device(|backend| {
        let text = "__attribute__((reqd_work_group_size(2, 2, 2))) __kernel void k(PF_IMAGE(float, o)) {}";
        assert!(log(backend, "k", text).contains("reqd_work_group_size"));
    });
}

#[test]
fn other_languages_are_unsupported() {
    on_every_device(|backend| {
        // SAFETY: neither is built.
        let source = unsafe { KernelSource::new("k").cuda_cpp("x").ptx("y") };
        let error = refused(backend, source);
        assert!(matches!(&error, Error::Unsupported { reason, .. }
            if reason.contains("CUDA C++, PTX") && reason.contains("OpenCL C")));
        let error = refused(backend, KernelSource::new("k"));
        assert!(matches!(&error, Error::Unsupported { reason, .. } if reason.contains("none")), "{error}");
        let error = refused(backend, KernelSource::new("k").with_native(Language::OpenClC, Arc::new(0u8)));
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    });
}

#[test]
fn names_and_texts_with_a_nul_are_refused() {
    on_every_device(|backend| {
        for source in [vouched("k\0", ""), vouched("k", "\0")] {
            let error = refused(backend, source);
            assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        }
    });
}

#[test]
fn a_source_without_kernels_is_refused() {
    on_every_device(|backend| {
        for text in ["", "float f(float x) { return x; }"] {
            let log = log(backend, "k", text);
            assert!(log.contains("its kernels are: none"), "{log}");
        }
    });
}

#[test]
fn functions_that_are_declared_only_are_refused() {
    on_every_device(|backend| {
        // The driver's time of linking decides if building fails, or the first launch; neither may end the process.
        let text = "float f(float x); __kernel void k(PF_BUFFER(float, o)) { PF_ITEM(o, 0) = f(1); }";
        let source = vouched("k", text);
        let result = backend.build(&source).and_then(|kernel| {
            let mut memory = backend.allocate(4)?;
            backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[])?;
            backend.finish()
        });
        assert!(result.is_err(), "a function that does not exist was called");
    });
}

#[test]
fn kernels_keep_their_name() {
    on_every_device(|backend| {
        let kernel = backend.build(&vouched("k", "__kernel void k(PF_BUFFER(int, o)) {}"));
        assert_eq!(kernel.unwrap().name(), "k");
    });
}
