//! Kernels: parameters, arguments, launches; host closures as kernels.

use crate::suite::{buffer_of, build, problem};
use bytemuck::{Pod, Zeroable};
use interop_core::{Error, Result};
use pixelferry_opencl::{AddressSpace, Arg, Buffer, ImageAccess, MemFlags, NdRange, Queue, UserEvent};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

pub fn parameters(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel __attribute__((reqd_work_group_size(4, 1, 1)))
         void k(__global const float4 *restrict from, __constant int *table, __local uint *scratch, float2 by,
                volatile __global int *to) { to[0] = from[0].x + table[0] + scratch[0] + by.x; }",
    )?;
    assert_eq!(kernel.param_count(), 5);
    let params = kernel.params().expect("the driver tells of no parameters");
    let names: Vec<_> = params.iter().map(|p| p.name()).collect();
    assert_eq!(names, ["from", "table", "scratch", "by", "to"]);
    let types: Vec<_> = params.iter().map(|p| p.type_name()).collect();
    assert_eq!(types[..4], ["float4*", "int*", "uint*", "float2"]);
    use AddressSpace::{Constant, Global, Local, Private};
    assert!(params.iter().map(|p| p.address_space()).eq([Global, Constant, Local, Private, Global]));
    assert!(params[0].is_const() && params[0].is_restrict() && !params[0].is_volatile());
    assert!(params[4].is_volatile() && !params[4].is_const());
    assert!(params.iter().all(|p| p.access() == ImageAccess::None));
    assert_eq!(kernel.name(), "k");
    assert_eq!(kernel.duplicate()?.params(), kernel.params());
    Ok(())
}

pub fn arguments_checked(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel void k(__global float *to, float by, int4 v, __local int *scratch) { to[0] = by + v.x + scratch[0]; }",
    )?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 64)?;
    let (to, by, v, scratch) = (Arg::from(&buffer), Arg::from(1.0f32), Arg::value(&[1i32; 4]), Arg::Local(64));
    queue.launch(&kernel, &[to, by, v, scratch], [1], &[])?.wait()?;
    for (args, words) in [
        (vec![to, by, v], &["4 arguments", "float by", "3 given"][..]),
        (vec![by, by, v, scratch], &["'to'", "a buffer", "f32"]),
        (vec![Arg::from(1u64), by, v, scratch], &["'to'", "u64"]),
        (vec![to, Arg::from(1i32), v, scratch], &["'by'", "another type", "i32"]),
        (vec![to, Arg::from(1.0f64), v, scratch], &["'by'", "4 bytes"]),
        (vec![to, to, v, scratch], &["'by'", "a value", "a buffer given"]),
        (vec![to, by, Arg::value(&[1i32; 3]), scratch], &["'v'", "16 bytes", "12 bytes given"]),
        (vec![to, by, v, Arg::Null], &["'scratch'", "Arg::Local"]),
        (vec![to, by, v, Arg::Local(0)], &["'scratch'", "at least 1"]),
        (vec![to, by, v, Arg::Local(1 << 40)], &["bytes of local memory"]),
    ] {
        let problem = problem(queue.launch(&kernel, &args, [1], &[]));
        for word in words {
            assert!(problem.contains(word) && problem.contains("'k'"), "{word}: {problem}");
        }
    }
    let other = Buffer::new(super::queue(queue.device())?.context(), MemFlags::READ_WRITE, 64)?;
    let foreign = queue.launch(&kernel, &[Arg::from(&other), by, v, scratch], [1], &[]);
    assert!(matches!(foreign, Err(Error::Foreign { object: "buffer", .. })));
    if queue.device().image_support()? {
        let kernel = build(queue, "__kernel void k(__write_only image2d_t to) { write_imagef(to, (int2)(0), 1); }")?;
        assert_eq!(kernel.params().unwrap()[0].access(), ImageAccess::WriteOnly);
        assert!(problem(queue.launch(&kernel, &[to], [1], &[])).contains("an image"));
    }
    Ok(())
}

pub fn work_group_info(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel __attribute__((reqd_work_group_size(8, 2, 1))) void k(__global int *a) {
           __local int shared[64];
           shared[get_local_id(0)] = get_global_id(0);
           barrier(CLK_LOCAL_MEM_FENCE);
           a[get_global_id(0)] = shared[7 - get_local_id(0)];
         }",
    )?;
    let info = kernel.work_group_info(queue.device())?;
    assert_eq!(info.required, Some([8, 2, 1]));
    assert!(info.max_size >= 16 && info.max_size <= queue.device().max_work_group_size()?, "{info:?}");
    assert!(info.preferred_multiple >= 1, "{info:?}");
    assert!(info.local_memory >= 256 || info.local_memory == 0, "{info:?}");
    let plain = build(queue, "__kernel void k(__global int *a) { a[0] = 1; }")?.work_group_info(queue.device())?;
    assert_eq!(plain.required, None);
    Ok(())
}

