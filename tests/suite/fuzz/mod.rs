//! Random operations through the public API of pixelferry: any order, drops, leaks, sizes and values at the edges, panics
//! in closures, several threads.
//!
//! An operation may be refused, by a typed error. What was accepted must do what it says: every byte is compared with a
//! model, and after an error the object must go on working. Memory errors are what AddressSanitizer is for
//! (`scripts/asan`).

#![deny(unsafe_code)]

mod arrays;
mod cl;
mod compute;
mod drivers;
#[allow(unsafe_code, reason = "names of memory are used by whoever vouches for it")]
mod engines;
mod files;
mod host;
mod hostile;
mod kernels;
mod links;
mod model;
mod parts;
mod payload;
mod turn;

use drivers::Drivers;
use pixelferry::driver::describe::panics::catch;
use pixelferry_tests::{Need, by_level, pass_in_child};
use proptest::prelude::*;
use proptest::test_runner::{RngSeed, TestCaseError, TestError, TestRunner};
use std::cell::RefCell;
use turn::{Choices, Turn, TurnResult, fail, hold};

/// An operation, or a few that belong together, and how often it comes.
type WeightedOperation<M> = (u32, fn(&mut M, &mut Turn) -> TurnResult);

/// What the objects of one area must hold, beside the objects. Which operations are accepted only the drivers know, so any
/// operation may come at any time.
trait Machine<'a>: Sized {
    /// Every operation.
    fn operations() -> Vec<WeightedOperation<Self>>;

    /// `None` where the drivers are missing.
    fn new(things: &'a Things, t: &mut Turn) -> TurnResult<Option<Self>>;

    /// Makes what operations work on. False if something was missing: that was the step.
    fn supply(&mut self, _: &mut Turn) -> TurnResult<bool> {
        Ok(true)
    }

    /// Everything is over and right.
    fn end(self, _: &mut Turn) -> TurnResult {
        Ok(())
    }
}

/// What says which operation comes, and the operation's choices.
type OperationChoice = (prop::sample::Index, Vec<u16>);

/// Choices of the start, and steps.
type Round = (Vec<u16>, Vec<OperationChoice>);

fn play<'a, M: Machine<'a>>(things: &'a Things, (first, steps): &Round, t: &mut Turn) -> TurnResult {
    t.load(first);
    let Some(mut machine) = M::new(things, t)? else { return Ok(()) };
    let rows = M::operations();
    let all: Vec<_> = rows.iter().flat_map(|(often, operation)| (0..*often).map(move |_| operation)).collect();
    for (which, choices) in steps {
        t.load(choices);
        let step = machine.supply(t).and_then(|ready| if ready { which.get(&all)(&mut machine, t) } else { Ok(()) });
        // An operation may be refused.
        if !matches!(step, Err(TestCaseError::Reject(_))) {
            step?;
        }
    }
    t.load(&[]);
    machine.end(t)
}

/// Rows of a machine's operations.
macro_rules! operations {
    ($($often:literal => $operation:expr,)*) => {
        vec![$({
            let operation: fn(&mut Self, &mut Turn) -> TurnResult = $operation;
            ($often, operation)
        }),*]
    };
}

use operations;

/// Objects that outlive rounds.
struct Things {
    area: String,
    engines: Vec<kernels::Engine>,
    base: Option<cl::Base>,
    makers: Option<arrays::Makers>,
    drivers: Drivers,
}

impl Things {
    fn new(area: String, drivers: Drivers) -> TurnResult<Self> {
        let is = |name: &str| area == name;
        Ok(Self {
            engines: drivers.backends().into_iter().map(kernels::Engine::new).collect(),
            base: is("cl").then(|| cl::Base::new(&drivers)).transpose()?.flatten(),
            makers: is("arrays").then(|| arrays::Makers::new(&drivers)).transpose()?,
            area,
            drivers,
        })
    }

