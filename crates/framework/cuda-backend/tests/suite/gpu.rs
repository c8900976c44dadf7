//! On an NVIDIA GPU, with no display: `PIXELFERRY_GPU=1`.

use crate::suite::common;
use crate::suite::common::{check_pattern, gpu};
use cuda_backend::{CudaBackend, devices};
use interop_core::conformance;
use interop_core::devices::borrows::Holder;
use interop_core::{
    Arg, BufferView, ComputeBackend, Error, Extent, HandleType, HostBlock, ImageView, Kernel, KernelSource, Language,
    PixelFormat, SharedHandle, Target, View,
};
use pixelferry_testing::has;
use std::sync::Arc;

#[test]
fn memory_is_as_every_backends() {
    let Some(backend) = gpu() else { return };
    conformance::memory(&backend, &[(1, 1), (1, 7), (33, 17), (101, 3), (257, 70)]).unwrap();
    for (offset, len) in [0, 1, 6, 4096].into_iter().flat_map(|offset| [4097, 1_000_003].map(|len| (offset, len))) {
        conformance::pattern_in(&backend, View::Buffer(BufferView { offset, len }), 3).unwrap();
    }
    let most = backend.caps().max_allocation;
    let huge = |bytes: u64| backend.allocate(usize::try_from(bytes).unwrap()).map(|_| ()).unwrap_err().to_string();
    // The context has some of the device's memory.
    assert!(huge(most).contains("CUDA_ERROR_OUT_OF_MEMORY"), "{}", huge(most));
    assert!(huge(most + 1).contains("largest allocation"), "{}", huge(most + 1));
}

#[test]
fn devices_say_who_they_are() {
    let Some(_) = gpu() else { return };
    for device in devices().unwrap() {
        let id = device.identity();
        println!("{device:?}, compute capability {:?}", device.compute_capability());
        assert!(!id.name.is_empty() && id.driver.starts_with("CUDA driver 1") && id.uuid.is_some());
        assert!(id.pci.as_ref().is_some_and(|p| p.contains(':')));
        assert!(device.total_memory() > 0 && device.compute_capability() >= (5, 0));
    }
}

const IMAGE_CPP: &str = "
extern \"C\" __global__ void tint(PF_IMAGE(uchar4, out), const float *gains, int count, float scale, unsigned int add) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  float sum = 0;
  for (int i = 0; i < count; ++i) sum += gains[i];
  PF_STORE(out, x, y, make_uchar4(x, y, (unsigned char)(sum * scale), add));
}";

const ACCUMULATE_CPP: &str = "
__global__ void grow(PF_IMAGE(uchar2, out)) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_width || y >= out_height) return;
  PF_AT(out, x, y).x += 1;
  PF_AT(out, x, y).y += y;
}";

const BUFFER_CPP: &str = "
extern \"C\" __global__ void ramp(PF_BUFFER(float3, out), const float *from, int shift) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < out_len) { out[i].x = i; out[i].y = from[0]; out[i].z = shift; }
}";

fn vouched(name: &'static str, language: Language, text: &'static str) -> KernelSource {
    // SAFETY: the kernels of this file write below their target's bounds, and the tests give them memory of the lengths
    // that they read.
    unsafe { KernelSource::new(name).with_text(language, text) }
}

/// Checks, where NVRTC is not installed, that this is said.
fn build(backend: &CudaBackend, name: &'static str, text: &'static str) -> Option<Arc<dyn Kernel>> {
    common::compiled(backend.build(&vouched(name, Language::CudaCpp, text)))
}

#[test]
fn cuda_cpp_writes_images_of_any_layout() {
    let Some(backend) = gpu() else { return };
    let Some(kernel) = build(&backend, "tint", IMAGE_CPP) else { return };
    let mut gains = backend.allocate(12).unwrap();
    gains.write(0, bytemuck::cast_slice(&[1.0f32, 2.0, 3.5])).unwrap();
    for (w, h) in [(1, 1), (33, 17), (101, 9)] {
        for (alignment, reversed) in [(1, false), (128, true)] {
            let view = ImageView::packed(Extent::new(w, h), PixelFormat::Rgba8, alignment, 0, reversed).unwrap();
            let mut memory = backend.allocate(view.span().end).unwrap();
            let target = Target::new(memory.as_mut(), View::Image(view)).unwrap();
            let args = [Arg::Memory(gains.as_ref()), Arg::I32(3), Arg::F32(4.0), Arg::U32(200)];
            backend.launch(kernel.as_ref(), target, &args).unwrap();
            let mut bytes = vec![0; memory.len()];
            memory.read(0, &mut bytes).unwrap();
            for y in 0..h {
                for (x, pixel) in bytes[view.row(y)].chunks(4).enumerate() {
                    assert_eq!(pixel, [x as u8, y as u8, 26, 200]);
                }
            }
        }
    }
}

