//! A kernel that writes where nothing is. In a process of its own, since the context does not come back by itself.

use crate::suite::common;
use interop_core::{Arg, ComputeBackend, Error, KernelSource, Target};
use pixelferry_testing::{Child, Need, asked};

const WILD: &str = ".version 8.0
.target sm_50
.address_size 64
.visible .entry wild(.param .u64 out, .param .u64 bytes, .param .u32 value)
{
  .reg .b64 %rd<2>;
  .reg .b32 %r<2>;
  mov.u64 %rd1, 4096;
  ld.param.u32 %r1, [value];
  st.global.u32 [%rd1], %r1;
  ret;
}
";

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_writes_wildly() {
    let Some(backend) = common::gpu() else { return };
    // SAFETY: not kept on purpose. The GPU's memory protection stops the write, and the process holds nothing else.
    let source = unsafe { KernelSource::new("wild").ptx(WILD) };
    let kernel = backend.build(&source).unwrap();
    let mut memory = backend.allocate(64).unwrap();
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::U32(1)]).unwrap();
    for _ in 0..2 {
        let error = backend.finish().unwrap_err();
        let text = error.to_string();
        assert!(matches!(error, Error::Driver(_)) && text.contains("context is lost"), "{text}");
        println!("{text}");
    }
    assert!(memory.read(0, &mut [0; 4]).is_err());
    drop((memory, kernel));
    drop(backend);
    // Drivers differ in whether the process can go on; what must not happen is a crash.
    match cuda_backend::CudaBackend::open_best() {
        Ok(backend) => println!("a new backend: {:?}", backend.allocate(64).and_then(|mut m| m.write(0, &[1; 64]))),
        Err(e) => println!("no new backend in this process: {e}"),
    }
}

/// Ignored, as such a fault hangs OpenGL and Vulkan in other programs until the GPU is reset (docs/drivers.md).
#[test]
#[ignore = "to be run alone: it hangs other programs on the GPU until that is reset"]
fn a_wild_write_loses_the_context_and_says_so() {
    if asked(Need::Nvidia) {
        let child = Child::of("suite::lost_context::child_writes_wildly").unwrap();
        println!("{}", child.run().unwrap().passed());
    }
}
