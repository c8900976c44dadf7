//! Kernels whose arguments stay.

use crate::suite::{buffer_of, build, refused};
use bytemuck::{Pod, Zeroable};
use interop_core::{Error, HostBlock, Result};
use pixelferry_opencl::{
    Addressing, Arg, Buffer, Filter, HostBuffer, Image, ImageFormat, ImageSize, MemFlags, NdRange, Queue, Sampler,
};
use std::sync::mpsc;
use std::time::Duration;

/// Set once, changed one by one, by position and by name, with work items of their own.
pub fn kept(queue: &Queue) -> Result<()> {
    let kernel = build(
        queue,
        "__kernel void k(__global int *to, int add, __global const int *from) {
                                  size_t i = get_global_id(0); to[i] = to[i] * 10 + from[i] + add; }",
    )?;
    let to = buffer_of(queue, &[0i32; 8])?;
    let from = |n: i32| Buffer::with_data(queue.context(), MemFlags::READ_ONLY, &[n; 8]);
    let mut bound = kernel.bind()?;
    assert_eq!((bound.name(), bound.params(), bound.range()), ("k", kernel.params(), None));
    refused(bound.launch(queue, &[]), &["no work items"]);
    refused(bound.launch_over(queue, [8], &[]), &["not set", "'to'", "'add'", "'from'"]);
    bound.set("to", &to)?.set(1, 1i32)?.set_range([8]);
    refused(bound.launch(queue, &[]), &["not set: 'from'"]);
    bound.set("from", &from(1)?)?;
    bound.launch(queue, &[])?;
    // Partly changed; a launch over fewer items changes the default for nobody.
    bound.set("add", 2i32)?;
    bound.launch_over(queue, NdRange::new([4]).offset([4]), &[])?;
    bound.set(2, &from(5)?)?;
    let last = bound.launch(queue, &[])?;
    assert_eq!(queue.read_all::<i32>(&to, &[last])?, [27, 27, 27, 27, 237, 237, 237, 237]);
    // Unfit values are refused where they are set, and the argument stays.
    refused(bound.set("by", 1i32).map(drop), &["no parameter 'by'", "to, add, from"]);
    refused(bound.set(3, 1i32).map(drop), &["3 parameters", "no parameter 3"]);
    refused(bound.set("add", 1.0f32).map(drop), &["'add'", "another type"]);
    refused(bound.set("to", 1i32).map(drop), &["'to'", "a buffer"]);
    refused(bound.set_all(&[Arg::from(&to)]).map(drop), &["3 arguments", "1 given"]);
    let foreign = Buffer::new(super::queue(queue.device())?.context(), MemFlags::READ_WRITE, 32)?;
    assert!(matches!(bound.set("to", &foreign), Err(Error::Foreign { object: "buffer", .. })));
    assert!(matches!(bound.arg("to")?, Some(Arg::Buffer(kept)) if kept.raw() == to.raw()));
    // The kernel that it is of has arguments of its own, and nobody's launches disturb the others.
    let other = buffer_of(queue, &[100i32; 8])?;
    let mut second = kernel.bind()?;
    second.set_all(&[Arg::from(&other), Arg::from(3i32), Arg::from(&from(0)?)])?.set_range([8]);
    queue.fill(&to, 0i32, 0..32, &[])?;
    for _ in 0..2 {
        queue.launch(&kernel, &[Arg::from(&other), Arg::from(0i32), Arg::from(&other)], [8], &[])?;
        bound.launch(queue, &[])?;
        second.launch(queue, &[])?;
    }
    assert_eq!(queue.read_all::<i32>(&to, &[])?, [77; 8]);
    assert_eq!(queue.read_all::<i32>(&other, &[])?, [(100 * 11 * 10 + 3) * 11 * 10 + 3; 8]);
    // Checked at each launch: what is mapped is not written.
    let map = queue.map_read::<i32>(&to, 0..32, &[])?;
    refused(bound.launch(queue, &[]), &["mapped"]);
    drop(map);
    refused(bound.launch_over(queue, [0], &[]), &["a side of 0"]);
    bound.unset("from")?;
    refused(bound.launch(queue, &[]), &["not set: 'from'"]);
    assert!(bound.arg("from")?.is_none());
    bound.set("from", &from(0)?)?.set("add", 0i32)?;
    bound.launch(queue, &[])?.wait()?;
    assert_eq!(queue.read_all::<i32>(&to, &[])?, [770; 8]);
    Ok(())
}

#[repr(C)]
#[derive(Clone, Copy, Pod, Zeroable)]
struct Wave {
    scale: f32,
    offset: [f32; 3],
}

/// A type of the program's own as an argument: what `from_param` is in other bindings.
struct Points(Buffer);