pub fn dimensions(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel void k(__global int *a) {
           size_t x = get_global_id(0), y = get_global_id(1), z = get_global_id(2);
           size_t w = 16, h = 12;
           a[(z * h + y) * w + x] = 1 + get_global_offset(0) + 10 * get_work_dim() + 100 * (get_local_size(0) == 4);
         }",
    )?;
    let len = 16 * 12 * 10;
    for (range, size, offset, dims, grouped) in [
        (NdRange::new([16]), [16, 1, 1], [0, 0, 0], 1, None),
        (NdRange::new([8]).local([4]).offset([3]), [8, 1, 1], [3, 0, 0], 1, Some(true)),
        (NdRange::new([8, 6]).local([2, 3]), [8, 6, 1], [0, 0, 0], 2, Some(false)),
        (NdRange::new([4, 6]).offset([5, 2]), [4, 6, 1], [5, 2, 0], 2, None),
        (NdRange::new([4, 4, 4]).local([4, 2, 1]).offset([1, 2, 3]), [4, 4, 4], [1, 2, 3], 3, Some(true)),
        (NdRange::from([2, 3, 4]), [2, 3, 4], [0, 0, 0], 3, None),
    ] {
        let buffer = buffer_of(queue, &vec![0i32; len])?;
        queue.launch(&kernel, &[Arg::from(&buffer)], range, &[])?;
        let values = queue.read_all::<i32>(&buffer, &[])?;
        for (i, value) in values.iter().enumerate() {
            let at = [i % 16, i / 16 % 12, i / (16 * 12)];
            let inside = (0..3).all(|d| (offset[d]..offset[d] + size[d]).contains(&at[d]));
            let plain = 1 + offset[0] as i32 + 10 * dims;
            let fits = match grouped {
                _ if !inside => *value == 0,
                Some(grouped) => *value == plain + 100 * i32::from(grouped),
                None => *value == plain || *value == plain + 100,
            };
            assert!(fits, "{range:?} at {at:?}: {value}");
        }
    }
    Ok(())
}

pub fn local_memory(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel void k(__global int *a, __local int *scratch) {
           size_t l = get_local_id(0), n = get_local_size(0);
           scratch[l] = a[get_global_id(0)];
           barrier(CLK_LOCAL_MEM_FENCE);
           a[get_global_id(0)] = scratch[n - 1 - l];
         }",
    )?;
    let values: Vec<i32> = (0..256).collect();
    let most = kernel.work_group_info(queue.device())?.max_size;
    for group in [16usize, 64].into_iter().filter(|group| *group <= most) {
        let buffer = buffer_of(queue, &values)?;
        let range = NdRange::new([256]).local([group]);
        queue.launch(&kernel, &[Arg::from(&buffer), Arg::Local(4 * group)], range, &[])?;
        let expected: Vec<i32> = values.chunks(group).flat_map(|c| c.iter().rev().copied()).collect();
        assert_eq!(queue.read_all::<i32>(&buffer, &[])?, expected);
    }
    Ok(())
}

#[derive(Clone, Copy, Pod, Zeroable)]
#[repr(C)]
struct Settings {
    scale: f32,
    bias: [f32; 2],
    count: i32,
}

pub fn values(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "typedef struct { float scale; float bias[2]; int count; } settings;
         __kernel void k(__global float *a, char c, uchar uc, short s, ushort us, int i, uint ui, long l, ulong ul,
                         float f, float4 v, int2 w, uchar16 m, settings t, __global const int *none) {
           a[0] = c; a[1] = uc; a[2] = s; a[3] = us; a[4] = i; a[5] = ui; a[6] = l; a[7] = ul; a[8] = f;
           a[9] = v.w; a[10] = w.y; a[11] = m.sf; a[12] = t.bias[1]; a[13] = t.count; a[14] = none == 0;
         }",
    )?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 60)?;
    let mut bytes = [0u8; 16];
    bytes[15] = 200;
    let settings = Settings { scale: 1.0, bias: [2.0, 3.0], count: -9 };
    let args = [
        Arg::from(&buffer),
        Arg::from(-1i8),
        Arg::from(255u8),
        Arg::from(-300i16),
        Arg::from(60000u16),
        Arg::from(-70000i32),
        Arg::from(80000u32),
        Arg::from(-5i64),
        Arg::from(6u64),
        Arg::from(0.5f32),
        Arg::value(&[1.0f32, 2.0, 3.0, 4.0]),
        Arg::value(&[7i32, -8]),
        Arg::value(&bytes),
        Arg::value(&settings),
        Arg::Null,
    ];
    queue.launch(&kernel, &args, [1], &[])?;
    let expected = [-1.0, 255.0, -300.0, 60000.0, -70000.0, 80000.0, -5.0, 6.0, 0.5, 4.0, -8.0, 200.0, 3.0, -9.0, 1.0];
    assert_eq!(queue.read_all::<f32>(&buffer, &[])?, expected);
    Ok(())
}

