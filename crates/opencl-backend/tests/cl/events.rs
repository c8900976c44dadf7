//! Events: how far commands are, callbacks, futures, user events, wait lists.

use crate::queue;
use interop_core::{Error, Result};
use opencl_backend::cl::{
    Arg, Buffer, CommandType, Context, Device, Event, MemFlags, Program, Queue, QueueOptions, Status, UserEvent,
};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

const PATIENCE: Duration = Duration::from_secs(20);

pub fn status_and_wait(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 1 << 20)?;
    let gate = UserEvent::new(queue.context())?;
    let event = queue.fill(&buffer, 1u8, 0..1 << 20, std::slice::from_ref(gate.event()))?;
    assert!(!event.status()?.is_final(), "{event:?} did not wait");
    assert_eq!(event.command_type()?, Some(CommandType::FillBuffer));
    assert_eq!(gate.event().command_type()?, Some(CommandType::User));
    gate.complete()?;
    event.wait()?;
    assert_eq!(event.status()?, Status::Complete);
    Event::wait_all(&[event.clone(), event])
}

pub fn callbacks(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 1 << 16)?;
    let gate = UserEvent::new(queue.context())?;
    let event = queue.fill(&buffer, 1u8, 0..1 << 16, std::slice::from_ref(gate.event()))?;
    let (tell, told) = mpsc::channel();
    for _ in 0..3 {
        let tell = tell.clone();
        event.on_complete(move |status| tell.send(status).unwrap())?;
    }
    // One that panics harms nothing.
    event.on_complete(|_| panic!("in a callback"))?;
    assert!(matches!(event.on(Status::Queued, |_| {}), Err(Error::InvalidInput { .. })));
    queue.flush()?;
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "called before the command could run");
    gate.complete()?;
    for _ in 0..3 {
        assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Status::Complete);
    }
    // What a callback holds is dropped after its only call.
    drop(tell);
    assert!(matches!(told.recv_timeout(PATIENCE), Err(mpsc::RecvTimeoutError::Disconnected)));
    // Set after the command was done, it is called all the same.
    let (tell, told) = mpsc::channel();
    event.wait()?;
    event.on_complete(move |status| tell.send(status).unwrap())?;
    assert_eq!(told.recv_timeout(PATIENCE).unwrap(), Status::Complete);
    Ok(())
}

/// Counts wake-ups, and wakes this thread.
struct Count(AtomicU32, std::thread::Thread);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::SeqCst);
        self.1.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let count = Arc::new(Count(AtomicU32::new(0), std::thread::current()));
    let waker = Waker::from(count);
    let mut future = pin!(future);
    let begin = std::time::Instant::now();
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return value;
        }
        assert!(begin.elapsed() < PATIENCE, "nobody woke the task");
        std::thread::park_timeout(PATIENCE);
    }
}

pub fn futures(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4000)?;
    for n in 0..20u32 {
        let filled = queue.fill(&buffer, n, 0..4000, &[])?;
        let values = block_on(async {
            filled.await?;
            queue.read::<u32>(&buffer, 0, 1000, &[])?.await
        })?;
        assert_eq!(values, vec![n; 1000]);
    }
    // Dropped when it was polled once: the command goes on, the late wake-up goes to nobody's harm.
    let gate = UserEvent::new(queue.context())?;
    let mut event = queue.fill(&buffer, 99u32, 0..4000, std::slice::from_ref(gate.event()))?;
    let count = Arc::new(Count(AtomicU32::new(0), std::thread::current()));
    let waker = Waker::from(count.clone());
    let mut cx = std::task::Context::from_waker(&waker);
    assert!(Pin::new(&mut event).poll(&mut cx).is_pending());
    assert!(Pin::new(&mut event).poll(&mut cx).is_pending());
    let copy = event.clone();
    drop(event);
    gate.complete()?;
    block_on(copy)?;
    assert_eq!(queue.read_all::<u32>(&buffer, &[])?[7], 99);
    // A failure comes out of the future.
    let gate = UserEvent::new(queue.context())?;
    let event = gate.event().clone();
    gate.fail(-77)?;
    assert!(block_on(event).is_err());
    Ok(())
}

pub fn profiling(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let options = QueueOptions { profiling: true, ..QueueOptions::default() };
    let queue = Queue::with_options(&context, device, &options)?;
    let source =
        "__kernel void k(__global float *a) { for (int i = 0; i < 1000; ++i) a[get_global_id(0)] += sin((float)i); }";
    let kernel = Program::build(&context, source, "")?.kernel("k")?;
    let buffer = Buffer::with_data(&context, MemFlags::READ_WRITE, &[0f32; 4096])?;
    let event = queue.launch(&kernel, &[Arg::from(&buffer)], [4096], &[])?;
    event.wait()?;
    let profile = event.profile()?;
    assert!(profile.queued <= profile.submitted && profile.submitted <= profile.started, "{profile:?}");
    assert!(profile.started < profile.ended, "{profile:?}");
    // The clock runs.
    std::thread::sleep(Duration::from_millis(5));
    let later = queue.launch(&kernel, &[Arg::from(&buffer)], [4096], &[])?;
    later.wait()?;
    let between = later.profile()?.started.saturating_sub(profile.started);
    if between < 4_000_000 {
        let reason =
            format!("clGetEventProfilingInfo: a kernel 5 ms later began {between} ns later; the clock stands still");
        return Err(Error::Unsupported { operation: "profiling", device: device.name().into(), reason });
    }
    assert!(between < 60_000_000_000, "{between} ns");
    // Without profiling there is an error, not a number.
    let event = crate::queue(device)?.marker(&[])?;
    event.wait()?;
    assert!(matches!(event.profile(), Err(Error::InvalidInput { .. })));
    Ok(())
}

