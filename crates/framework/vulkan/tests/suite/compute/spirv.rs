//! SPIR-V of the user's own.

use super::{Both, both};
use interop_core::{Arg, Error, KernelSource, Target};
use pixelferry_vulkan::{SPIR_V, SpirV};
use std::sync::Arc;

/// A module as a compiler of the user's would write it.
fn words() -> Vec<u32> {
    let text = "@group(1) @binding(0) var<storage, read> table: array<u32>;
      @compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3<u32>) {
        if (id.x < arrayLength(&table)) { pf_put(id.x, table[id.x] + pf_arg_u32(0)); }
      }";
    let text = wgsl_kernel::KernelText::of(
        &KernelSource::new("add").wgsl(text),
        &wgsl_kernel::Limits::new(
            &interop_core::DeviceIdentity::new(interop_core::Api::Vulkan, "a device"),
            4,
            100,
            256,
        ),
    );
    wgsl_kernel::spirv(&text.unwrap().whole(interop_core::PixelFormat::Rgba8), "add").unwrap()
}

fn module(group: [u32; 3], memories: Vec<u64>) -> KernelSource {
    // SAFETY: the module is as described, and its kernel stays inside the memory.
    unsafe { SpirV::new(words(), group, memories) }.unwrap().source("add")
}

#[test]
fn a_module_of_the_users_runs() {
    let Some(Both { backend, .. }) = both() else { return };
    let kernel = backend.build(&module([64, 1, 1], vec![4])).unwrap();
    let (mut target, mut table) = (backend.allocate(256).unwrap(), backend.allocate(256).unwrap());
    let numbers: Vec<u8> = (0..64_u32).flat_map(u32::to_ne_bytes).collect();
    table.write(0, &numbers).unwrap();
    let args = [Arg::U32(100), Arg::Memory(table.as_ref())];
    backend.launch(kernel.as_ref(), Target::buffer(target.as_mut()), &args).unwrap();
    let mut found = vec![0; 256];
    target.read(0, &mut found).unwrap();
    let wanted: Vec<u8> = (100..164_u32).flat_map(u32::to_ne_bytes).collect();
    assert_eq!(found, wanted);
    let short = backend.launch(kernel.as_ref(), Target::buffer(target.as_mut()), &args[..1]).unwrap_err();
    assert!(matches!(short, Error::InvalidInput { .. }), "{short}");
}

#[test]
fn what_is_no_module_is_refused() {
    let Some(Both { backend, .. }) = both() else { return };
    // SAFETY: it is refused.
    let error = unsafe { SpirV::new(vec![7], [1, 1, 1], Vec::new()) }.unwrap_err().to_string();
    assert!(error.contains("0x7230203"), "{error}");
    for group in [[0, 1, 1], [8, 8, 2]] {
        let error = backend.build(&module(group, vec![4])).err().unwrap();
        assert!(matches!(error, Error::KernelBuild { .. }), "{error}");
    }
    let other = KernelSource::new("add").with_native(SPIR_V, Arc::new(7));
    let error = backend.build(&other).err().unwrap().to_string();
    assert!(error.contains("pixelferry_vulkan::SpirV"), "{error}");
}
