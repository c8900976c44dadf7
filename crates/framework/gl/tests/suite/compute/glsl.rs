//! Compute shaders of the user's own: as WGSL in what they write, and refused with a reason where a launch binds less.

use super::common::{Both, alone, both};
use crate::suite::kernels::PAINT;
use interop_core::{
    Arg, BufferView, ComputeBackend, Error, Extent, ImageView, Kernel, KernelSource, Language, PixelFormat, Result,
    Target, View,
};
use pixelferry_gl::GlDisplay;
use std::sync::Arc;

/// Source of [`PAINT`] in GLSL.
pub const SHADER: &str = "layout(local_size_x = 8, local_size_y = 8) in;
void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  pf_store(at, vec4(float(at.x) / 255.0, float(at.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// Two memories, each kind of number, and what was there before.
const SUM: &str = "layout(local_size_x = 32) in;
layout(std430, binding = 1) readonly buffer A { uint a[]; };
layout(std430, binding = 2) readonly buffer B { float first; float b[]; };
shared uint part[32];
void main() {
  uint i = pf_index(gl_GlobalInvocationID);
  part[gl_LocalInvocationIndex] = i;
  barrier();
  uint swapped = part[gl_LocalInvocationIndex];
  if (i >= pf_items()) return;
  float own = b[i] + first + pf_arg_f32(1) + float(pf_arg_i32(0)) + float(pf_arg_u32(2)) + float(pf_get(i));
  pf_put(swapped, a[i] + uint(own));
}";

/// A kernel of `text`. It keeps to what a kernel must, or is refused before it runs.
fn source(name: &'static str, text: &'static str) -> KernelSource {
    // SAFETY: the texts of this file write by `pf_store` and `pf_put`, and read below the items of launches whose memories are
    // as long.
    unsafe { KernelSource::new(name).glsl(text) }
}

pub fn build(backend: &dyn ComputeBackend, text: &'static str) -> Result<Arc<dyn Kernel>> {
    backend.build(&source("k", text))
}

/// The memory after a launch into a view that does not begin at its start, with 0x5A around it.
fn painted(backend: &dyn ComputeBackend, kernel: &dyn Kernel, format: PixelFormat) -> Vec<u8> {
    let (extent, bytes) = (Extent::new(19, 7), format.bytes_per_pixel());
    let pitch = (19 * bytes).next_multiple_of(16) + 16;
    let view = ImageView { offset: 16, row_pitch: pitch as isize, extent, format };
    let len = 32 + pitch * 7;
    let mut memory = backend.allocate(len).unwrap();
    memory.write(0, &vec![0x5A; len]).unwrap();
    let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
    backend.launch(kernel, target, &[Arg::F32(0.25)]).unwrap();
    let mut found = vec![0; len];
    memory.read(0, &mut found).unwrap();
    found
}

/// In a display's context, which lives as long, and in one of its own.
fn backends() -> impl Iterator<Item = (Option<Arc<GlDisplay>>, Arc<dyn ComputeBackend>)> {
    let shared = both().map(|Both { backend, display }| (Some(display), backend));
    shared.into_iter().chain(alone().map(|backend| (None, backend)))
}

#[test]
fn every_format_is_written_as_wgsl_writes_it() {
    for (_display, backend) in backends() {
        assert!(backend.caps().languages.contains(&Language::Glsl));
        let own = build(backend.as_ref(), SHADER).unwrap();
        let wgsl = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
        for format in PixelFormat::ALL {
            let [found, expected] = [&own, &wgsl].map(|kernel| painted(backend.as_ref(), kernel.as_ref(), format));
            assert!(found == expected, "{format}");
            assert!(found[16..].iter().any(|byte| *byte != 0x5A), "{format}: nothing was written");
        }
    }
}

#[test]
fn memories_and_numbers_are_those_of_the_launch() {
    for (_display, backend) in backends() {
        let kernel = build(backend.as_ref(), SUM).unwrap();
        const ITEMS: usize = 100;
        let mut memories: Vec<_> = (0..3).map(|_| backend.allocate(4 * (ITEMS + 2)).unwrap()).collect();
        let words = |f: &dyn Fn(u32) -> u32| (0..ITEMS as u32 + 2).flat_map(|i| f(i).to_ne_bytes()).collect::<Vec<_>>();
        memories[0].write(0, &words(&|i| 3 * i)).unwrap();
        memories[1].write(0, &words(&|i| (i as f32).to_bits())).unwrap();
        let mut target = memories.pop().unwrap();
        target.write(0, &words(&|i| i)).unwrap();
        let args = [
            Arg::Memory(memories[0].as_ref()),
            Arg::I32(-7),
            Arg::F32(10.0),
            Arg::Memory(memories[1].as_ref()),
            Arg::U32(20),
        ];
        let view = View::Buffer(BufferView { offset: 4, len: 4 * ITEMS });
        backend.launch(kernel.as_ref(), Target::new(target.as_mut(), view).unwrap(), &args).unwrap();
        let mut found = vec![0; 4 * (ITEMS + 2)];
        target.read(0, &mut found).unwrap();
        // Word i of the view is word i + 1 of the memory, which was i + 1; b[i] is i + 1, and what stands before it is 0.
        let expected = words(&|i| match i {
            0 => 0,
            i if i as usize > ITEMS => i,
            i => 3 * (i - 1) + (i + 23 + i),
        });
        assert!(found == expected, "{found:?}");
        let short = &args[..4];
        for wrong in [short, &args[1..], &[args[0], args[3], Arg::F32(1.0), args[2], args[4]]] {
            let target = Target::new(target.as_mut(), view).unwrap();
            let error = backend.launch(kernel.as_ref(), target, wrong).unwrap_err();
            assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        }
    }
}

#[test]
fn what_is_wrong_is_told_by_the_line_and_what_is_not_bound_by_its_name() {
    const HEAD: &str = "layout(local_size_x = 4) in;\n";
    for (_display, backend) in backends() {
        let log = |text: String| {
            let text: &'static str = Box::leak(text.into_boxed_str());
            match build(backend.as_ref(), text) {
                Err(Error::KernelBuild { log, kernel, .. }) => {
                    assert_eq!(kernel, "k");
                    log
                }
                other => panic!("{:?} of {text}", other.err()),
            }
        };
        let found = log(format!("{HEAD}void main() {{\n  pf_put(0u, nothing);\n}}"));
        // As Mesa and as NVIDIA write it.
        let line = found.contains("0:3(") || found.contains("0(3)");
        assert!(found.contains("nothing") && line, "the driver's line is the text's: {found}");
        let found = log(format!("#version 450\n{HEAD}void main() {{}}"));
        assert!(found.contains("#version"), "{found}");
        assert!(!log("void main() {}".into()).is_empty(), "no size of groups");
        for (text, part) in [
            (
                "uniform sampler2D picture; void main() { pf_store(uvec2(0), texelFetch(picture, ivec2(0), 0)); }",
                "'picture'",
            ),
            ("uniform float own; void main() { pf_put(0u, uint(own)); }", "'own'"),
            ("layout(std140, binding = 0) uniform Own { uint own; }; void main() { pf_put(0u, own); }", "'Own'"),
            (
                "layout(rgba8) writeonly uniform image2D sink; void main() { imageStore(sink, ivec2(0), vec4(0)); }",
                "'sink'",
            ),
            (
                "layout(std430, binding = 0) readonly buffer Own { uint own[]; }; void main() { pf_put(0u, own[1]); }",
                "'Own' has binding 0",
            ),
            ("layout(std430, binding = 3) readonly buffer A { uint a[]; }; void main() { pf_put(0u, a[0]); }", "[3]"),
        ] {
            let found = log(format!("{HEAD}{text}"));
            assert!(found.contains(part), "{found}");
        }
        let deep = log("layout(local_size_x = 4, local_size_z = 2) in; void main() { pf_put(0u, 1u); }".into());
        assert!(deep.contains("2 deep"), "{deep}");
        // With both texts, the one in the driver's language is compiled.
        let both = source("k", SHADER).wgsl("fn k() {");
        assert!(backend.build(&both).is_ok());
    }
}
