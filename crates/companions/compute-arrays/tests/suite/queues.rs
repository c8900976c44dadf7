//! Arrays in queues: results that are awaited, against the same operations without a queue.

use crate::suite::sample::worst;
use crate::suite::{Sample, has, is_a_device, is_of_wgsl, lengths, samples};
use compute_arrays::{ArrayQueue, Arrays, Expr, Monoid, Philox, Scan};
use interop_core::{Arg, ComputeQueue, Error, Event, EventStatus, KernelSource, QueueOptions, Target, UserEvent};
use pixelferry_testing::{Level, level};
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};

struct Unpark(std::thread::Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        std::thread::park();
    }
}

/// Runs the test in each language that has queues; elsewhere an error says so.
fn on_every_language(mut test: impl FnMut(&Arrays)) {
    crate::suite::on_every_language(|arrays| {
        if !is_of_wgsl(arrays) {
            return test(arrays);
        }
        let error = arrays.queue(QueueOptions::in_order()).unwrap_err();
        assert!(
            matches!(error, Error::Unsupported { .. }) && error.to_string().contains("no further queues"),
            "{error}"
        );
    });
}

fn queues(arrays: &Arrays) -> [ArrayQueue; 2] {
    [QueueOptions::in_order(), QueueOptions::out_of_order()].map(|options| arrays.queue(options).unwrap())
}

/// Everything that gives a result, in a queue and without, of one type and length.
fn same_results<T: Sample>(arrays: &Arrays, queue: &ArrayQueue, len: usize) {
    let values = samples::<T>(len, 11);
    let what = format!("{len} elements of {}", T::KIND);
    let plain = arrays.from_slice(&values).unwrap();
    let (x, _) = queue.from_slice(&values).unwrap();
    // All of it is on its way before anything is waited for.
    let (doubled, _) = queue.eval(&x + &x).unwrap();
    let single = [queue.sum(&x).unwrap(), queue.product(&x).unwrap(), queue.sum(&doubled).unwrap()];
    let (running, _) = queue.scan(&x, &Monoid::sum(), Scan::Inclusive).unwrap();
    let (before, _) = queue.scan(&doubled, &Monoid::sum(), Scan::Exclusive).unwrap();
    let (values_back, running_back) = (queue.to_vec(&x).unwrap(), queue.to_vec(&running).unwrap());
    let extremes = (len > 0).then(|| {
        let places = [queue.argmin(&x).unwrap(), queue.argmax(&x).unwrap()];
        ([queue.minimum(&x).unwrap(), queue.maximum(&x).unwrap()], places)
    });
    // Changed after its results were asked for, and before they are there.
    let (mut y, _) = queue.eval(&x).unwrap();
    let before_change = queue.to_vec(&y).unwrap();
    queue.update(&mut y, |old| old + &doubled).unwrap();
    queue.assign(&mut y, &doubled).unwrap();
    let after_change = queue.to_vec(&y).unwrap();
    drop((x, running));

    let same = |found: &[T], expected: &[T], part: &str| assert_eq!(worst(found, expected), 0.0, "{what}: {part}");
    let plain_doubled = arrays.eval(&plain + &plain).unwrap();
    same(&block_on(values_back).unwrap(), &values, "values");
    same(&before_change.wait().unwrap(), &values, "before the change");
    same(&after_change.wait().unwrap(), &plain_doubled.to_vec().unwrap(), "after the change");
    let expected = [plain.sum().unwrap(), plain.product().unwrap(), plain_doubled.sum().unwrap()];
    same(&single.map(|pending| block_on(pending).unwrap()), &expected, "sum, product, sum of doubled");
    let expected = plain.expr().cumulative_sum().unwrap().to_vec().unwrap();
    same(&running_back.wait().unwrap(), &expected, "running");
    let expected = plain_doubled.expr().scan(&Monoid::sum(), Scan::Exclusive).unwrap().to_vec().unwrap();
    // Without a queue, after the queue's work.
    same(&before.to_vec().unwrap(), &expected, "running, exclusive");
    if let Some((values, places)) = extremes {
        let expected = [plain.minimum().unwrap(), plain.maximum().unwrap()];
        same(&values.map(|pending| pending.wait().unwrap()), &expected, "extrema");
        let expected = [plain.argmin().unwrap(), plain.argmax().unwrap()];
        assert_eq!(places.map(|pending| block_on(pending).unwrap()), expected, "{what}: places");
    }
}

