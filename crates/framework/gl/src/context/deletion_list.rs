//! Objects that any thread dropped while their context was not current.

use interop_core::describe::PlainMutex;
use std::sync::MutexGuard;
use std::sync::atomic::{AtomicBool, Ordering};

/// The objects that wait for their context. Both flags change under the lock only, so that an object is never on the list
/// with its flag unset: nobody would look for it again.
pub(crate) struct DeletionList<T> {
    objects: PlainMutex<Vec<T>>,
    /// Spares the lock in each call of the context.
    has_any: AtomicBool,
    /// True where the context is gone, together with its objects.
    is_closed: AtomicBool,
}

impl<T> Default for DeletionList<T> {
    fn default() -> Self {
        Self { objects: PlainMutex::default(), has_any: AtomicBool::default(), is_closed: AtomicBool::default() }
    }
}

impl<T> DeletionList<T> {
    /// Adds an object, or returns it where the context is gone.
    pub(crate) fn push(&self, object: T) -> Option<T> {
        let mut objects = self.lock();
        if self.is_closed() {
            return Some(object);
        }
        objects.push(object);
        self.has_any.store(true, Ordering::Release);
        None
    }

    /// Takes the objects out. Dropping one may add another.
    pub(crate) fn take(&self) -> Vec<T> {
        if !self.has_any.load(Ordering::Acquire) {
            return Vec::new();
        }
        let mut objects = self.lock();
        self.has_any.store(false, Ordering::Release);
        std::mem::take(&mut *objects)
    }

    /// Takes the objects out and accepts no further ones, because the context is gone.
    pub(crate) fn close(&self) -> Vec<T> {
        let mut objects = self.lock();
        self.is_closed.store(true, Ordering::Release);
        std::mem::take(&mut *objects)
    }

    /// True where the context is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.is_closed.load(Ordering::Acquire)
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Vec<T>> {
        self.objects.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn no_object_stays_behind_when_threads_drop_while_the_context_looks() {
        const EACH: usize = 20_000;
        let list = DeletionList::default();
        let taken = thread::scope(|scope| {
            let drop = || (0..EACH).for_each(|object| assert_eq!(list.push(object), None));
            let threads = [scope.spawn(drop), scope.spawn(drop)];
            let mut taken = 0;
            while threads.iter().any(|thread| !thread.is_finished()) {
                taken += list.take().len();
            }
            taken
        });
        assert_eq!(taken + list.take().len(), 2 * EACH);
        assert!(list.lock().is_empty());
    }

    #[test]
    fn a_closed_list_returns_what_it_does_not_take() {
        let list = DeletionList::default();
        assert_eq!(list.push(1), None);
        assert_eq!((list.close(), list.push(2)), (vec![1], Some(2)));
        assert!(list.is_closed() && list.take().is_empty());
    }
}