impl<'a> From<&'a Points> for Arg<'a> {
    fn from(points: &'a Points) -> Self {
        Self::Buffer(&points.0)
    }
}

/// Arguments of every kind, of which the caller keeps nothing.
pub fn every_kind(queue: &Queue) -> Result<()> {
    let context = queue.context();
    let data: Vec<[f32; 4]> = (0..8).map(|i| [i as f32, 1.0, 2.0, 3.0]).collect();
    let kernel = build(
        queue,
        "typedef struct { float scale; float offset[3]; } wave;
         __kernel void k(__read_only image2d_t from, sampler_t s, wave w, __local float *part, __global float *to,
                         __global const float *none, float4 v) {
           int i = get_global_id(0);
           part[get_local_id(0)] = read_imagef(from, s, (int2)(i, 0)).x;
           barrier(CLK_LOCAL_MEM_FENCE);
           to[i] = part[get_local_id(0)] * w.scale + w.offset[2] + v.w + (none == 0 ? 1000 : 0);
         }",
    )?;
    let mut bound = kernel.bind()?;
    let to = Points(Buffer::new(context, MemFlags::READ_WRITE, 32)?);
    {
        let image =
            Image::with_data(context, MemFlags::READ_ONLY, ImageFormat::of::<[f32; 4]>(), ImageSize::D2(8, 1), &data)?;
        let sampler = Sampler::new(context, false, Addressing::ClampToEdge, Filter::Nearest)?;
        let wave = Wave { scale: 2.0, offset: [0.0, 0.0, 0.5] };
        bound.set("from", &image)?.set("s", &sampler)?.set("w", Arg::value(&wave))?.set("part", Arg::Local(16))?;
        bound.set("to", &to)?.set("none", Arg::Null)?.set("v", Arg::value(&[0f32, 0.0, 0.0, 10.0]))?;
    }
    bound.set_range(NdRange::new([8]).local([4]));
    for _ in 0..3 {
        bound.launch(queue, &[])?;
    }
    let wants: Vec<f32> = (0..8).map(|i| i as f32 * 2.0 + 1010.5).collect();
    assert_eq!(queue.read_all::<f32>(&to.0, &[])?, wants);
    Ok(())
}

/// Objects live as long as they are arguments, and no longer.
pub fn lifetimes(queue: &Queue) -> Result<()> {
    let kernel = build(queue, "__kernel void k(__global int *a) { a[get_global_id(0)] += 1; }")?;
    let (tell, told) = mpsc::channel();
    let mut bound = kernel.bind()?;
    bound.set_range([16]);
    let buffer = |name: &'static str| -> Result<Buffer> {
        let (buffer, tell) = (buffer_of(queue, &[0i32; 16])?, tell.clone());
        buffer.on_delete(move || tell.send(name).unwrap())?;
        Ok(buffer)
    };
    bound.set(0, &buffer("first")?)?;
    bound.launch(queue, &[])?.wait()?;
    queue.finish()?;
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "an argument is gone");
    let second = buffer("second")?;
    bound.set(0, &second)?;
    assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap(), "first");
    bound.launch(queue, &[])?;
    assert_eq!(queue.read_all::<i32>(&second, &[])?, [1; 16]);
    drop(second);
    bound.unset(0)?;
    assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap(), "second");
    bound.set(0, &buffer("third")?)?;
    bound.launch(queue, &[])?;
    queue.finish()?;
    drop(bound);
    assert_eq!(told.recv_timeout(Duration::from_secs(20)).unwrap(), "third");
    // Host memory in place: free again when the kernel has let go of it.
    let block = HostBlock::allocate(64)?;
    let host = HostBuffer::new(queue.context(), MemFlags::READ_WRITE, &block)?;
    queue.fill(&host, 5i32, 0..64, &[])?;
    let mut bound = kernel.bind()?;
    bound.set(0, &*host)?.set_range([16]);
    bound.launch(queue, &[])?;
    assert_eq!(queue.read::<i32>(&host, 0, 16, &[])?.wait()?, [6; 16]);
    drop(bound);
    drop(host);
    // From several threads, each with arguments of its own.
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4i32)
            .map(|n| {
                let (kernel, queue) = (&kernel, queue);
                scope.spawn(move || -> Result<()> {
                    let buffer = buffer_of(queue, &[n; 16])?;
                    let mut bound = kernel.bind()?;
                    bound.set(0, &buffer)?.set_range([16]);
                    (0..20).try_for_each(|_| bound.launch(queue, &[]).map(drop))?;
                    assert_eq!(queue.read_all::<i32>(&buffer, &[])?, [n + 20; 16]);
                    Ok(())
                })
            })
            .collect();
        threads.into_iter().try_for_each(|thread| thread.join().unwrap())
    })
}
