//! Arrays in queues: results that are awaited, and work without waiting.

use crate::array::Array;
use crate::context::Arrays;
use crate::element::{Element, Float, Integer};
use crate::expr::Expr;
use crate::monoid::{Monoid, Scan};
use crate::operations::random::{Distribution, Philox};
use crate::operations::reduce::Sought;
use crate::queue_context::QueueContext;
use bytemuck::cast_slice_mut;
use interop_core::{ComputeMemory, ComputeQueue, Event, QueueOptions, ReadBack, Result};
use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::Arc;
use std::task::{Context, Poll};

/// Operations on arrays in a [`ComputeQueue`]. Each call returns before the work has completed, with an [`Event`], or
/// with a [`PendingResult`] to be awaited. Created by [`Arrays::queue`], or from a queue of the program by
/// [`Arrays::on`].
///
/// ```
/// # use compute_arrays::Arrays;
/// # use interop_core::QueueOptions;
/// # use std::sync::Arc;
/// # fn block_on<F: std::future::Future>(future: F) -> F::Output {
/// #     let mut future = std::pin::pin!(future);
/// #     let mut context = std::task::Context::from_waker(std::task::Waker::noop());
/// #     loop {
/// #         if let std::task::Poll::Ready(value) = future.as_mut().poll(&mut context) { return value; }
/// #         std::thread::yield_now();
/// #     }
/// # }
/// # fn main() -> interop_core::Result<()> {
/// let arrays = Arrays::new(Arc::new(cpu_fallback::CpuBackend::new()?))?;
/// let queue = arrays.queue(QueueOptions::in_order())?;
/// let (x, _) = queue.from_slice(&[1.0f32, 2.0, 3.0])?;
/// let (y, _) = queue.eval(&x * &x)?;
/// let (sum, values) = (queue.sum(&y)?, queue.to_vec(&y)?);
/// // The device works; the program does something else, and then, in any executor:
/// block_on(async {
///     assert_eq!(sum.await?, 14.0);
///     assert_eq!(values.await?, [1.0, 4.0, 9.0]);
///     interop_core::Result::Ok(())
/// })
/// # }
/// ```
///
/// # Order
/// Arrays record the operations that use them. Operations on the same array run in the order of the calls, even in
/// different queues, and including those of [`Arrays`] and [`Array`] without a queue. Use [`ArrayQueue::after`] for
/// dependencies that arrays do not record.
///
/// # Lifetime
/// Queued work keeps everything it needs: arrays, results and the queue may be dropped at once.
///
/// # Errors
/// The call returns the errors of the operation without a queue. The event or the result reports errors of the device.
/// Memory that another owner can access (imports) cannot be used in queues.
#[derive(Clone)]
pub struct ArrayQueue {
    arrays: Arrays,
    queue_context: Rc<QueueContext>,
}

impl fmt::Debug for ArrayQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ArrayQueue").field("of", &self.arrays).field("options", &self.queue().options()).finish()
    }
}

impl Arrays {
    /// Creates a queue for these arrays, in addition to the backend's own.
    ///
    /// # Errors
    /// Those of [`interop_core::ComputeBackend::queue`].
    pub fn queue(&self, options: QueueOptions) -> Result<ArrayQueue> {
        Ok(self.on(self.backend().queue(options)?))
    }

    /// Uses a queue of this backend, in which the program also has other work. A queue of another backend is rejected
    /// ([`interop_core::Error::Foreign`]) at its first use.
    pub fn on(&self, queue: impl Into<Arc<dyn ComputeQueue>>) -> ArrayQueue {
        let queue_context =
            QueueContext { queue: queue.into(), wait: Vec::new(), last: RefCell::default(), scratch: Rc::default() };
        ArrayQueue { arrays: self.without_queue_context(), queue_context: Rc::new(queue_context) }
    }
}

impl ArrayQueue {
    /// Returns the context that these arrays belong to.
    pub fn arrays(&self) -> &Arrays {
        &self.arrays
    }

