//! Tests of one body on every backend: threads here, each driver in a process that sees no other.

/// Makes the tests `on_threads`, `on_pocl`, `on_rusticl` and `on_nvidia` (with `PIXELFERRY_GPU=1`) of a function that takes
/// `&Arc<dyn ComputeBackend>`. What comes after it must stand in the output of the processes: of all, or of those of OpenCL and
/// of CUDA.
#[macro_export]
macro_rules! on_each_backend {
    ($check:path, $says:expr) => {
        $crate::on_each_backend!($check, $says, $says);
    };
    ($check:path, $opencl_says:expr, $cuda_says:expr) => {
        #[test]
        fn on_threads() {
            $check(&$crate::on(::pixelferry::CpuBackend::new()));
        }

        #[test]
        #[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
        fn child_opencl() {
            use ::pixelferry::api::opencl::OpenClBackend;
            if let Some(backend) = $crate::need($crate::given(), OpenClBackend::open_best()) {
                $check(&$crate::on(Ok(backend)));
            }
        }

        #[test]
        fn on_pocl() {
            $crate::pass_in_child(
                concat!(module_path!(), "::child_opencl"),
                Some($crate::Need::Pocl),
                &[],
                &[$opencl_says],
            );
        }

        #[test]
        fn on_rusticl() {
            $crate::pass_in_child(
                concat!(module_path!(), "::child_opencl"),
                Some($crate::Need::Rusticl),
                &[],
                &[$opencl_says],
            );
        }

        #[test]
        #[ignore = "run by the test below, in a process of its own"]
        fn child_cuda() {
            $check(&$crate::on(::pixelferry::api::cuda::CudaBackend::open_best()));
        }

        #[test]
        fn on_nvidia() {
            if $crate::asked($crate::Need::Nvidia) {
                $crate::pass_in_child(concat!(module_path!(), "::child_opencl"), None, &[], &[$opencl_says]);
                $crate::pass_in_child(concat!(module_path!(), "::child_cuda"), None, &[], &[$cuda_says]);
            }
        }
    };
}

/// A backend that opened, for any body of tests.
pub fn on<B: pixelferry::ComputeBackend + 'static>(
    opened: pixelferry::Result<B>,
) -> std::sync::Arc<dyn pixelferry::ComputeBackend> {
    std::sync::Arc::new(opened.unwrap_or_else(|error| panic!("{error}")))
}