    fn round(&self, round: &Round, t: &mut Turn) -> TurnResult {
        t.begin();
        self.play(round, t)?;
        // PoCL 3.1 crashes where a process ends while it compiles for a launch.
        Ok(self.engines.iter().try_for_each(|engine| engine.backend.finish())?)
    }

    /// Returns what a round comes to, panics included.
    fn judged(&self, round: &Round, t: &mut Turn) -> TurnResult {
        let done = catch(|| self.round(round, t));
        match (payload::unexpected(), done) {
            (panics, _) if !panics.is_empty() => Err(t.told(&format!("the library panicked: {}", panics.join("; ")))),
            (_, Err(panicked)) => Err(t.told(&format!("the library let a panic through: {panicked}"))),
            (_, Ok(done)) => done.map_err(|failure| t.told(&failure.to_string())),
        }
    }
}

/// Names the area to a child.
const AREA: &str = "PIXELFERRY_FUZZ";
/// Rounds of one process: what the fuzz leaks on purpose adds up.
const AT_A_TIME: u32 = 60;
/// Choices of a step, at most: most steps take fewer than ten.
const CHOICES: usize = 96;

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child() {
    payload::watch();
    let things = Things::new(std::env::var(AREA).unwrap(), Drivers::open().unwrap()).unwrap();
    let config = ProptestConfig { failure_persistence: None, max_shrink_iters: 10_000, ..ProptestConfig::default() };
    let RngSeed::Fixed(seed) = config.rng_seed else { panic!("PROPTEST_RNG_SEED says where random numbers begin") };
    let again = format!("{AREA}={} PROPTEST_RNG_SEED={seed} PROPTEST_CASES={}", things.area, config.cases);
    let turn = RefCell::new(Turn::new(config.verbose > 0));
    let choices = || prop::collection::vec(any::<u16>(), 0..CHOICES);
    let step = (any::<prop::sample::Index>().no_shrink(), choices());
    let round = (choices(), prop::collection::vec(step, by_level(1..180, 1..800, 1..800)));
    let ran = TestRunner::new(config).run(&round, |round| things.judged(&round, &mut turn.borrow_mut()));
    if let Err(TestError::Fail(what, _) | TestError::Abort(what)) = ran {
        panic!("{what}\nagain by: {again} cargo test -p pixelferry-tests fuzz::child -- --ignored --nocapture");
    }
    println!("{}", turn.borrow());
}

/// Rounds of an area, the same each time but for `PROPTEST_RNG_SEED`; a failure is made as short as it may be.
fn area(name: &str) {
    let number = |variable: &str| std::env::var(variable).ok().map(|n| n.parse::<u32>().expect("a number"));
    // Links have more states than the others.
    let times = if name == "links" { 10 } else { 1 };
    let rounds = number("PROPTEST_CASES").unwrap_or_else(|| times * by_level(3, 3, 360));
    let first = number("PROPTEST_RNG_SEED").unwrap_or(1);
    for (part, done) in (0..rounds).step_by(AT_A_TIME as usize).enumerate() {
        let (seed, cases) = (u64::from(first) << 16 | part as u64, AT_A_TIME.min(rounds - done));
        let env = [("PROPTEST_RNG_SEED", &*seed.to_string()), ("PROPTEST_CASES", &*cases.to_string()), (AREA, name)];
        pass_in_child("fuzz::child", Some(Need::Pocl), &env, &["operations, "]);
    }
}

macro_rules! areas {
    ($($name:ident: $machine:ty,)*) => {
        impl Things {
            fn play(&self, round: &Round, t: &mut Turn) -> TurnResult {
                match self.area.as_str() {
                    $(stringify!($name) => play::<$machine>(self, round, t),)*
                    other => panic!("no area is called {other}"),
                }
            }
        }

        mod area { $(#[test] fn $name() { super::area(stringify!($name)); })* }
    };
}

areas! {
    compute: compute::World<'_>,
    cl: cl::World<'_>,
    links: links::World<'_>,
    arrays: arrays::World<'_>,
    files: files::World,
    host: host::World<'_>,
    engines: engines::World,
}