#[test]
fn results_are_awaited_and_are_those_without_a_queue() {
    on_every_language(|arrays| {
        for queue in &queues(arrays) {
            for &len in lengths() {
                same_results::<f32>(arrays, queue, len);
            }
            // Each type has kernels of its own, but no order of its own.
            if is_a_device(arrays) && level() == Level::Short {
                continue;
            }
            for len in [0, 1, 4097, 66_561] {
                same_results::<i32>(arrays, queue, len);
                same_results::<u64>(arrays, queue, len);
                if has::<f64>(arrays) {
                    same_results::<f64>(arrays, queue, len);
                }
            }
        }
    });
}

/// Numbers of every type are arguments of a queue's kernels, too.
#[test]
fn constants_of_every_type_reach_a_queues_kernels() {
    fn check<T: Sample>(queue: &ArrayQueue, add: T, wants: T) {
        let (x, _) = queue.tabulate(&[3], Expr::index().cast::<T>() + Expr::constant(add)).unwrap();
        let both = [queue.to_vec(&x).unwrap().wait().unwrap()[2], x.to_vec().unwrap()[2]];
        assert_eq!(worst(&both, &[wants; 2]), 0.0, "{}", T::KIND);
    }
    on_every_language(|arrays| {
        for queue in &queues(arrays) {
            check::<f32>(queue, 0.25, 2.25);
            check::<i32>(queue, -5, -3);
            check::<u32>(queue, 5, 7);
            check::<i64>(queue, -(1 << 40), 2 - (1 << 40));
            check::<u64>(queue, 1 << 40, 2 + (1 << 40));
            if has::<f64>(arrays) {
                check::<f64>(queue, 1e-9, 2.0 + 1e-9);
            }
        }
    });
}

/// Several queues and the backend's own, on the same arrays, with no wait list.
#[test]
fn arrays_keep_the_order_of_the_calls_over_queues() {
    on_every_language(|arrays| {
        let [first, second] = queues(arrays);
        let mut x = arrays.tabulate(&[5000], Expr::index().cast::<u32>()).unwrap();
        let mut expected: Vec<u32> = (0..5000).collect();
        let mut results = Vec::new();
        for turn in 0..12u32 {
            let queue = if turn % 2 == 0 { &first } else { &second };
            let more = u32::from(turn % 5 == 4);
            queue.update(&mut x, |old| old * 3 + turn).unwrap();
            if more == 1 {
                x.update(|old| old + 1).unwrap();
            }
            expected.iter_mut().for_each(|v| *v = v.wrapping_mul(3).wrapping_add(turn + more));
            let running = expected.iter().scan(0u32, |a, v| {
                *a = a.wrapping_add(*v);
                Some(*a)
            });
            let (scanned, _) = second.scan(&x, &Monoid::sum(), Scan::Inclusive).unwrap();
            let (sum, largest) = (first.sum(&x).unwrap(), queue.maximum(&scanned).unwrap());
            assert!(sum.event().status() <= EventStatus::Complete && largest.event().status() != EventStatus::Failed);
            results.push((sum, running.clone().last(), largest, running.max()));
        }
        assert_eq!(x.to_vec().unwrap(), expected);
        for (sum, expected_sum, largest, expected_largest) in results {
            assert_eq!(Some(sum.wait().unwrap()), expected_sum);
            assert_eq!(block_on(largest).ok(), expected_largest);
        }
    });
}

