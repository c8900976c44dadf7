//! Completes chains of events without recursion, so that a long chain does not exhaust the stack.

use std::cell::RefCell;
use std::collections::VecDeque;

type Job = Box<dyn FnOnce()>;

thread_local! {
    /// Jobs that were added while one runs on this thread.
    static JOBS: RefCell<Option<VecDeque<Job>>> = const { RefCell::new(None) };
}

/// Removes the list again, even after a panic.
struct Outermost;

impl Drop for Outermost {
    fn drop(&mut self) {
        let left = JOBS.try_with(|jobs| jobs.take());
        drop(left);
    }
}

/// Runs `job` now, or after the one that is running on this thread.
pub(super) fn flat(job: Job) {
    let mut job = Some(job);
    // While the thread ends the list is gone; then the job runs on the stack.
    let later = JOBS
        .try_with(|jobs| match &mut *jobs.borrow_mut() {
            Some(list) => {
                list.extend(job.take());
                true
            }
            empty => {
                *empty = Some(VecDeque::new());
                false
            }
        })
        .unwrap_or(false);
    if later {
        return;
    }
    let _outermost = Outermost;
    while let Some(next) = job {
        next();
        job = JOBS.try_with(|jobs| jobs.borrow_mut().as_mut().and_then(VecDeque::pop_front)).ok().flatten();
    }
}
