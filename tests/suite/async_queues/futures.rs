//! Events and read-backs as futures.

use super::rig::{Outcome, Rig, ensure, items, mixed, same};
use pixelferry::QueueOptions;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Wake, Waker};
use std::time::Duration;

pub fn pollster(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut out, a) = (rig.memory(100, 1), rig.memory(100, 2));
    pollster::block_on(async {
        let event = rig.mix(queue.as_ref(), out.as_mut(), a.as_ref(), 5, &[])?;
        event.clone().await?;
        let read = queue.read(out.as_ref(), 0..400, &[])?.await?;
        event.await?;
        same("items", items(&read), vec![mixed(1, 2, 5); 100])
    })
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap()
}

pub fn tokio_many(rig: &Rig) -> Outcome {
    let queues = [rig.in_order(), rig.queue(QueueOptions::out_of_order())];
    let mut memories: Vec<_> = (0..100).map(|i| rig.memory(1000, i)).collect();
    runtime().block_on(async {
        let mut tasks = Vec::new();
        for (i, memory) in memories.iter_mut().enumerate() {
            let queue = &queues[i % 2];
            queue.fill(memory.as_mut(), 0..2000, &(i as u32).to_ne_bytes().map(|b| b ^ 1), &[])?;
            // A read-back may go to any task: it holds no memory of this thread.
            tasks.push(tokio::spawn(queue.read(memory.as_ref(), 1996..2004, &[])?));
        }
        for (i, task) in (0..).zip(tasks) {
            let read = task.await??;
            same("items", items(&read), vec![i ^ 0x0101_0101, i])?;
        }
        Ok(())
    })
}

pub fn tokio_cancel(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let mut memory = rig.memory(1000, 3);
    let (user, wait) = rig.held();
    let event = queue.fill(memory.as_mut(), 0..4000, &[1], &wait)?;
    let read = queue.read(memory.as_ref(), 0..4000, &[])?;
    runtime().block_on(async {
        let mut again = event.clone();
        let short = Duration::from_millis(5);
        ensure("it did not wait", tokio::time::timeout(short, &mut again).await.is_err())?;
        // The future is dropped by the timeout, the operation is not.
        ensure(
            "it did not wait",
            tokio::time::timeout(short, queue.read(memory.as_ref(), 0..40, &[])?).await.is_err(),
        )?;
        let mut read = pin!(read);
        for _ in 0..20 {
            tokio::select! {
                biased;
                _ = &mut read => return Err("it did not wait".into()),
                () = tokio::time::sleep(Duration::from_millis(1)) => {}
            }
        }
        user.complete();
        // The same futures go on after all that.
        same("items", items(&read.await?), vec![0x0101_0101; 1000])?;
        again.await?;
        Ok(())
    })
}

struct NoWaker;

impl Wake for NoWaker {
    fn wake(self: Arc<Self>) {}
}

pub fn no_waker_left(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (user, wait) = rig.held();
    let event = queue.marker(&wait)?;
    let nothing = Arc::new(NoWaker);
    for _ in 0..10 {
        let mut clone = pin!(event.clone());
        let waker = Waker::from(nothing.clone());
        let mut context = Context::from_waker(&waker);
        ensure("it did not wait", clone.as_mut().poll(&mut context).is_pending())?;
        ensure("it did not wait", clone.as_mut().poll(&mut context).is_pending())?;
        same("wakers of one future", Arc::strong_count(&nothing), 3)?;
    }
    same("wakers of none", Arc::strong_count(&nothing), 1)?;
    user.complete();
    Ok(event.wait()?)
}
