//! Uploads, kernels and read-backs that overlap, on every compute device of the machine or on one, and what that saves.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use pixelferry::driver::compute::now;
use pixelferry::{BackendChoice, ComputeBackend, Error, command::check_writable, open_all_backends, open_backend};
use pixelferry_demo::options::choices;
use pixelferry_demo::{say, terminal};
use pixelferry_examples::engine::Failure;
use pixelferry_examples::overlap::{Pipeline, Plan, Run, Stage, svg};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Barrier};

/// Run batches of upload, kernel and read-back one after another, then overlapping, and draw both timelines.
#[derive(Parser)]
struct Cli {
    /// Batches in a run.
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u16).range(1..))]
    batches: u16,
    /// Size of a batch in KiB. Beyond 256 MiB in all, runs take page-locked memory anew, and longer for it.
    #[arg(long, default_value_t = 4 * 1024, value_parser = clap::value_parser!(u32).range(1..=4 << 20))]
    kib: u32,
    /// Runs of each kind; the best counts.
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..))]
    runs: u16,
    /// On this one alone, or fail and say why. [default: all that have queues]
    #[arg(long, value_parser = choices::<BackendChoice>())]
    backend: Option<BackendChoice>,
    /// File to save the timelines to (SVG).
    #[arg(long, default_value = "overlap.svg", value_name = "FILE")]
    out: PathBuf,
}

fn best(runs: u16, mut run: impl FnMut() -> Result<Run, Error>) -> Result<Run, Error> {
    let mut best = run()?;
    for _ in 1..runs {
        let next = run()?;
        if next.total < best.total {
            best = next;
        }
    }
    Ok(best)
}

fn ms(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}

/// Both kinds of run, told and named.
fn measure(cli: &Cli, pipeline: &mut Pipeline) -> Result<Vec<(String, Run)>, Failure> {
    let batches = usize::from(cli.batches);
    let serial = best(cli.runs, || pipeline.serial(batches))?;
    let overlapped = best(cli.runs, || pipeline.overlapped(batches))?;
    let device = pipeline.device();
    say!(
        "{device}\n  one queue {:.2} ms, three queues {:.2} ms: {:.2} times as fast",
        ms(serial.total),
        ms(overlapped.total),
        serial.total as f64 / overlapped.total.max(1) as f64
    )?;
    match Stage::ALL.map(|stage| (serial.busy(stage), stage)).into_iter().max_by_key(|(busy, _)| *busy) {
        Some((floor, stage)) if floor > 0 => {
            let parts = Stage::ALL.map(|stage| format!("{} {:.2} ms", stage.name(), ms(serial.busy(stage))));
            say!(
                "  alone: {}; so no less than {:.2} ms ({}), at most {:.2} times as fast",
                parts.join(", "),
                ms(floor),
                stage.name(),
                serial.total as f64 / floor as f64
            )?;
        }
        _ => say!("  the driver gives no times, so there is no timeline")?,
    }
    Ok(vec![(format!("{device}, one queue"), serial), (format!("{device}, three queues"), overlapped)])
}

/// All devices at once, each from a thread of its own, compared with `alone`, their times one after another.
fn together(batches: usize, plans: &[Plan], alone: u64) -> Result<(), Failure> {
    let ready = Barrier::new(plans.len());
    let run = |plan: &Plan| {
        // Memory stays on its thread. Nobody may miss the barrier.
        let pipeline = Pipeline::of(plan).and_then(|mut pipeline| {
            // Its pages are touched for the first time.
            pipeline.overlapped(batches)?;
            Ok(pipeline)
        });
        ready.wait();
        let start = now();
        pipeline?.overlapped(batches)?;
        Ok::<_, Error>((start, now()))
    };
    let outcomes = std::thread::scope(|scope| {
        let threads: Vec<_> = plans.iter().map(|plan| scope.spawn(|| run(plan))).collect();
        threads.into_iter().filter_map(|thread| thread.join().ok()).collect::<Result<Vec<_>, _>>()
    })?;
    let (start, end) = outcomes.iter().fold((u64::MAX, 0), |(s, e), (start, end)| (s.min(*start), e.max(*end)));
    let at_once = end.saturating_sub(start).max(1);
    say!(
        "{} devices one after another {:.2} ms, at once {:.2} ms: {:.2} times as fast",
        plans.len(),
        ms(alone),
        ms(at_once),
        alone as f64 / at_once as f64
    )?;
    Ok(())
}

fn run(cli: &Cli) -> Result<(), Failure> {
    let not_written =
        |e| format!("cannot write the timelines to {}: {e}; name another file with --out", cli.out.display());
    check_writable(&cli.out).map_err(not_written)?;
    let backends: Vec<Arc<dyn ComputeBackend>> = match cli.backend {
        Some(choice) => vec![open_backend(choice, &[])?],
        None => open_all_backends().0,
    };
    let (mut runs, mut plans, mut alone) = (Vec::new(), Vec::new(), 0);
    for backend in &backends {
        let mut pipeline = match Pipeline::new(backend, cli.kib as usize * 1024) {
            // A compiler may be missing, or queues, or the memory.
            Err(e) if cli.backend.is_some() => return Err(e.into()),
            Err(e) => {
                say!("{} is left out: {e}", backend.device())?;
                continue;
            }
            Ok(pipeline) => pipeline,
        };
        let measured = measure(cli, &mut pipeline)?;
        alone += measured.last().map_or(0, |(_, run)| run.total);
        // A driver that gives no times draws nothing.
        runs.push(measured.into_iter().filter(|(_, run)| !run.bars.is_empty()).collect());
        let (in_queue, in_own) = pipeline.call_costs()?;
        say!("  a launch call takes {in_queue} ns in a queue, {in_own} ns in the backend's own")?;
        plans.push(pipeline.into_plan());
    }
    if plans.len() > 1 {
        together(usize::from(cli.batches), &plans, alone)?;
    }
    std::fs::write(&cli.out, svg(&runs)).map_err(not_written)?;
    Ok(say!("timelines are in {}", cli.out.display())?)
}

fn main() -> ExitCode {
    terminal::end(run(&Cli::parse()))
}