    /// Returns the queue, for kernels and copies of the program between the work on arrays.
    pub fn queue(&self) -> &Arc<dyn ComputeQueue> {
        &self.queue_context.queue
    }

    /// Returns this queue with operations that start after these events.
    #[must_use]
    pub fn after(&self, wait: &[Event]) -> Self {
        let queue_context = QueueContext {
            queue: self.queue_context.queue.clone(),
            wait: wait.to_vec(),
            last: RefCell::default(),
            scratch: self.queue_context.scratch.clone(),
        };
        Self { arrays: self.arrays.clone(), queue_context: Rc::new(queue_context) }
    }

    /// Returns the arrays whose operations go to this queue.
    fn here(&self) -> Arrays {
        self.arrays.with_queue_context(&self.queue_context)
    }

    /// Runs an operation, and returns its event and its result.
    fn queued<R>(&self, operation: impl FnOnce(&Arrays) -> Result<R>) -> Result<(R, Event)> {
        *self.queue_context.last.borrow_mut() = None;
        let result = operation(&self.here())?;
        let last = self.queue_context.last.borrow_mut().take();
        // Without elements there was no operation.
        let event = last.map_or_else(|| self.queue_context.queue.marker(&self.queue_context.wait), Ok)?;
        Ok((result, event))
    }

    /// [`Arrays::eval`] in this queue. The array can be used at once.
    ///
    /// # Errors
    /// The errors of [`Arrays::eval`] and of [`ArrayQueue`].
    pub fn eval<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<(Array<T>, Event)> {
        self.queued(|here| here.eval(expr))
    }

