//! Tests for every backend that runs WGSL.

use interop_core::conformance::memory;
use interop_core::describe::color;
use interop_core::{
    Arg, BufferView, ComputeBackend, Error, Extent, ImageView, KernelSource, PixelFormat, Target, View,
};
use std::sync::Arc;

/// All of it. `stranger` is a backend of the same kind, whose objects are not `backend`'s.
pub fn ask(backend: &dyn ComputeBackend, stranger: &dyn ComputeBackend) {
    kernels_write_every_format_in_any_view(backend);
    memory(backend, &[(37, 11), (3, 5)]).unwrap();
    buffers_take_memory_and_numbers(backend);
    as_many_numbers_as_there_may_be_are_passed(backend);
    texts_that_are_wrong_say_what_is(backend);
    no_text_reaches_beyond_its_memory(backend);
    memory_of_a_group_begins_as_zeroes(backend);
    bad_calls_are_refused_and_lose_nothing(backend, stranger);
}

const PAINT: &str = "
@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  let size = vec2<f32>(pf_size());
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// Returns what `PAINT` makes of a pixel.
fn expected(format: PixelFormat, x: u32, y: u32, blue: f32) -> Vec<u8> {
    let mut pixel = vec![0; format.bytes_per_pixel()];
    color::store(format, [x as f32 / 255.0, y as f32 / 255.0, blue, 1.0], &mut pixel);
    pixel
}

/// Channels of a pixel as whole numbers, to be compared with a difference of one: conversions may round either way.
fn channels(format: PixelFormat, pixel: &[u8]) -> Vec<i64> {
    let words = |bytes: &[u8]| bytes.iter().rev().fold(0_i64, |n, byte| n << 8 | i64::from(*byte));
    if format == PixelFormat::Rgb10A2 {
        let word = words(pixel);
        return vec![word & 1023, word >> 10 & 1023, word >> 20 & 1023, word >> 30];
    }
    pixel.chunks(format.channel_kind().bytes()).map(words).collect()
}

fn kernels_write_every_format_in_any_view(backend: &dyn ComputeBackend) {
    let kernel = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
    for format in PixelFormat::ALL {
        for reversed in [false, true] {
            let extent = Extent::new(37, 11);
            let bytes = format.bytes_per_pixel();
            let view = ImageView::packed(extent, format, 64, 16 * bytes, reversed).unwrap();
            let mut memory = backend.allocate(view.span().end + 5).unwrap();
            memory
                .map_write(0..view.span().end + 5, &mut |bytes| {
                    bytes.fill(0xA5);
                    Ok(())
                })
                .unwrap();
            let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::F32(0.5)]).unwrap();
            let mut found = vec![0; memory.len()];
            memory.read(0, &mut found).unwrap();
            let mut written = vec![false; found.len()];
            for y in 0..extent.height {
                for x in 0..extent.width {
                    let at = view.row_start(y) + x as usize * bytes;
                    written[at..at + bytes].fill(true);
                    let (is, wanted) = (&found[at..at + bytes], expected(format, x, y, 0.5));
                    let off = channels(format, is).into_iter().zip(channels(format, &wanted));
                    let off = off.map(|(a, b)| (a - b).abs()).max().unwrap();
                    assert!(off <= 1, "{format} {x}, {y}: {is:?}, not {wanted:?}");
                }
            }
            let kept = found.iter().zip(&written).all(|(byte, written)| *written || *byte == 0xA5);
            assert!(kept, "{format}: a byte outside the view was changed");
        }
    }
}

const SCALE: &str = "
@group(1) @binding(0) var<storage, read> numbers: array<f32>;
@compute @workgroup_size(64)
fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
  let i = pf_index(id);
  if (i < pf_items()) {
    pf_put_f32(i, numbers[i] * f32(pf_arg_i32(0)));
  }
}";

