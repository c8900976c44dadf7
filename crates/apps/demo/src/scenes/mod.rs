//! The scenes. Each has its kernels in OpenCL C, CUDA C++, WGSL and Rust.

/// Methods of a scene that has a link, and perhaps options of draws, in fields of these names.
macro_rules! own_link {
    () => {
        fn link(&mut self) -> &mut pixelferry::LinkCore {
            self.link.link_mut()
        }

        fn set_policy(&mut self, policy: pixelferry::Policy) -> pixelferry::Result<()> {
            self.link.set_policy(policy)
        }
    };
    (drawn) => {
        own_link!();

        fn draw_options(&mut self) -> Option<&mut pixelferry::DrawOptions> {
            Some(&mut self.draw_options)
        }
    };
}

mod c_kernel;
pub mod filter;
pub mod fluid;
pub mod plasma;
pub mod sine;

use pixelferry::{AutoLink, ComputeBackend, Error, Kernel, KernelSource, LinkBuilder, SurfaceDesc};
use std::sync::Arc;

/// Opens a link of frames that these kernels make. `prepare` gets them built for each backend that makes frames.
fn open<S, const N: usize>(
    wanted: LinkBuilder,
    surface: SurfaceDesc,
    kernels: &[KernelSource; N],
    prepare: impl Fn(&Arc<dyn ComputeBackend>, [Arc<dyn Kernel>; N]) -> pixelferry::Result<S> + 'static,
) -> pixelferry::Result<AutoLink<S>> {
    let wanted = kernels.iter().fold(wanted.surface(surface), |wanted, kernel| wanted.launch(kernel, []));
    wanted.open_auto(move |backend, kernels| match kernels.try_into() {
        Ok(kernels) => prepare(backend, kernels),
        Err(_) => Err(Error::invalid("a scene", "a kernel is missing")),
    })
}