    /// [`Arrays::tabulate`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Arrays::tabulate`] and of [`ArrayQueue`].
    pub fn tabulate<'a, T: Element>(&self, shape: &[usize], expr: impl Into<Expr<'a, T>>) -> Result<(Array<T>, Event)> {
        self.queued(|here| here.tabulate(shape, expr))
    }

    /// [`Array::assign`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Array::assign`] and of [`ArrayQueue`].
    pub fn assign<'a, T: Element>(&self, array: &mut Array<T>, expr: impl Into<Expr<'a, T>>) -> Result<Event> {
        self.queued(|here| array.assign_on(here, &expr.into())).map(|((), event)| event)
    }

    /// [`Array::update`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Array::update`] and of [`ArrayQueue`].
    pub fn update<'a, T: Element>(
        &self,
        array: &mut Array<T>,
        f: impl FnOnce(Expr<'a, T>) -> Expr<'a, T>,
    ) -> Result<Event> {
        self.queued(|here| array.update_on(here, f)).map(|((), event)| event)
    }

    /// [`Expr::scan`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::scan`] and of [`ArrayQueue`].
    pub fn scan<'a, T: Element>(
        &self,
        expr: impl Into<Expr<'a, T>>,
        monoid: &Monoid<T>,
        scan: Scan,
    ) -> Result<(Array<T>, Event)> {
        self.queued(|here| expr.into().scan_on(Some(here), monoid, scan))
    }

    /// [`Expr::scan_into`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::scan_into`] and of [`ArrayQueue`].
    pub fn scan_into<'a, T: Element>(
        &self,
        expr: impl Into<Expr<'a, T>>,
        monoid: &Monoid<T>,
        scan: Scan,
        into: &mut Array<T>,
    ) -> Result<Event> {
        self.queued(|here| expr.into().scan_into_on(Some(here), monoid, scan, into)).map(|((), event)| event)
    }

    /// [`Expr::reduce`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::reduce`] and of [`ArrayQueue`].
    pub fn reduce<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>, monoid: &Monoid<T>) -> Result<PendingResult<T>> {
        let read = |memory: &mut dyn ComputeMemory| self.queue_context.read(memory, 0..size_of::<T>());
        let reduced = expr.into().reduce_on(Some(&self.here()), monoid, read)?;
        reduced
            .map_or_else(|| self.ready(monoid.identity()), |read| Ok(PendingResult::of(read, |bytes| first(bytes, 0))))
    }

    /// [`Expr::reduce_into`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::reduce_into`] and of [`ArrayQueue`].
    pub fn reduce_into<'a, T: Element>(
        &self,
        expr: impl Into<Expr<'a, T>>,
        monoid: &Monoid<T>,
        into: &mut Array<T>,
    ) -> Result<Event> {
        let expr = expr.into();
        if expr.is_of_none("ArrayQueue::reduce_into")? {
            return self.write(into, &[monoid.identity()]);
        }
        self.queued(|here| expr.reduce_into_on(Some(here), monoid, into)).map(|((), event)| event)
    }

    /// [`Expr::sum`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::sum`] and of [`ArrayQueue`].
    pub fn sum<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<T>> {
        self.reduce(expr, &Monoid::sum())
    }

    /// [`Expr::product`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::product`] and of [`ArrayQueue`].
    pub fn product<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<T>> {
        self.reduce(expr, &Monoid::product())
    }

    /// [`Expr::minimum`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::minimum`] and of [`ArrayQueue`].
    pub fn minimum<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<T>> {
        let expr = expr.into();
        expr.not_empty("ArrayQueue::minimum")?;
        self.reduce(expr, &Monoid::min())
    }

    /// [`Expr::maximum`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::maximum`] and of [`ArrayQueue`].
    pub fn maximum<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<T>> {
        let expr = expr.into();
        expr.not_empty("ArrayQueue::maximum")?;
        self.reduce(expr, &Monoid::max())
    }

    /// [`Expr::argmin`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::argmin`] and of [`ArrayQueue`].
    pub fn argmin<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<u64>> {
        let read = |memory: &mut dyn ComputeMemory| self.queue_context.read(memory, 0..16);
        let read = expr.into().extremum(Some(&self.here()), Sought::Least, read)?;
        Ok(PendingResult::of(read, |bytes| first(bytes, 1)))
    }

    /// [`Expr::argmax`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Expr::argmax`] and of [`ArrayQueue`].
    pub fn argmax<'a, T: Element>(&self, expr: impl Into<Expr<'a, T>>) -> Result<PendingResult<u64>> {
        let read = |memory: &mut dyn ComputeMemory| self.queue_context.read(memory, 0..16);
        let read = expr.into().extremum(Some(&self.here()), Sought::Greatest, read)?;
        Ok(PendingResult::of(read, |bytes| first(bytes, 1)))
    }

    /// [`Array::to_vec`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Array::to_vec`] and of [`ArrayQueue`].
    pub fn to_vec<T: Element>(&self, array: &Array<T>) -> Result<PendingResult<Vec<T>>> {
        const OP: &str = "ArrayQueue::to_vec";
        self.arrays.check_same(array.arrays(), OP)?;
        let bytes = array.len() * size_of::<T>();
        match array.memory_mut(OP)? {
            Some(memory) => Ok(PendingResult::of(self.queue_context.read(memory.as_ref(), 0..bytes)?, |bytes| {
                let mut values = vec![T::default(); bytes.len() / size_of::<T>()];
                cast_slice_mut(&mut values).copy_from_slice(bytes);
                values
            })),
            None => self.ready(Vec::new()),
        }
    }

    /// [`Array::write`] in this queue; the values are copied before this returns.
    ///
    /// # Errors
    /// The errors of [`Array::write`] and of [`ArrayQueue`].
    pub fn write<T: Element>(&self, array: &mut Array<T>, from: &[T]) -> Result<Event> {
        const OP: &str = "ArrayQueue::write";
        self.arrays.check_same(array.arrays(), OP)?;
        array.check_len(from.len(), OP)?;
        match array.memory_mut(OP)? {
            Some(mut memory) => {
                let mut bytes = self.queue_context.queue.host_buffer(size_of_val(from))?;
                bytes.copy_from_slice(bytemuck::cast_slice(from));
                self.queue_context.queue.write(memory.as_mut(), 0, bytes, &self.queue_context.wait)
            }
            None => self.queue_context.queue.marker(&self.queue_context.wait),
        }
    }

    /// [`Arrays::from_slice`] in this queue; the values are copied before this returns.
    ///
    /// # Errors
    /// The errors of [`Arrays::from_slice`] and of [`ArrayQueue`].
    // The result is an array, not a queue.
    #[allow(clippy::wrong_self_convention)]
    pub fn from_slice<T: Element>(&self, values: &[T]) -> Result<(Array<T>, Event)> {
        let mut array = self.arrays.empty(&[values.len()])?;
        let event = self.write(&mut array, values)?;
        Ok((array, event))
    }

    /// [`Philox::integers`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Philox::integers`] and of [`ArrayQueue`].
    pub fn integers<T: Integer>(&self, philox: &mut Philox, into: &mut Array<T>) -> Result<Event> {
        self.queued(|here| philox.fill(here, into, Distribution::Bits, "Philox::integers")).map(|((), event)| event)
    }

    /// [`Philox::uniform`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Philox::uniform`] and of [`ArrayQueue`].
    pub fn uniform<T: Float>(&self, philox: &mut Philox, into: &mut Array<T>) -> Result<Event> {
        self.queued(|here| philox.fill(here, into, Distribution::Uniform, "Philox::uniform")).map(|((), event)| event)
    }

    /// [`Philox::normal`] in this queue.
    ///
    /// # Errors
    /// The errors of [`Philox::normal`] and of [`ArrayQueue`].
    pub fn normal<T: Float>(&self, philox: &mut Philox, into: &mut Array<T>) -> Result<Event> {
        self.queued(|here| philox.fill(here, into, Distribution::Normal, "Philox::normal")).map(|((), event)| event)
    }

    /// Returns a result that needs no device.
    fn ready<T>(&self, value: T) -> Result<PendingResult<T>> {
        let event = self.queue_context.queue.marker(&self.queue_context.wait)?;
        Ok(PendingResult { event, from: Source::Value(Some(value)) })
    }
}

