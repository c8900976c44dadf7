//! Kernels write an engine's own texture and buffer, whose names stay.

use super::engine::{BYTES, Engine, HEIGHT, WIDTH, filling};
use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt as _, Error, Kernel, KernelSource, Outlet, OutletOptions, PathId, Region, Result,
    Surface, Unwritten,
};
use std::collections::BTreeSet;
use std::sync::Arc;

fn kernels() -> [KernelSource; 2] {
    let opencl = "kernel void ramp(PF_IMAGE(uchar4, out), uint n) {
           uint x = get_global_id(0), y = get_global_id(1);
           if (x < out_width && y < out_height) PF_STORE(out, x, y, (uchar4)(x, y, n, 255));
         }";
    let cuda = "__global__ void ramp(PF_IMAGE(uchar4, out), unsigned n) {
           unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x < out_width && y < out_height) PF_STORE(out, x, y, make_uchar4(x, y, n, 255));
         }";
    let opencl_bytes = "kernel void bytes(PF_BUFFER(uchar, out), uint n) {
           uint i = get_global_id(0);
           if (i < PF_LEN(out)) PF_PTR(out)[i] = i + n;
         }";
    let cuda_bytes = "__global__ void bytes(PF_BUFFER(unsigned char, out), unsigned n) {
           unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
           if (i < PF_LEN(out)) PF_PTR(out)[i] = i + n;
         }";
    let wgsl = "@compute @workgroup_size(8, 8)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {
           pf_store(id.xy, vec4<f32>(vec3<f32>(f32(id.x), f32(id.y), f32(pf_arg_u32(0))) / 255.0, 1.0));
         }";
    let wgsl_bytes = "@compute @workgroup_size(64)
         fn bytes(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           if (i * 4u >= pf_items()) { return; }
           var word = 0u;
           for (var b = 0u; b < 4u; b++) { word |= ((i * 4u + b + pf_arg_u32(0)) & 0xffu) << (b * 8u); }
           pf_put(i, word);
         }";
    // SAFETY: all write inside the target only.
    unsafe {
        [
            KernelSource::new("ramp").opencl_c(opencl).cuda_cpp(cuda).wgsl(wgsl).cpu_image(|out, args| {
                let n = args.u32(0)?;
                out.par_pixels(|x, y| [x as u8, y as u8, n as u8, 255])
            }),
            KernelSource::new("bytes")
                .with_items(BYTES as usize)
                .opencl_c(opencl_bytes)
                .cuda_cpp(cuda_bytes)
                .wgsl(wgsl_bytes)
                .cpu_buffer(|out, args| {
                    let n = args.u32(0)?;
                    out.par_items(|i| (i as u32 + n) as u8)
                }),
        ]
    }
}

/// The engine's own pixels stay between two frames where the next writes nothing.
fn leaves_the_rest(engine: &dyn Engine, picture: &mut Outlet, ramp: &dyn Kernel) {
    let mut expected = engine.render(6);
    picture.frame(|_| Ok(())).unwrap();
    assert!(engine.pixels() == expected, "{}: a frame that writes nothing", picture.path());
    let at = Region::new(5, 2, 7, 4);
    picture.frame_region(at, |next| next.launch(ramp, &[Arg::U32(8)])).unwrap();
    for (y, x) in (0..at.height).flat_map(|y| (0..at.width).map(move |x| (y, x))) {
        let pixel = 4 * ((at.y + y) * WIDTH as u32 + at.x + x) as usize;
        expected[pixel..pixel + 4].copy_from_slice(&[x as u8, y as u8, 8, 255]);
    }
    assert!(engine.pixels() == expected, "{}: a part", picture.path());
    let refused = picture.frame_region(Region::new(WIDTH as u32, 0, 1, 1), |_| Ok(())).unwrap_err();
    assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
}