#[test]
fn cuda_cpp_reads_its_target_and_needs_no_extern_c() {
    let Some(backend) = gpu() else { return };
    let Some(kernel) = build(&backend, "grow", ACCUMULATE_CPP) else { return };
    let mut memory = backend.allocate(2 * 5 * 4).unwrap();
    memory.write(0, &[0; 40]).unwrap();
    for _ in 0..3 {
        let target = Target::image(memory.as_mut(), Extent::new(5, 4), PixelFormat::Rg8).unwrap();
        backend.launch(kernel.as_ref(), target, &[]).unwrap();
    }
    memory
        .map_read(0..40, &mut |bytes| {
            assert!(bytes.chunks(2).enumerate().all(|(i, p)| p == [3, 3 * (i / 5) as u8]), "{bytes:?}");
            Ok(())
        })
        .unwrap();
}

#[test]
fn cuda_cpp_writes_buffers() {
    let Some(backend) = gpu() else { return };
    let Some(kernel) = build(&backend, "ramp", BUFFER_CPP) else { return };
    let mut from = backend.allocate(4).unwrap();
    from.write(0, &7.5f32.to_ne_bytes()).unwrap();
    let mut memory = backend.allocate(12 * 1000 + 5).unwrap();
    let args = [Arg::Memory(from.as_ref()), Arg::I32(-3)];
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &args).unwrap();
    memory
        .map_read(0..12_000, &mut |bytes| {
            let floats: Vec<f32> = bytemuck::allocation::pod_collect_to_vec(bytes);
            for (i, v) in floats.chunks(3).enumerate() {
                assert_eq!(v, [i as f32, 7.5, -3.0]);
            }
            Ok(())
        })
        .unwrap();
}

#[test]
fn conversions_are_those_of_the_standards() {
    const TEXT: &str = "
extern \"C\" __global__ void convert(PF_BUFFER(unsigned short, out), const float *from) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < out_len) out[i] = pf_half(from[i]);
}
extern \"C\" __global__ void colour(PF_BUFFER(uchar4, out), const float *from) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= out_len) return;
  float3 c = pf_tonemap_aces(pf_tonemap_reinhard(make_float3(from[i], 0.0f, 1.0f)));
  out[i] = pf_rgba8(c, pf_srgb(from[i]));
}";
    let Some(backend) = gpu() else { return };
    let Some(halves) = build(&backend, "convert", TEXT) else { return };
    let Some(colour) = build(&backend, "colour", TEXT) else { return };
    // Every binary16 and its neighbours half a step away, where rounding turns.
    let values: Vec<f32> = (0..=u16::MAX)
        .flat_map(|bits| {
            let v = half::f16::from_bits(bits).to_f32().to_bits();
            [v, v + 1, v.wrapping_sub(1), v + 0xfff, v + 0x1000, v + 0x1001].map(f32::from_bits)
        })
        .collect();
    let mut from = backend.allocate(4 * values.len()).unwrap();
    from.write(0, bytemuck::cast_slice(&values)).unwrap();
    let mut out = backend.allocate(2 * values.len()).unwrap();
    let source = vouched("convert", Language::CudaCpp, TEXT).with_items(values.len());
    let with_items = backend.build(&source).unwrap();
    drop(halves);
    backend.launch(with_items.as_ref(), Target::buffer(out.as_mut()), &[Arg::Memory(from.as_ref())]).unwrap();
    let mut bytes = vec![0; 2 * values.len()];
    out.read(0, &mut bytes).unwrap();
    for (value, bits) in values.iter().zip(bytemuck::allocation::pod_collect_to_vec::<u8, u16>(&bytes)) {
        let (found, expected) = (half::f16::from_bits(bits), half::f16::from_f32(*value));
        assert!(found == expected || found.is_nan() && value.is_nan(), "{value:e}: {found} for {expected}");
    }
    let mut out = backend.allocate(4 * 3).unwrap();
    from.write(0, bytemuck::cast_slice(&[0.5f32, f32::NAN, 1e9])).unwrap();
    backend.launch(colour.as_ref(), Target::buffer(out.as_mut()), &[Arg::Memory(from.as_ref())]).unwrap();
    let mut bytes = [0; 12];
    out.read(0, &mut bytes).unwrap();
    // sRGB of one half is 0.7354; of more than one, one. NaN is black.
    assert_eq!((bytes[3], bytes[7], bytes[11]), (188, 0, 255), "{bytes:?}");
    assert_eq!((bytes[1], bytes[4]), (0, 0), "{bytes:?}");
}