fn buffers_take_memory_and_numbers(backend: &dyn ComputeBackend) {
    let kernel = backend.build(&KernelSource::new("scale").wgsl(SCALE)).unwrap();
    let count = 100_003;
    let (mut from, mut to) = (backend.allocate(4 * count).unwrap(), backend.allocate(4 * count + 8).unwrap());
    let numbers: Vec<u8> = (0..count).flat_map(|i| (i as f32).to_le_bytes()).collect();
    from.write(0, &numbers).unwrap();
    to.write(0, &[0; 8]).unwrap();
    let view = View::Buffer(BufferView { offset: 8, len: 4 * count });
    let target = Target::new(to.as_mut(), view).unwrap();
    backend.launch(kernel.as_ref(), target, &[Arg::Memory(from.as_ref()), Arg::I32(-2)]).unwrap();
    let mut found = vec![0; 4 * count + 8];
    to.read(0, &mut found).unwrap();
    assert_eq!(found[..8], [0; 8]);
    for (i, bytes) in found[8..].chunks(4).enumerate() {
        assert_eq!(f32::from_le_bytes(bytes.try_into().unwrap()), -2.0 * i as f32, "{i}");
    }
    // One item alone.
    to.write(8, &[0; 400]).unwrap();
    let one = Target::new(to.as_mut(), view).unwrap().with_items(1);
    backend.launch(kernel.as_ref(), one, &[Arg::Memory(from.as_ref()), Arg::I32(1)]).unwrap();
}

/// Numbers lie in a launch's commands where they fit, and in memory elsewhere.
fn as_many_numbers_as_there_may_be_are_passed(backend: &dyn ComputeBackend) {
    // By a place that is computed, and as many as 128 bytes hold beside the head, and one more.
    let sum = |count: u32| (0..count).map(|n| format!("pf_arg_u32({n})")).collect::<Vec<_>>().join(" + ");
    for (count, what) in [(32, "pf_arg_u32(i)".to_owned()), (24, sum(24)), (25, sum(25)), (1, sum(1))] {
        let text = format!(
            "@compute @workgroup_size(64) fn give(@builtin(global_invocation_id) id: vec3<u32>) {{
               let i = pf_index(id);
               if (i < pf_items()) {{ pf_put(i, {what}); }}
             }}"
        );
        let kernel = backend.build(&KernelSource::new("give").wgsl(text)).unwrap();
        for first in [1000, 7] {
            let mut memory = backend.allocate(32 * 4).unwrap();
            let target = Target::buffer(memory.as_mut());
            let args: Vec<_> = (0..count).map(|n| Arg::U32(first + n)).collect();
            backend.launch(kernel.as_ref(), target, &args).unwrap();
            let mut found = vec![0; 32 * 4];
            memory.read(0, &mut found).unwrap();
            let words: Vec<_> = found.chunks(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap())).collect();
            let all: u32 = (first..first + count).sum();
            let expected = |i: u32| if count == 32 { first + i } else { all };
            assert!((0..32).zip(&words).all(|(i, word)| expected(i) == *word), "{count}: {words:?}");
        }
    }
}

fn build(backend: &dyn ComputeBackend, name: &'static str, text: &'static str) -> String {
    match backend.build(&KernelSource::new(name).wgsl(text)) {
        Ok(_) => panic!("{name} was built"),
        Err(error) => error.to_string(),
    }
}

fn texts_that_are_wrong_say_what_is(backend: &dyn ComputeBackend) {
    let broken = build(backend, "k", "@compute @workgroup_size(1)\nfn k() { let a = nothing; }");
    assert!(broken.contains("nothing") && broken.contains("2:"), "{broken}");
    let absent = build(backend, "other", PAINT);
    assert!(absent.contains("paint"), "{absent}");
    let deep = build(backend, "k", "@compute @workgroup_size(1, 1, 2) fn k() {}");
    assert!(deep.contains("deep"), "{deep}");
    let gap = "@group(1) @binding(1) var<storage, read> a: array<u32>;
                   @compute @workgroup_size(1) fn k() { pf_put(0u, a[0]); }";
    assert!(build(backend, "k", gap).contains("without gaps"));
    let written = "@group(1) @binding(0) var<storage, read_write> a: array<u32>;
                       @compute @workgroup_size(1) fn k() { a[0] = 1u; }";
    assert!(build(backend, "k", written).contains("storage, read"));
    let taken = "fn pf_texture() {} @compute @workgroup_size(1) fn k() { pf_texture(); }";
    assert!(build(backend, "k", taken).contains("use another name"));
    let huge = build(backend, "k", "@compute @workgroup_size(4096, 4096) fn k() {}");
    assert!(huge.contains("groups of 4096 x 4096 work items"), "{huge}");
}

