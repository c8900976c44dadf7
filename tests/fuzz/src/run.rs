//! The loop: rounds of some hundred operations, each beginning anew.

#![forbid(unsafe_code)]

use crate::drivers::Drivers;
use crate::log::{Checked, Failure, Log};
use crate::payload;
use crate::rng::Rng;
use crate::{arrays, cl, compute, engines, files, host, links};
use pixelferry::driver::describe::panics::catch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A part of the public API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Area {
    /// Backends: memory, kernels, queues, events.
    Compute,
    /// OpenCL as safe Rust; skipped where there is none.
    Cl,
    /// Links: paths, frames, resizes, faults.
    Links,
    /// Arrays: shapes, views, expressions.
    Arrays,
    /// Files that were left behind.
    Files,
    /// Displays, and host memory shared with backends.
    Host,
    /// Objects of an engine's own.
    Engines,
}

impl Area {
    /// Every area.
    pub const ALL: [Self; 7] =
        [Self::Compute, Self::Cl, Self::Links, Self::Arrays, Self::Files, Self::Host, Self::Engines];
}

/// What is to be done.
#[derive(Debug, Clone, clap::Args)]
pub struct Plan {
    /// Where the random numbers begin.
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Ends after so many operations.
    #[arg(long, default_value_t = 10_000)]
    pub operations: u64,
    /// Ends after so many seconds, too.
    #[arg(long)]
    pub seconds: Option<u64>,
    /// This area only; all in turn otherwise.
    #[arg(long)]
    pub area: Option<Area>,
    /// This round only, as a failure names it.
    #[arg(long)]
    pub round: Option<u64>,
    /// Steps of a round.
    #[arg(long, default_value_t = 400)]
    pub steps: u64,
    /// Ends the process where one step takes so many seconds: something hangs.
    #[arg(long, default_value_t = 300)]
    pub stuck: u64,
    /// Prints every operation before it runs.
    #[arg(long, short)]
    pub verbose: bool,
}

impl Default for Plan {
    fn default() -> Self {
        Self {
            seed: 1,
            operations: 10_000,
            seconds: None,
            area: None,
            round: None,
            steps: 400,
            stuck: 300,
            verbose: false,
        }
    }
}

/// What outlives rounds.
struct Things<'a> {
    drivers: &'a Drivers,
    engines: compute::Engines,
    base: Option<cl::Base>,
    sides: links::Sides,
    makers: arrays::Makers,
}

/// Does it, and gives the counts.
///
/// # Errors
/// The first property that does not hold, with what repeats it.
pub fn run(plan: &Plan, drivers: &Drivers) -> Checked<Log> {
    payload::watch();
    let progress = Arc::new(AtomicU64::new(0));
    watchdog(Arc::clone(&progress), Duration::from_secs(plan.stuck));
    let things = Things {
        drivers,
        engines: compute::Engines::new(drivers)?,
        base: cl::Base::new(drivers)?,
        sides: links::Sides::new(drivers)?,
        makers: arrays::Makers::new(drivers)?,
    };
    let areas = plan.area.map_or(Area::ALL.to_vec(), |area| vec![area]);
    let began = Instant::now();
    let mut log = Log::new(plan.verbose);
    for round in plan.round.map_or(0..=u64::MAX, |round| round..=round) {
        let area = areas[round as usize % areas.len()];
        let done = catch(|| one_round(plan, &things, area, round, &progress, &mut log));
        let done = done.unwrap_or_else(|panicked| {
            Err(Failure(format!("the library panicked, or let a panic of the caller's through: {panicked}")))
        });
        let done = done.and_then(|()| match payload::unexpected() {
            panics if panics.is_empty() => Ok(()),
            panics => Err(Failure(format!("the library panicked: {}", panics.join("; ")))),
        });
        done.map_err(|Failure(what)| {
            let again = format!("--seed {} --area {area:?} --round {round} --steps {}", plan.seed, plan.steps);
            Failure(format!("{what}\nagain by: {}", again.to_lowercase()))
        })?;
        let over = plan.seconds.is_some_and(|seconds| began.elapsed().as_secs() >= seconds);
        if over || log.operations() >= plan.operations {
            break;
        }
    }
    Ok(log)
}

fn one_round(plan: &Plan, things: &Things<'_>, area: Area, round: u64, progress: &AtomicU64, log: &mut Log) -> Checked {
    if plan.verbose {
        eprintln!("round {round}: {area:?}");
    }
    let steps = (0..plan.steps).map(|step| {
        progress.fetch_add(1, Ordering::Relaxed);
        Rng::of(&[plan.seed, area as u64, round, step])
    });
    // A type for every area: `step` and `end` are all that they share.
    macro_rules! through {
        ($world:expr) => {{
            let mut world = $world;
            for mut rng in steps {
                world.step(&mut rng, log)?;
            }
            world
        }};
    }
    match area {
        Area::Compute => through!(compute::World::new(&things.engines)).end(log),
        Area::Cl => match &things.base {
            Some(base) => through!(cl::World::new(base)).end(log),
            None => Ok(()),
        },
        Area::Links => {
            let rng = &mut Rng::of(&[plan.seed, area as u64, round]);
            through!(links::World::new(&things.sides, rng)?).end(log)
        }
        Area::Arrays => through!(arrays::World::new(&things.makers)).end(log),
        Area::Host => {
            let rng = &mut Rng::of(&[plan.seed, area as u64, round]);
            drop(through!(host::World::new(things.drivers, rng)?));
            Ok(())
        }
        Area::Engines => {
            let rng = &mut Rng::of(&[plan.seed, area as u64, round]);
            drop(through!(engines::World::new(things.drivers, rng)?));
            Ok(())
        }
        Area::Files => {
            drop(through!(files::World::new(things.drivers, round)?));
            Ok(())
        }
    }
}

/// Ends the process where nothing goes on: a test that hangs says nothing.
fn watchdog(progress: Arc<AtomicU64>, limit: Duration) {
    std::thread::spawn(move || {
        let (mut seen, mut since) = (0, Instant::now());
        loop {
            std::thread::sleep(Duration::from_secs(1));
            let now = progress.load(Ordering::Relaxed);
            if now != seen {
                (seen, since) = (now, Instant::now());
            } else if since.elapsed() > limit {
                eprintln!("a step takes more than {} s; run the round again with --verbose", limit.as_secs());
                std::process::abort();
            }
        }
    });
}