#[test]
fn registered_host_memory_is_written_in_place() {
    let Some(backend) = gpu() else { return };
    let block = HostBlock::allocate(300_000).unwrap();
    let mut memory = backend.import_host(&block).unwrap();
    let view = ImageView::packed(Extent::new(255, 200), PixelFormat::Rgba8, 256, 512, true).unwrap();
    check_pattern(&backend, memory.as_mut(), View::Image(view), 5);
    memory.release().unwrap();
    // The same pages twice, and a registration that outlives its neighbour.
    let again = backend.import_host(&block).unwrap();
    let guard = backend.prepare_host(&block).unwrap();
    drop(memory);
    drop(again);
    drop(guard);
    let mut memory = backend.import_host(&block).unwrap();
    check_pattern(&backend, memory.as_mut(), View::Image(view), 6);
}

#[test]
fn blocks_may_share_pages() {
    let Some(backend) = gpu() else { return };
    let whole = HostBlock::allocate(64 * 4096).unwrap();
    let blocks: Vec<_> = (0..6).map(|i| whole.part(64 + i * 8640..64 + (i + 1) * 8640).unwrap()).collect();
    let view = View::Image(ImageView::packed(Extent::new(65, 33), PixelFormat::Rgba8, 1, 0, false).unwrap());
    // In an order in which the gap between two registered neighbours is filled last.
    let mut memories: Vec<_> = [0, 2, 4, 5, 3, 1].map(|i| backend.import_host(&blocks[i]).unwrap()).into();
    for (nonce, memory) in (50..).zip(&mut memories) {
        check_pattern(&backend, memory.as_mut(), view, nonce);
    }
    let _all = backend.import_host(&whole.part(16..100_016).unwrap()).unwrap();
    // Device memory to a range that several registrations make up, and back.
    let mut device = backend.allocate(100_000).unwrap();
    let mut all = backend.import_host(&whole.part(16..100_016).unwrap()).unwrap();
    device.write(0, &[3; 100_000]).unwrap();
    backend.copy(device.as_ref(), all.as_mut(), 0..100_000).unwrap();
    all.release().unwrap();
    let mut host = whole.write(16..100_016, Holder::Guard).unwrap();
    assert!(host.iter().all(|b| *b == 3));
    device.write(0, &[4; 100_000]).unwrap();
    device.read(0, &mut host).unwrap();
    assert!(host.iter().all(|b| *b == 4));
    drop(host);
    while memories.len() > 1 {
        memories.remove(0);
        let nonce = 60 + memories.len() as u32;
        check_pattern(&backend, memories.last_mut().unwrap().as_mut(), view, nonce);
    }
}

#[test]
fn exported_memory_has_a_descriptor() {
    let Some(backend) = gpu() else { return };
    println!("{:?}", backend.caps());
    let exports = match backend.caps().can_export(HandleType::OpaqueFd, interop_core::MemoryShape::Linear) {
        interop_core::Support::Yes => Ok(()),
        interop_core::Support::No(reason) => Err(reason),
    };
    if has("memory for others", backend.device(), exports).is_none() {
        return;
    }
    let (mut memory, handle) = backend.allocate_shared(1_000_000, HandleType::OpaqueFd, backend.device()).unwrap();
    assert_eq!(memory.len(), 1_000_000);
    let SharedHandle::Memory(handle) = &handle else { panic!("{handle:?}") };
    assert!(handle.bytes() >= 1_000_000);
    let file = std::fs::File::from(handle.handle().try_clone().unwrap());
    println!("exported {} bytes: {:?}", handle.bytes(), file.metadata());
    let view = View::Image(ImageView::packed(Extent::new(500, 499), PixelFormat::Rgba8, 1, 0, true).unwrap());
    check_pattern(&backend, memory.as_mut(), view, 8);
    memory.release().unwrap();
    for (bytes, handle) in [(0, HandleType::OpaqueFd), (usize::MAX, HandleType::OpaqueFd), (4, HandleType::Win32)] {
        assert!(backend.allocate_shared(bytes, handle, backend.device()).is_err());
    }
}