fn bad_calls_are_refused_and_lose_nothing(backend: &dyn ComputeBackend, stranger: &dyn ComputeBackend) {
    let (paint, scale) = (
        backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap(),
        backend.build(&KernelSource::new("scale").wgsl(SCALE)).unwrap(),
    );
    let mut memory = backend.allocate(64).unwrap();
    let other = backend.allocate(64).unwrap();
    let mut refused = |kernel: &Arc<dyn interop_core::Kernel>, view: View, args: &[Arg<'_>]| {
        let target = Target::new(memory.as_mut(), view).unwrap();
        match backend.launch(kernel.as_ref(), target, args).unwrap_err() {
            Error::InvalidInput { problem, .. } => problem,
            other => panic!("{other}"),
        }
    };
    let image = View::Image(ImageView::packed(Extent::new(4, 4), PixelFormat::Rgba8, 1, 0, false).unwrap());
    assert!(refused(&paint, image, &[]).contains("reads 1 number,"));
    assert!(refused(&paint, image, &[Arg::U32(1)]).contains("F32"));
    assert!(refused(&paint, image, &[Arg::F64(1.0)]).contains("32 bits"));
    assert!(
        refused(&paint, image, &[Arg::F32(1.0), Arg::Memory(other.as_ref())])
            .contains("memories in its text: 0, given: 1")
    );
    let odd =
        View::Image(ImageView { offset: 1, row_pitch: 16, extent: Extent::new(3, 3), format: PixelFormat::Rgba8 });
    assert!(refused(&paint, odd, &[Arg::F32(1.0)]).contains("aligned"));
    let odd = View::Buffer(BufferView { offset: 2, len: 8 });
    assert!(refused(&scale, odd, &[Arg::Memory(other.as_ref()), Arg::I32(1)]).contains("a multiple of 4 bytes"));
    assert!(matches!(
        stranger.copy(memory.as_ref(), stranger.allocate(64).unwrap().as_mut(), 0..4),
        Err(Error::Foreign { .. })
    ));
    let target = Target::new(memory.as_mut(), image).unwrap();
    backend.launch(paint.as_ref(), target, &[Arg::F32(1.0)]).unwrap();
    backend.finish().unwrap();
}

/// Texts that index beyond everything: the bytes of others stay, and so does the program.
fn no_text_reaches_beyond_its_memory(backend: &dyn ComputeBackend) {
    const REACH: &str = "
@group(1) @binding(0) var<storage, read> numbers: array<u32>;
var<workgroup> ours: array<u32, 16>;
@compute @workgroup_size(16)
fn reach(@builtin(global_invocation_id) id: vec3<u32>) {
  var local = array<u32, 4>(1u, 2u, 3u, 4u);
  let far = (id.x + 1u) * 100000007u;
  local[far] = numbers[far] + numbers[9999];
  ours[i32(far)] = local[i32(id.x) - 7];
  workgroupBarrier();
  pf_set(far, ours[far + 1u]);
  pf_set(0xffffffffu, local[id.x]);
  pf_put(far, 5u);
}";
    let kernel = backend.build(&KernelSource::new("reach").wgsl(REACH)).unwrap();
    let mut around: Vec<_> = (0..9).map(|_| backend.allocate(4096).unwrap()).collect();
    for memory in &mut around {
        memory.write(0, &[0xA5; 4096]).unwrap();
    }
    let (mut target, numbers) = (backend.allocate(64).unwrap(), backend.allocate(64).unwrap());
    for _ in 0..20 {
        let view = View::Buffer(BufferView { offset: 0, len: 64 });
        let target = Target::new(target.as_mut(), view).unwrap();
        backend.launch(kernel.as_ref(), target, &[Arg::Memory(numbers.as_ref())]).unwrap();
    }
    for memory in &mut around {
        memory
            .map_read(0..4096, &mut |bytes| {
                assert!(bytes.iter().all(|byte| *byte == 0xA5));
                Ok(())
            })
            .unwrap();
    }
    // A memory that is smaller than one element of its type cannot be limited to it.
    let wide = "@group(1) @binding(0) var<storage, read> wide: array<vec4<f32>>;
                @compute @workgroup_size(1) fn wide_() { pf_put_f32(0u, wide[0].x); }";
    let kernel = backend.build(&KernelSource::new("wide_").wgsl(wide)).unwrap();
    let small = backend.allocate(12).unwrap();
    let target = Target::new(target.as_mut(), View::Buffer(BufferView { offset: 0, len: 64 })).unwrap();
    let error = backend.launch(kernel.as_ref(), target, &[Arg::Memory(small.as_ref())]).unwrap_err().to_string();
    assert!(error.contains("12 bytes") && error.contains("16"), "{error}");
}

