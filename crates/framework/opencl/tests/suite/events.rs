//! Events: how far commands are, callbacks, futures, user events, wait lists.

use crate::suite::{buffer_of, queue, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{Arg, Buffer, CommandType, Device, Event, MemFlags, Queue, QueueOptions, Status, UserEvent};
use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, mpsc};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

pub fn status_and_wait(queue: &Queue) -> Result<()> {
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

pub fn callbacks(queue: &Queue) -> Result<()> {
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 1 << 16)?;
    let gate = UserEvent::new(queue.context())?;
    let event = queue.fill(&buffer, 1u8, 0..1 << 16, std::slice::from_ref(gate.event()))?;
    let (tell, told) = mpsc::channel();
    for _ in 0..3 {
        let tell = tell.clone();
        event.on_complete(move |_, status| tell.send(status).unwrap())?;
    }
    // One that panics harms nothing.
    event.on_complete(|_, _| panic!("in a callback"))?;
    assert!(matches!(event.on(Status::Queued, |_, _| {}), Err(Error::InvalidInput { .. })));
    queue.flush()?;
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "called before the command could run");
    gate.complete()?;
    for _ in 0..3 {
        assert_eq!(told.recv().unwrap(), Status::Complete);
    }
    // Values of a callback are dropped after its only call.
    drop(tell);
    assert!(told.recv().is_err());
    // Set after the command was done, it is called all the same.
    let (tell, told) = mpsc::channel();
    event.wait()?;
    event.on_complete(move |_, status| tell.send(status).unwrap())?;
    assert_eq!(told.recv().unwrap(), Status::Complete);
    Ok(())
}

/// A callback is given its event, and may be the last to have it, its queue and its context.
pub fn callbacks_get_the_event(device: &Device) -> Result<()> {
    for turn in 0..36 {
        let (tell, told) = mpsc::channel();
        {
            let queue = queue(device)?;
            let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 1 << 16)?;
            let gate = UserEvent::new(queue.context())?;
            let event = queue.fill(&buffer, 1u8, 0..1 << 16, std::slice::from_ref(gate.event()))?;
            for when in [Status::Running, Status::Complete] {
                let tell = tell.clone();
                event.on(when, move |event, status| {
                    let again = event.status().unwrap();
                    let kept = (turn % 3 > 0).then(|| event.clone());
                    tell.send((when, status, again, kept)).unwrap();
                })?;
            }
            if turn % 2 == 0 {
                gate.complete()?;
                drop(event);
            } else {
                drop((event, buffer, queue));
                gate.complete()?;
            }
        }
        drop(tell);
        let mut ended = false;
        while let Ok((when, status, again, event)) = told.recv() {
            assert_eq!(status, again, "{when:?}");
            if when == Status::Complete {
                assert_eq!(status, Status::Complete);
                ended = true;
                if let Some(event) = event {
                    // Kept beyond the callback, it is an event like others.
                    event.wait()?;
                    assert_eq!(event.command_type()?, Some(CommandType::FillBuffer));
                }
            }
        }
        assert!(ended, "nobody called");
    }
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
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut std::task::Context::from_waker(&waker)) {
            return value;
        }
        std::thread::park();
    }
}