#[test]
fn arguments_are_checked() {
    let Some(backend) = gpu() else { return };
    let Some(kernel) = build(&backend, "tint", IMAGE_CPP) else { return };
    let other = CudaBackend::open(&devices().unwrap()[0]).unwrap();
    let mut memory = backend.allocate(400).unwrap();
    let gains = backend.allocate(12).unwrap();
    let foreign = other.allocate(12).unwrap();
    let m = Arg::Memory(gains.as_ref());
    let wrong: [&[Arg<'_>]; 5] = [
        &[],
        &[m, Arg::I32(3), Arg::F32(4.0)],
        &[m, Arg::F32(3.0), Arg::F32(4.0), Arg::U32(200)],
        &[m, Arg::I32(3), Arg::I32(4), Arg::U32(200)],
        &[Arg::I32(1), Arg::I32(3), Arg::F32(4.0), Arg::U32(200)],
    ];
    for args in wrong {
        let target = Target::image(memory.as_mut(), Extent::new(10, 10), PixelFormat::Rgba8).unwrap();
        let error = backend.launch(kernel.as_ref(), target, args).unwrap_err();
        assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
        println!("{error}");
    }
    let error = backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[]).unwrap_err();
    assert!(matches!(error, Error::InvalidInput { .. }), "{error}");
    let target = Target::image(memory.as_mut(), Extent::new(10, 10), PixelFormat::Rgba8).unwrap();
    let args = [Arg::Memory(foreign.as_ref()), Arg::I32(3), Arg::F32(4.0), Arg::U32(200)];
    assert!(matches!(backend.launch(kernel.as_ref(), target, &args), Err(Error::Foreign { .. })));
    let target = Target::image(memory.as_mut(), Extent::new(10, 10), PixelFormat::Rgba8).unwrap();
    assert!(matches!(other.launch(kernel.as_ref(), target, &[]), Err(Error::Foreign { .. })));
    let odd = ImageView { offset: 2, ..ImageView::packed(Extent::new(5, 5), PixelFormat::Rgba8, 1, 0, false).unwrap() };
    let target = Target::new(memory.as_mut(), View::Image(odd)).unwrap();
    assert!(matches!(backend.launch(kernel.as_ref(), target, &[]), Err(Error::InvalidInput { .. })));
}

#[test]
fn bad_sources_are_explained() {
    let Some(backend) = gpu() else { return };
    let build = |language, text: &'static str| {
        let error = backend.build(&vouched("k", language, text)).map(|_| ()).unwrap_err();
        println!("{error}");
        error
    };
    assert!(matches!(build(Language::Ptx, "nonsense"), Error::KernelBuild { .. }));
    assert!(matches!(
        build(Language::Ptx, ".version 8.0\n.target sm_50\n.address_size 64\n"),
        Error::KernelBuild { .. }
    ));
    assert!(matches!(build(Language::OpenClC, ""), Error::Unsupported { .. }));
    assert!(matches!(build(Language::CudaCpp, "a\0b"), Error::InvalidInput { .. }));
    match build(Language::CudaCpp, "__global__ void k(PF_IMAGE(uchar4, out)) {\n  undeclared;\n}") {
        Error::KernelBuild { log, .. } => assert!(log.contains("kernel.cu(2)"), "{log}"),
        e => _ = common::compiled::<()>(Err(e)),
    }
}

#[test]
fn any_thread_may_call() {
    let Some(backend) = gpu() else { return };
    let backend = Arc::new(backend);
    let threads: Vec<_> = (0..4)
        .map(|n| {
            let backend = backend.clone();
            std::thread::spawn(move || {
                let view =
                    View::Image(ImageView::packed(Extent::new(64, 64), PixelFormat::Rgba8, 1, 0, false).unwrap());
                let mut memory = backend.allocate(64 * 64 * 4).unwrap();
                (0..50).for_each(|i| check_pattern(backend.as_ref(), memory.as_mut(), view, 1000 * n + i));
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
}

/// Free device memory as the driver's tool sees it, MiB.
fn used_mib() -> Option<u64> {
    let query = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
    let out = std::process::Command::new("nvidia-smi").args(query).output().ok()?;
    String::from_utf8(out.stdout).ok()?.lines().next()?.trim().parse().ok()
}

#[test]
fn nothing_leaks() {
    let Some(backend) = gpu() else { return };
    let block = HostBlock::allocate(1 << 20).unwrap();
    let round = || {
        let mut memory = backend.allocate(64 << 20).unwrap();
        memory.map_read(0..4 << 20, &mut |_| Ok(())).unwrap();
        drop(backend.import_host(&block).unwrap());
        if backend.caps().can_export(HandleType::OpaqueFd, interop_core::MemoryShape::Linear).is_yes() {
            drop(backend.allocate_shared(64 << 20, HandleType::OpaqueFd, backend.device()).unwrap());
        }
    };
    round();
    let files = || std::fs::read_dir("/proc/self/fd").map(Iterator::count).unwrap_or(0);
    let (before, files_before) = (used_mib(), files());
    (0..100).for_each(|_| round());
    let (after, files_after) = (used_mib(), files());
    println!("device memory in use: {before:?} MiB before, {after:?} after; descriptors {files_before}, {files_after}");
    // Other tests of this file run at the same time; a leak would be 12 GiB.
    if let (Some(before), Some(after)) = (before, after) {
        assert!(after < before + 2048);
    }
    assert!(files_after < files_before + 50);
}