/// Memory of a group begins as zeros, whatever a group before left there, in memory of every shape.
fn memory_of_a_group_begins_as_zeroes(backend: &dyn ComputeBackend) {
    const DIRTY: &str = "
var<workgroup> every: array<u32, 4000>;
@compute @workgroup_size(64)
fn dirty(@builtin(local_invocation_index) at: u32, @builtin(global_invocation_id) id: vec3<u32>) {
  for (var i = at; i < 4000u; i += 64u) { every[i] = 0xffffffffu - i; }
  workgroupBarrier();
  pf_put(pf_index(id), every[(at * 61u) % 4000u]);
}";
    const CLEAN: &str = "
struct Inner { a: vec3<f32>, b: array<array<u32, 3>, 5>, c: atomic<i32> }
struct Plain { a: u32, b: mat2x2<f32> }
struct Given { @builtin(local_invocation_index) at: u32, @builtin(global_invocation_id) id: vec3<u32> }
var<workgroup> words: array<u32, 1733>;
var<workgroup> tiles: array<array<vec4<f32>, 9>, 31>;
var<workgroup> counts: array<atomic<u32>, 77>;
var<workgroup> inner: array<Inner, 13>;
var<workgroup> lone: Inner;
var<workgroup> plain: Plain;
var<workgroup> flag: bool;
var<workgroup> one: atomic<u32>;
fn left_in(at: u32) -> u32 {
  var sum = u32(any(inner[at].a != vec3<f32>())) + u32(atomicLoad(&inner[at].c) != 0);
  for (var i = 0; i < 15; i++) { sum += u32(inner[at].b[i / 3][i % 3] != 0u); }
  return sum;
}
fn left_alone() -> u32 {
  var sum = u32(any(lone.a != vec3<f32>())) + u32(atomicLoad(&lone.c) != 0);
  for (var i = 0; i < 15; i++) { sum += u32(lone.b[i / 3][i % 3] != 0u); }
  return sum;
}
@compute @workgroup_size(64)
fn clean(given: Given) {
  var sum = u32(flag) + atomicLoad(&one) + plain.a + u32(any(plain.b[1] != vec2<f32>())) + left_alone();
  for (var i = 0u; i < 1733u; i++) { sum += u32(words[i] != 0u); }
  for (var i = 0u; i < 279u; i++) { sum += u32(any(tiles[i / 9u][i % 9u] != vec4<f32>())); }
  for (var i = 0u; i < 77u; i++) { sum += u32(atomicLoad(&counts[i]) != 0u); }
  for (var i = 0u; i < 13u; i++) { sum += left_in(i); }
  workgroupBarrier();
  if given.at == 63u {
    for (var i = 0u; i < 1733u; i++) { words[i] = ~i; }
    for (var i = 0u; i < 279u; i++) { tiles[i / 9u][i % 9u] = vec4<f32>(9.0); }
    for (var i = 0u; i < 77u; i++) { atomicStore(&counts[i], ~i); }
    for (var i = 0u; i < 13u; i++) { inner[i].b[4][i % 3u] = 9u; inner[i].a.z = 9.0; atomicStore(&inner[i].c, 9); }
    lone.b[2][2] = 9u;
    plain.b[1].y = 9.0;
    flag = true;
    atomicStore(&one, 9u);
  }
  pf_put(pf_index(given.id), sum);
}";
    let [dirty, clean] = [("dirty", DIRTY), ("clean", CLEAN)]
        .map(|(name, text)| backend.build(&KernelSource::new(name).wgsl(text)).unwrap());
    let bytes = 4 * 64 * 8;
    let mut memory = backend.allocate(bytes).unwrap();
    for round in 0..3 {
        for kernel in [&dirty, &clean] {
            let view = View::Buffer(BufferView { offset: 0, len: bytes });
            backend.launch(kernel.as_ref(), Target::new(memory.as_mut(), view).unwrap(), &[]).unwrap();
        }
        let mut found = vec![1; bytes];
        memory.read(0, &mut found).unwrap();
        assert!(found.iter().all(|byte| *byte == 0), "round {round}: {found:?}");
    }
}