/// Memory of the backend's own goes into the engine's buffer, whole and in part, with a wait and without.
fn copies(backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine, vertices: &mut Outlet) {
    let mut memory = backend.allocate(BYTES as usize).unwrap();
    for (n, waits) in [(50, false), (51, true)] {
        let bytes = filling(n);
        memory.write(0, &bytes).unwrap();
        vertices.frame(|next| next.copy_from(memory.as_ref())).unwrap();
        if waits {
            vertices.finish().unwrap();
        }
        assert!(engine.contents() == bytes, "{}: a copy, waited for: {waits}", vertices.path());
    }
    let (mut expected, part) = (engine.fill(9), 64..132);
    memory.write(0, &filling(52)).unwrap();
    vertices.frame_bytes(part.clone(), |next| next.copy_from(memory.as_ref())).unwrap();
    expected[part.clone()].copy_from_slice(&filling(52)[part]);
    assert!(engine.contents() == expected, "{}: a copy of a part", vertices.path());
    let short = backend.allocate(8).unwrap();
    let refused = vertices.frame(|next| next.copy_from(short.as_ref())).unwrap_err();
    assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
}

/// These paths between the two, and the one that is chosen; panics where one brings other bytes. The paths that brought the right ones.
pub fn check(backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine, paths: &[PathId]) -> BTreeSet<&'static str> {
    let [ramp, filled] = kernels().map(|source| backend.build(&source).unwrap());
    let open = |target: Surface, by: Option<PathId>| -> Result<Outlet> {
        let (backend, display) = (Arc::clone(backend), engine.display());
        match by {
            None => Outlet::open(backend, display, target),
            Some(path) => Outlet::open_with(backend, display, target, OutletOptions::default().with_path(path)),
        }
    };
    let mut ran = BTreeSet::new();
    for by in paths.iter().copied().map(Some).chain([None]) {
        let before = engine.render(3);
        let mut picture = match open(engine.image(), by) {
            Ok(outlet) => outlet,
            Err(Error::Unavailable { .. }) => continue,
            Err(other) => panic!("{by:?}: {other}"),
        };
        assert!(engine.pixels() == before, "{}: nothing is written before the first frame", picture.path());
        for n in 0..5 {
            picture.frame(|next| next.launch(ramp.as_ref(), &[Arg::U32(n)])).unwrap();
            let expected: Vec<u8> =
                (0..HEIGHT).flat_map(|y| (0..WIDTH).flat_map(move |x| [x as u8, y as u8, n as u8, 255])).collect();
            assert!(engine.pixels() == expected, "{}, frame {n}", picture.path());
        }
        let refused = picture.frame(|next| next.launch(filled.as_ref(), &[])).unwrap_err();
        assert!(matches!(refused, Error::InvalidInput { .. }), "{refused}");
        picture.frame(|next| next.launch(ramp.as_ref(), &[Arg::U32(9)])).unwrap();
        assert_eq!(engine.pixels()[2], 9, "{} goes on after an error of the caller's", picture.path());
        leaves_the_rest(engine, &mut picture, ramp.as_ref());
        let cleared = OutletOptions::default().with_path(picture.path()).with_unwritten(Unwritten::Clear);
        let mut cleared = Outlet::open_with(Arc::clone(backend), engine.display(), engine.image(), cleared).unwrap();
        assert!(engine.pixels().iter().any(|byte| *byte != 0), "{}: nothing is cleared before a frame", cleared.path());
        cleared.frame(|_| Ok(())).unwrap();
        assert!(engine.pixels().iter().all(|byte| *byte == 0), "{}", cleared.path());
        if by == Some(PathId::IN_QUEUE_TEXTURE) {
            // A buffer is no texture.
            ran.insert(picture.path().name());
            continue;
        }
        let mut vertices = open(engine.bytes(), by).unwrap();
        for n in 0..5 {
            vertices.frame(|next| next.launch(filled.as_ref(), &[Arg::U32(n)])).unwrap();
            let expected: Vec<u8> = (0..BYTES as u32).map(|i| (i + n) as u8).collect();
            assert!(engine.contents() == expected, "{}, bytes, frame {n}", vertices.path());
        }
        copies(backend, engine, &mut vertices);
        println!("GIVEN BY {} from {}", picture.path(), backend.device());
        if by.is_none() {
            picture.rows().iter().for_each(|row| println!("  {row}"));
        }
        ran.insert(picture.path().name());
    }
    ran
}
