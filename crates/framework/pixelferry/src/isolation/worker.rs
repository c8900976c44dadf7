//! The child process: computes frames and publishes them as a stream.

use super::message::{Answer, ArgumentWork, Request, Work};
use super::worker_process::IS_CHILD;
use crate::backend_rows::{BACKENDS, BackendChoice};
use crate::backends::open_backend;
use crate::choice::ApiChoice as _;
use crate::stream::{StreamDisplay, StreamOptions, publish};
use interop_core::describe::answer_process::AnswerOutput;
use interop_core::{Arg, ComputeBackend, ComputeMemory, Error, Kernel, Link, LinkOptions, Policy, Profiles, Result};
use std::io::{BufRead, stdin};
use std::sync::Arc;

/// Computes the frames of an isolated link, if this process is the child of one; returns `false` otherwise. Call it first
/// in `main`, before the program opens anything, and return where it returns `true`. The environment variable
/// `PIXELFERRY_ISOLATED_CHILD` makes a process such a child, which runs kernels from its standard input.
///
/// # Errors
/// [`Error::Unavailable`] where the program that started the child no longer reads or writes. That program receives
/// all other errors.
pub fn serve_child() -> Result<bool> {
    if std::env::var_os(IS_CHILD).is_none() {
        return Ok(false);
    }
    let mut output = AnswerOutput::take().map_err(silent)?;
    let mut worker = None;
    let mut input = stdin().lock();
    let mut line = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line).map_err(silent)? == 0 {
            return Ok(true);
        }
        let request = serde_json::from_str(&line).map_err(silent)?;
        let answer = match answered(&mut worker, request, &mut input) {
            Ok(None) => continue,
            Ok(Some(answer)) => answer,
            Err(error) if worker.is_none() => Answer::Unable(error.to_string()),
            Err(error) => Answer::Failed(error.to_string()),
        };
        let text = serde_json::to_string(&answer).map_err(silent)?;
        output.send(&text).map_err(silent)?;
        if let Answer::Unable(_) | Answer::PassedOver | Answer::Failed(_) = answer {
            return Ok(true);
        }
    }
}

fn silent(reason: impl ToString) -> Error {
    Error::unavailable("the program of an isolated link", reason.to_string(), "This process can only be its child.")
}

struct Worker {
    // Declared first, so that it ends before the memory that it uses.
    link: Link,
    stream: Arc<StreamDisplay>,
    backend: Arc<dyn ComputeBackend>,
    kernels: Vec<Arc<dyn Kernel>>,
    /// The memory of all arguments in the order of declaration.
    memory: Vec<Box<dyn ComputeMemory>>,
}

fn answered(worker: &mut Option<Worker>, request: Request, input: &mut impl BufRead) -> Result<Option<Answer>> {
    let answer = match (worker, request) {
        (worker @ None, Request::Open(work)) => {
            let Some(opened) = Worker::open(&work)? else { return Ok(Some(Answer::PassedOver)) };
            let opened = worker.insert(opened);
            Some(Answer::Ready(opened.backend.device().to_string()))
        }
        (Some(worker), Request::Write { memory, offset, bytes }) => {
            let mut content = vec![0; bytes];
            input.read_exact(&mut content).map_err(silent)?;
            let memory = worker.memory.get_mut(memory).ok_or_else(|| silent("unknown memory"))?;
            memory.write(offset, &content).map(|()| None)?
        }
        (Some(worker), Request::Resize(surface)) => {
            // The link keeps its surface, whose frames continue.
            let refused = worker.link.resize(surface).err();
            refused.map(|error| Answer::Refused(*worker.link.desc(), error.to_string()))
        }
        (Some(worker), Request::Launch(arguments)) => worker.launch(&arguments).map(|()| None)?,
        (_, request) => return Err(silent(format!("unexpected request: {request:?}"))),
    };
    Ok(answer)
}

impl Worker {
    /// Returns `None` for a device that is passed over.
    fn open(work: &Work) -> Result<Option<Self>> {
        let (choice, sources) = (BackendChoice::parse(&work.backend)?, work.sources());
        let backend = open_backend(choice, &sources)?;
        let row = BACKENDS.iter().find(|row| row.named.choice == choice);
        if work.is_strict && row.is_some_and(|row| !(row.suits_auto)(backend.device(), &sources)) {
            return Ok(None);
        }
        let kernels = sources.iter().map(|source| backend.build(source)).collect::<Result<_>>()?;
        let mut memory = Vec::new();
        for argument in work.kernels.iter().flat_map(|kernel| &kernel.arguments) {
            if let ArgumentWork::Memory(bytes) = argument {
                let mut zeros = backend.allocate(*bytes)?;
                zeros.write(0, &vec![0; *bytes])?;
                memory.push(zeros);
            }
        }
        let stream = publish(&work.stream, backend.as_ref(), StreamOptions::default())?;
        let policy = if work.remembers { Policy::default() } else { Policy::default().with_profiles(Profiles::Off) };
        let link = Link::open(Arc::clone(&backend), stream.clone(), work.surface, LinkOptions::new(policy))?;
        Ok(Some(Self { link, stream, backend, kernels, memory }))
    }

    fn launch(&mut self, arguments: &[Vec<ArgumentWork>]) -> Result<()> {
        let Self { link, stream, kernels, memory, .. } = self;
        link.frame(|frame| {
            let mut memory = memory.iter();
            let mut next = || memory.next().map(|memory| memory.as_ref() as &dyn ComputeMemory);
            for (kernel, arguments) in kernels.iter().zip(arguments) {
                let arguments: Option<Vec<Arg<'_>>> =
                    arguments.iter().map(|argument| argument.with(&mut next)).collect();
                frame.launch(kernel.as_ref(), &arguments.ok_or_else(|| silent("unknown memory"))?)?;
            }
            Ok(())
        })?;
        link.flush()?;
        stream.publish(&link.shown()?).map(drop)
    }
}