/// Arguments are set and the kernel enqueued as one step.
pub fn threads(queue: &Queue) -> Result<()> {
    let kernel = build(queue, "__kernel void k(__global uint *a, uint n) { a[get_global_id(0)] = n; }")?;
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4u32)
            .map(|thread| {
                let (queue, kernel) = (queue, &kernel);
                scope.spawn(move || -> Result<()> {
                    let own = Queue::new(queue.context())?;
                    for turn in 0..40 {
                        let n = thread * 1000 + turn;
                        let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 400)?;
                        let queue = if turn % 2 == 0 { queue } else { &own };
                        let done = queue.launch(kernel, &[Arg::from(&buffer), Arg::from(n)], [100], &[])?;
                        assert_eq!(queue.read_all::<u32>(&buffer, &[done])?, [n; 100]);
                    }
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}

pub fn sizes_refused(queue: &Queue) -> Result<()> {
    let kernel = build(queue, "__kernel void k(__global int *a) { a[0] = 1; }")?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4)?;
    let args = [Arg::from(&buffer)];
    let most = queue.device().max_work_group_size()?;
    for range in [
        NdRange::new([0]),
        NdRange::new([4, 0]),
        NdRange::new([4]).local([0]),
        NdRange::new([2 * most]).local([2 * most]),
        NdRange::new([usize::MAX / 2, 2]).local([usize::MAX / 2, 2]),
        NdRange::new([usize::MAX, usize::MAX, 2]),
        NdRange::new([2]).offset([usize::MAX]),
    ] {
        problem(queue.launch(&kernel, &args, range, &[]));
    }
    let required =
        build(queue, "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(__global int *a) { a[0] = 1; }")?;
    let text = problem(queue.launch(&required, &args, NdRange::new([8]).local([2]), &[]));
    assert!(text.contains("[2, 1, 1]") && text.contains("reqd_work_group_size is [4, 1, 1]"), "{text}");
    // Left open, the groups are those that it requires.
    queue.launch(&required, &args, [8], &[])?;
    if !queue.device().non_uniform_work_group_support().unwrap_or(queue.device().cl_version() >= (2, 0)) {
        for (kernel, range) in [(&kernel, NdRange::new([4, 10]).local([2, 4])), (&required, NdRange::new([10]))] {
            let text = problem(queue.launch(kernel, &args, range, &[]));
            assert!(text.contains("10 work items in dimension") && text.contains("group's 4; use 12"), "{text}");
        }
    }
    // The queue is still good.
    queue.launch(&kernel, &args, [1], &[])?;
    assert_eq!(queue.read_all::<i32>(&buffer, &[])?, [1]);
    Ok(())
}

pub fn native(queue: &Queue) -> Result<()> {
    let (a, b) = (buffer_of(queue, &[1u32; 64])?, buffer_of(queue, &[0u32; 32])?);
    let ran = Arc::new(AtomicU32::new(0));
    let count = ran.clone();
    let gate = UserEvent::new(queue.context())?;
    let sum = move |mut memories: Vec<&mut [u8]>| {
        let [a, b] = &mut memories[..] else { panic!("{} memories", memories.len()) };
        assert_eq!((a.len(), b.len()), (256, 128));
        b.copy_from_slice(&a[..128]);
        b[0] = 9;
        count.fetch_add(1, Ordering::SeqCst);
    };
    let native = queue.native(&[&a, &b], sum, std::slice::from_ref(gate.event()))?;
    // Enqueued later on another queue, without a wait list: it waits all the same.
    let other = Queue::new(queue.context())?;
    let read = other.read::<u32>(&b, 0, 32, &[])?;
    assert_eq!(ran.load(Ordering::SeqCst), 0);
    gate.complete()?;
    native.wait()?;
    assert_eq!(ran.load(Ordering::SeqCst), 1);
    let values = read.wait()?;
    assert_eq!((values[0], values[1], values[31]), (9, 1, 1));
    // In any order of their making, their handles and their lengths.
    let mut many: Vec<_> = Vec::new();
    for n in 1..=24_usize {
        many.push(buffer_of(queue, &vec![0u8; 64 * n])?);
        if n % 3 == 0 {
            many.swap_remove(n / 4);
        }
    }
    let pairs = (0..many.len()).flat_map(|i| (0..many.len()).map(move |j| (i, j))).filter(|(i, j)| i != j);
    for (one, other) in pairs.map(|(i, j)| (&many[i], &many[j])) {
        let lens = (one.len(), other.len());
        let marked = move |mut memories: Vec<&mut [u8]>| {
            let [one, other] = &mut memories[..] else { panic!("{} memories", memories.len()) };
            assert_eq!((one.len(), other.len()), lens);
            (one[0], other[0]) = (1, 2);
        };
        queue.native(&[one, other], marked, &[])?.wait()?;
        assert_eq!((queue.read_all::<u8>(one, &[])?[0], queue.read_all::<u8>(other, &[])?[0]), (1, 2));
    }
    // Without memory, too; and overlapping memory is refused.
    queue.native(&[], |memories| assert!(memories.is_empty()), &[])?.wait()?;
    assert!(matches!(queue.native(&[&a, &a], |_| {}, &[]), Err(Error::InvalidInput { .. })));
    Ok(())
}

pub fn native_panic(queue: &Queue) -> Result<()> {
    let native = queue.native(&[], |_| panic!("in a host kernel"), &[])?;
    assert!(matches!(native.wait(), Err(Error::KernelFailed { .. })));
    queue.finish()
}