#[test]
fn what_waits_for_an_event_leaves_the_thread_free() {
    on_every_language(|arrays| {
        for queue in &queues(arrays) {
            let x = arrays.from_slice(&[1.0f32, 2.0, 3.0]).unwrap();
            let gate = UserEvent::new();
            let gated = queue.after(&[gate.event().clone()]);
            let sum = gated.sum(&x).unwrap();
            let (y, made) = gated.eval(&x * 2.0).unwrap();
            let values = queue.after(std::slice::from_ref(&made)).to_vec(&y).unwrap();
            assert!(!sum.event().is_settled() && !made.is_settled() && !values.event().is_settled());
            gate.complete();
            assert_eq!(block_on(values).unwrap(), [2.0, 4.0, 6.0]);
            assert_eq!(sum.wait().unwrap(), 6.0);
            made.wait().unwrap();
            // Work that waits for a failure fails, and nothing else does.
            let gate = UserEvent::new();
            let gated = queue.after(&[gate.event().clone()]);
            let (sum, event) = (
                gated.sum(&x).unwrap(),
                gated.reduce_into(&x, &Monoid::sum(), &mut arrays.empty(&[1]).unwrap()).unwrap(),
            );
            drop(gate);
            assert!(block_on(sum).is_err() && event.wait().is_err());
            assert_eq!(queue.sum(&x).unwrap().wait().unwrap(), 6.0);
            assert_eq!(x.sum().unwrap(), 6.0);
        }
    });
}

/// Results, arrays and queues that nobody keeps.
#[test]
fn what_is_dropped_early_goes_on() {
    on_every_language(|arrays| {
        let mut out = arrays.empty::<f32>(&[1]).unwrap();
        for turn in 0..20 {
            let queue = &arrays.queue(QueueOptions::in_order()).unwrap();
            let (x, _) = queue.tabulate(&[20_000], Expr::index().cast::<f32>() + turn as f32).unwrap();
            let gate = UserEvent::new();
            drop(queue.after(&[gate.event().clone()]).sum(&x).unwrap());
            std::mem::forget(queue.to_vec(&x).unwrap());
            queue.reduce_into(&x, &Monoid::max(), &mut out).unwrap();
            drop(x);
            gate.complete();
        }
        assert_eq!(out.to_vec().unwrap(), [20_018.0]);
        // A result may cross to another thread.
        let queue = arrays.queue(QueueOptions::in_order()).unwrap();
        let sum = queue.sum(&out).unwrap();
        assert_eq!(std::thread::spawn(move || sum.wait().unwrap()).join().unwrap(), 20_018.0);
        // An empty array gives a result as well.
        let none = arrays.empty::<f32>(&[0]).unwrap();
        assert_eq!(block_on(queue.sum(&none).unwrap()).unwrap(), 0.0);
        assert_eq!(queue.to_vec(&none).unwrap().wait().unwrap(), Vec::<f32>::new());
        queue.reduce_into(&none, &Monoid::product(), &mut out).unwrap();
        assert_eq!(out.to_vec().unwrap(), [1.0]);
        assert!(matches!(queue.minimum(&none), Err(Error::InvalidInput { .. })));
    });
}

#[test]
fn random_numbers_are_the_same_in_a_queue() {
    on_every_language(|arrays| {
        let queue = arrays.queue(QueueOptions::out_of_order()).unwrap();
        let (mut a, mut b) = (arrays.empty::<f32>(&[1000]).unwrap(), arrays.empty::<f32>(&[1000]).unwrap());
        let (mut one, mut other) = (Philox::new(5), Philox::new(5));
        one.uniform(&mut a).unwrap();
        queue.uniform(&mut other, &mut b).unwrap();
        assert_eq!(a.to_vec().unwrap(), queue.to_vec(&b).unwrap().wait().unwrap());
        one.normal(&mut a).unwrap();
        queue.normal(&mut other, &mut b).unwrap();
        assert_eq!((a.to_vec().unwrap(), one), (b.to_vec().unwrap(), other));
        let mut words = arrays.empty::<u32>(&[7]).unwrap();
        queue.integers(&mut other, &mut words).unwrap().wait().unwrap();
        assert_eq!(other.block(), one.block() + 2);
    });
}