pub fn futures(queue: &Queue) -> Result<()> {
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

pub fn profiling(given: &Queue) -> Result<()> {
    let (context, device) = (given.context(), given.device());
    let options = QueueOptions::default().with_profiling(true);
    let queue = Queue::with_options(context, device, &options)?;
    let source =
        "__kernel void k(__global float *a) { for (int i = 0; i < 1000; ++i) a[get_global_id(0)] += sin((float)i); }";
    let kernel = vouched(context, source, "")?.kernel("k")?;
    let buffer = Buffer::with_data(context, MemFlags::READ_WRITE, &[0f32; 4096])?;
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
    let event = super::queue(device)?.marker(&[])?;
    event.wait()?;
    assert!(matches!(event.profile(), Err(Error::InvalidInput { .. })));
    Ok(())
}

/// A chain over two queues that nobody flushes.
pub fn wait_lists(given: &Queue) -> Result<()> {
    let context = given.context();
    let queues = [Queue::new(context)?, Queue::new(context)?];
    let source = "__kernel void k(__global uint *a, uint n) { a[0] = a[0] * 5 + n; }";
    let kernel = vouched(context, source, "")?.kernel("k")?;
    let buffer = Buffer::with_data(context, MemFlags::READ_WRITE, &[1u32])?;
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

pub fn marker_and_barrier(given: &Queue) -> Result<()> {
    let (context, device) = (given.context(), given.device());
    let options = QueueOptions::default().with_out_of_order(true);
    let queue = match Queue::with_options(context, device, &options) {
        Err(Error::Unsupported { .. }) => Queue::new(context)?,
        other => other?,
    };
    let a = Buffer::new(context, MemFlags::READ_WRITE, 1 << 20)?;
    let b = Buffer::new(context, MemFlags::READ_WRITE, 1 << 20)?;
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

pub fn user_events(queue: &Queue) -> Result<()> {
    let buffer = buffer_of(queue, &[1u32; 64])?;
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
    let buffer = buffer_of(queue, &[1u32; 64])?;
    let event = queue.fill(&buffer, 2u32, 0..256, std::slice::from_ref(gate.event()))?;
    queue.flush()?;
    Ok(event)
}

pub fn user_event_failure(queue: &Queue) -> Result<()> {
    let gate = UserEvent::new(queue.context())?;
    let user = gate.event().clone();
    let event = waiting(queue, &gate)?;
    // The code of a driver that has too little memory; nothing of the kind happened.
    gate.fail(-5)?;
    assert_eq!(user.status()?, Status::Failed(-5));
    for failed in [user.wait(), block_on(user.clone())] {
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("user event") && text.contains("error code -5"), "{text}");
    }
    for failed in [event.wait(), block_on(event.clone())] {
        let text = failed.unwrap_err().to_string();
        assert!(text.contains("user event") && !text.contains("smaller surface"), "{text}");
    }
    assert!(matches!(event.status()?, Status::Failed(_)));
    let (tell, told) = mpsc::channel();
    event.on_complete(move |_, status| tell.send(status).unwrap())?;
    assert!(matches!(told.recv().unwrap(), Status::Failed(_)));
    // Later commands that wait for either are refused at once, and those that do not wait for them go on.
    let buffer = buffer_of(queue, &[1u8; 4])?;
    for failed in [&user, &event] {
        let wait = std::slice::from_ref(failed);
        assert!(matches!(queue.marker(wait), Err(Error::Driver(_))));
        assert!(matches!(queue.fill(&buffer, 2u8, 0..4, wait), Err(Error::Driver(_))));
        assert!(matches!(queue.read_into(&buffer, 0, &mut [0u8; 4], wait), Err(Error::Driver(_))));
    }
    assert_eq!(queue.read_all::<u8>(&buffer, &[])?, [1; 4]);
    // A code that is none.
    for none in [0, 1, i32::MIN] {
        assert!(matches!(UserEvent::new(queue.context())?.fail(none), Err(Error::InvalidInput { .. })));
    }
    Ok(())
}

/// Commands whose events nobody holds any more fail by their wait lists, and by those of others.
pub fn user_event_failure_unheld(queue: &Queue) -> Result<()> {
    let buffer = buffer_of(queue, &[1u8; 4])?;
    for code in [Some(-5000), None] {
        let gate = UserEvent::new(queue.context())?;
        let first = queue.fill(&buffer, 2u8, 0..4, std::slice::from_ref(gate.event()))?;
        let second = queue.fill(&buffer, 3u8, 0..4, &[first.clone(), gate.event().clone()])?;
        drop(queue.marker(&[second, first])?);
        code.map_or(Ok(()), |code| gate.fail(code))?;
        // A driver may tell here that commands failed.
        if let Err(error) = queue.finish() {
            println!("NOTE: clFinish: {error}");
        }
        let read = queue.read_all::<u8>(&buffer, &[]);
        println!("NOTE: then a read: {read:?}");
        assert_eq!(read?, [1; 4]);
    }
    Ok(())
}

/// A callback that was set before the command failed by its wait list.
pub fn callbacks_of_failed_commands(queue: &Queue) -> Result<()> {
    let gate = UserEvent::new(queue.context())?;
    let event = waiting(queue, &gate)?;
    let (tell, told) = mpsc::channel();
    event.on_complete(move |_, status| tell.send(status).unwrap())?;
    gate.fail(-5000)?;
    assert!(event.wait().is_err() && matches!(event.status()?, Status::Failed(_)));
    let Ok(status) = told.recv_timeout(Duration::from_secs(2)) else {
        let reason = "the callback of a command that clGetEventInfo says has failed by its wait list was not called";
        let operation = "clSetEventCallback";
        return Err(Error::Unsupported { operation, device: queue.device().name().into(), reason: reason.into() });
    };
    assert!(matches!(status, Status::Failed(_)), "{status:?}");
    Ok(())
}

/// Nothing waits forever for an event that nobody can set any more.
pub fn user_event_dropped(queue: &Queue) -> Result<()> {
    let gate = UserEvent::new(queue.context())?;
    let user = gate.event().clone();
    let event = waiting(queue, &gate)?;
    drop(gate);
    assert_eq!(user.status()?, Status::Failed(-1));
    match user.wait() {
        Err(Error::EventFailed { reason }) => assert!(reason.contains("dropped before it was completed"), "{reason}"),
        other => panic!("{other:?}"),
    }
    let text = event.wait().unwrap_err().to_string();
    assert!(text.contains("user event") && !text.contains("CL_DEVICE_NOT_FOUND"), "{text}");
    // A read that will never be done gives its memory back, too.
    let gate = UserEvent::new(queue.context())?;
    let buffer = buffer_of(queue, &[1u32; 64])?;
    let read = queue.read::<u32>(&buffer, 0, 64, std::slice::from_ref(gate.event()))?;
    drop(gate);
    assert!(read.wait().is_err());
    Ok(())
}
