//! Queues: operations on threads beside the program.

use crate::kernel::CpuKernel;
use crate::launch::{Engine, argument};
use crate::memory::WHAT;
use crate::raw::{Bytes, Pages};
use crate::workers::{Job, Workers};
use interop_core::compute::{Command, DeviceEvent, LaunchOf, Piece, Queue, QueueDriver, QueueMemory, Start};
use interop_core::{Arg, Argument, ComputeMemory, ComputeQueue, Error, QueueOptions, Result, View};
use std::sync::Arc;

/// Creates a queue of [`crate::CpuBackend`]: with one thread if it is in order, otherwise with as many as run kernels.
pub(crate) fn queue(engine: &Arc<Engine>, options: QueueOptions) -> Result<Box<dyn ComputeQueue>> {
    let threads = if options.is_in_order() { 1 } else { engine.crew.threads().max(2) };
    let workers = Workers::new(threads, options.profiling)?;
    Ok(Box::new(Queue::new(options, CpuQueue { engine: engine.clone(), workers })))
}

struct CpuQueue {
    engine: Arc<Engine>,
    workers: Workers,
}

/// A kernel for another thread.
struct Launch {
    kernel: CpuKernel,
    view: View,
    items: Option<usize>,
    /// The arguments; the command contains their memory.
    values: Vec<Argument<()>>,
}

impl QueueDriver for CpuQueue {
    type Block = Arc<Pages>;
    type Launch = Launch;

    fn queued<'m>(&self, memory: &'m dyn ComputeMemory) -> Result<QueueMemory<'m, Arc<Pages>>> {
        let memory = self.engine.memory(memory)?;
        Ok(QueueMemory { hazards: &memory.hazards, block: memory.bytes.pages().cloned() })
    }

    fn launch(&self, launch: &LaunchOf<'_>) -> Result<Option<Launch>> {
        let value = |arg: &Arg<'_>| arg.with_memory(|memory| self.engine.memory(memory).map(drop));
        let values = launch.args.iter().map(value).collect::<Result<_>>()?;
        let kernel = self.engine.kernel(launch.kernel)?.clone();
        Ok(Some(Launch { kernel, view: launch.view, items: launch.items, values }))
    }

    fn is_own(&self, _: &dyn DeviceEvent) -> bool {
        // No device orders operations here: when an operation starts, those that it follows have ended.
        false
    }

    fn start(&self, Start { mut completer, .. }: Start, command: Command<Arc<Pages>, Launch>) -> Result<()> {
        completer.submitted(None);
        let engine = self.engine.clone();
        self.workers.start(Job { completer, work: Box::new(move || run(&engine, command)) });
        Ok(())
    }
}

fn run(engine: &Engine, command: Command<Arc<Pages>, Launch>) -> Result<()> {
    match command {
        Command::Launch { launch, target, memory } => run_kernel(engine, &launch, target, memory),
        Command::Read { from: Piece { block, range }, mut into, slot } => {
            into.copy_from_slice(&Bytes::from(block).read(range, &WHAT)?);
            slot.put(into);
            Ok(())
        }
        Command::Write { from, to: Piece { block, range } } => {
            Bytes::from(block).write(range, &WHAT)?.copy_from_slice(&from);
            Ok(())
        }
        Command::Copy { from, to } => {
            let from_bytes = Bytes::from(from.block);
            let source = from_bytes.read(from.range, &"the source")?;
            Bytes::from(to.block).write(to.range, &"the destination")?.copy_from_slice(&source);
            Ok(())
        }
        Command::Fill { to: Piece { block, range }, pattern } => {
            let mut pages = Bytes::from(block);
            let mut bytes = pages.write(range, &WHAT)?;
            bytes.chunks_exact_mut(pattern.len()).for_each(|chunk| chunk.copy_from_slice(&pattern));
            Ok(())
        }
        Command::Nothing => Ok(()),
    }
}

fn run_kernel(engine: &Engine, launch: &Launch, target: Piece<Arc<Pages>>, memory: Vec<Arc<Pages>>) -> Result<()> {
    let mut pages = Bytes::from(target.block);
    let mut bytes = pages.write(target.range, &"the target")?;
    let memory: Vec<_> = memory.into_iter().map(Bytes::from).collect();
    let mut memory = memory.iter();
    let hold = |(index, value): (usize, &Argument<()>)| {
        value.with_memory(|()| {
            let bytes = memory.next().ok_or_else(|| Error::refused(format!("{} is missing", argument(index))))?;
            bytes.read(0..bytes.len(), &argument(index))
        })
    };
    let held = launch.values.iter().enumerate().map(hold).collect::<Result<Vec<_>>>()?;
    engine.launch(&launch.kernel, launch.view, launch.items, &mut bytes, &held)
}