/// A chain over two queues that nobody flushes.
pub fn wait_lists(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let queues = [Queue::new(&context)?, Queue::new(&context)?];
    let source = "__kernel void k(__global uint *a, uint n) { a[0] = a[0] * 5 + n; }";
    let kernel = Program::build(&context, source, "")?.kernel("k")?;
    let buffer = Buffer::with_data(&context, MemFlags::READ_WRITE, &[1u32])?;
    let mut expected = 1u32;
    let mut before = Vec::new();
    for n in 0..60u32 {
        let queue = &queues[n as usize % 2];
        before = vec![queue.launch(&kernel, &[Arg::from(&buffer), Arg::from(n)], [1], &before)?];
        expected = expected.wrapping_mul(5).wrapping_add(n);
    }
    assert_eq!(queues[0].read_all::<u32>(&buffer, &before)?, [expected]);
    Ok(())
}

pub fn marker_and_barrier(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    let options = QueueOptions { out_of_order: true, ..QueueOptions::default() };
    let queue = match Queue::with_options(&context, device, &options) {
        Err(Error::Unsupported { .. }) => Queue::new(&context)?,
        other => other?,
    };
    let a = Buffer::new(&context, MemFlags::READ_WRITE, 1 << 20)?;
    let b = Buffer::new(&context, MemFlags::READ_WRITE, 1 << 20)?;
    let filled = queue.fill(&a, 3u32, 0..1 << 20, &[])?;
    let marker = queue.marker(std::slice::from_ref(&filled))?;
    // Nothing but the barrier keeps the copy after the fill.
    let barrier = queue.barrier(&[])?;
    queue.copy((&a, 0), (&b, 0), 1 << 20, &[])?;
    queue.barrier(&[])?;
    assert!(queue.read_all::<u32>(&b, &[])?.iter().all(|v| *v == 3));
    for event in [filled, marker, barrier] {
        event.wait()?;
        assert_eq!(event.status()?, Status::Complete);
    }
    Ok(())
}

pub fn user_events(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let buffer = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[1u32; 64])?;
    let (first, second) = (UserEvent::new(queue.context())?, UserEvent::new(queue.context())?);
    let wait = [first.event().clone(), second.event().clone()];
    let read = queue.read::<u32>(&buffer, 0, 64, &wait)?;
    queue.flush()?;
    assert_eq!(first.event().status()?, Status::Submitted);
    first.complete()?;
    std::thread::sleep(Duration::from_millis(20));
    assert!(!read.event().status()?.is_final());
    // From another thread.
    std::thread::spawn(move || second.complete()).join().unwrap()?;
    assert_eq!(read.wait()?, [1; 64]);
    Ok(())
}

fn waiting(queue: &Queue, gate: &UserEvent) -> Result<Event> {
    let buffer = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[1u32; 64])?;
    let event = queue.fill(&buffer, 2u32, 0..256, std::slice::from_ref(gate.event()))?;
    queue.flush()?;
    Ok(event)
}

pub fn user_event_failure(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let gate = UserEvent::new(queue.context())?;
    let user = gate.event().clone();
    let event = waiting(&queue, &gate)?;
    gate.fail(-5000)?;
    assert_eq!(user.status()?, Status::Failed(-5000));
    assert!(matches!(event.wait(), Err(Error::Driver(_))), "{event:?}");
    assert!(matches!(event.status()?, Status::Failed(_)));
    let (tell, told) = mpsc::channel();
    event.on_complete(move |status| tell.send(status).unwrap())?;
    assert!(matches!(told.recv_timeout(PATIENCE).unwrap(), Status::Failed(_)));
    // A code that is none.
    assert!(matches!(UserEvent::new(queue.context())?.fail(0), Err(Error::InvalidInput { .. })));
    Ok(())
}

/// Nothing waits for ever for an event that nobody can set any more.
pub fn user_event_dropped(device: &Device) -> Result<()> {
    let queue = queue(device)?;
    let gate = UserEvent::new(queue.context())?;
    let user = gate.event().clone();
    let event = waiting(&queue, &gate)?;
    drop(gate);
    assert_eq!(user.status()?, Status::Failed(-1));
    assert!(event.wait().is_err());
    // A read that will never be done gives its memory back, too.
    let gate = UserEvent::new(queue.context())?;
    let buffer = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[1u32; 64])?;
    let read = queue.read::<u32>(&buffer, 0, 64, std::slice::from_ref(gate.event()))?;
    drop(gate);
    assert!(read.wait().is_err());
    Ok(())
}