/// Returns value number `at` in `bytes`.
fn first<T: Element>(bytes: &[u8], at: usize) -> T {
    let mut value = [T::default()];
    if let Some(bytes) = bytes.get(at * size_of::<T>()..(at + 1) * size_of::<T>()) {
        cast_slice_mut(&mut value).copy_from_slice(bytes);
    }
    value[0]
}

/// A result that the device is computing: await it as a future, or wait for it. It may move to any thread, and be
/// dropped at any time.
#[must_use = "the result is in here"]
pub struct PendingResult<T> {
    event: Event,
    from: Source<T>,
}

enum Source<T> {
    Value(Option<T>),
    Read(ReadBack, fn(&[u8]) -> T),
}

impl<T> PendingResult<T> {
    fn of(read: ReadBack, value: fn(&[u8]) -> T) -> Self {
        Self { event: read.event().clone(), from: Source::Read(read, value) }
    }

    /// Returns the event of the result's completion, for wait lists.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Waits for the result on this thread.
    ///
    /// # Errors
    /// The error that ended the operation, or [`interop_core::Error::EventFailed`] where it did not begin.
    pub fn wait(mut self) -> Result<T> {
        match self.from {
            Source::Value(ref mut value) => {
                self.event.wait()?;
                value.take().ok_or_else(taken)
            }
            Source::Read(read, value) => Ok(value(&read.wait()?)),
        }
    }
}

fn taken() -> interop_core::Error {
    interop_core::Error::invalid("Pending", "the result was already taken")
}

impl<T> Unpin for PendingResult<T> {}

impl<T> Future for PendingResult<T> {
    type Output = Result<T>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        match &mut this.from {
            Source::Value(value) => {
                let done = Pin::new(&mut this.event).poll(context);
                done.map(|done| done.and_then(|()| value.take().ok_or_else(taken)))
            }
            Source::Read(read, value) => Pin::new(read).poll(context).map(|read| read.map(|bytes| value(&bytes))),
        }
    }
}

impl<T> fmt::Debug for PendingResult<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PendingResult").field("event", &self.event).finish()
    }
}