/// The program's own kernel and copies, in the program's own queue, on arrays.
#[test]
fn arrays_enter_queues_of_the_program() {
    use cpu_fallback::CpuKernelExt;
    on_every_language(|arrays| {
        let backend = arrays.backend();
        let source = "__kernel void twice(PF_BUFFER(float, out), __global const float *from) {
            size_t i = get_global_id(0);
            if (i < PF_LEN(out)) PF_ITEM(out, i) = 2 * from[i];
        }";
        let cuda = "extern \"C\" __global__ void twice(PF_BUFFER(float, out), const float *from) {
            unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
            if (i < PF_LEN(out)) PF_ITEM(out, i) = 2 * from[i];
        }";
        // SAFETY: each item writes its own number below the target's length, and the other array is as long.
        let text = unsafe { KernelSource::new("twice").opencl_c(source).cuda_cpp(cuda) };
        let source = text.cpu_buffer(|out: &mut cpu_fallback::CpuBuffer<'_>, args: &cpu_fallback::CpuArgs<'_>| {
            let from = args.memory::<f32>(0)?;
            out.as_slice_mut::<f32>()?.iter_mut().zip(from).for_each(|(to, from)| *to = 2.0 * from);
            Ok(())
        });
        let kernel = backend.build(&source).unwrap();
        let queue: Arc<dyn ComputeQueue> = backend.queue(QueueOptions::in_order()).unwrap().into();
        let in_queue = arrays.on(queue.clone());
        let (x, _) = in_queue.tabulate(&[100], Expr::index().cast::<f32>()).unwrap();
        let mut y = arrays.empty::<f32>(&[100]).unwrap();
        let launched: Event = y
            .with_memory_mut(|y| {
                x.with_memory(|x| queue.launch(kernel.as_ref(), Target::buffer(y), &[Arg::Memory(x)], &[]))
            })
            .unwrap();
        let sum = in_queue.sum(&y + &x).unwrap();
        assert_eq!(block_on(sum).unwrap(), 3.0 * 4950.0);
        launched.wait().unwrap();
        // Out of the array, and in again.
        let memory = y.into_memory().unwrap();
        assert_eq!(memory.len(), 400);
        let y = arrays.from_memory::<f32>(memory, &[10, 10]).unwrap();
        assert_eq!(y.view().item(&[9, 9]).unwrap(), 198.0);
        let none = arrays.empty::<f32>(&[0]).unwrap();
        assert!(
            matches!(none.with_memory(|_| Ok(())), Err(Error::InvalidInput { .. })) && none.into_memory().is_none()
        );
    });
}

#[test]
fn arrays_and_queues_of_two_owners_do_not_mix() {
    on_every_language(|arrays| {
        let other = Arrays::new(arrays.backend().clone()).unwrap();
        let queue = arrays.queue(QueueOptions::in_order()).unwrap();
        let mut foreign = other.from_slice(&[1.0f32]).unwrap();
        let errors = [
            queue.sum(&foreign).err(),
            queue.eval(&foreign).err(),
            queue.argmax(&foreign).err(),
            queue.to_vec(&foreign).err(),
            queue.write(&mut foreign, &[2.0]).err(),
            queue.assign(&mut foreign, 2.0).err(),
            queue.scan(&foreign, &Monoid::sum(), Scan::Inclusive).err(),
            queue.uniform(&mut Philox::new(1), &mut foreign).err(),
        ];
        assert!(errors.iter().all(|error| matches!(error, Some(Error::Foreign { .. }))), "{errors:?}");
        assert_eq!(foreign.to_vec().unwrap(), [1.0]);
    });
}
