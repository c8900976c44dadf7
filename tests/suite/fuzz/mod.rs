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
mod log;
mod model;
mod parts;
mod payload;

use drivers::Drivers;
use log::{Checked, Failure, Log, fail, hold};
use pixelferry::driver::describe::panics::catch;
use pixelferry_tests::{Need, by_level, pass_in_child};
use proptest::prelude::{Rng as _, *};
use proptest::test_runner::{RngAlgorithm, RngSeed, TestCaseError, TestError, TestRng, TestRunner};
use std::cell::RefCell;
use std::ops::Range;

/// Random numbers of one step.
#[derive(Debug, Clone)]
struct Rng(TestRng);

impl Rng {
    fn of(seed: u64) -> Self {
        Self(TestRng::from_seed(RngAlgorithm::XorShift, &[seed.to_le_bytes(); 2].concat()))
    }

    fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn word(&mut self) -> u32 {
        self.0.next_u32()
    }

    /// 0 to `end - 1`; 0 where `end` is 0.
    fn below(&mut self, end: usize) -> usize {
        (self.bits() % (end.max(1) as u64)) as usize
    }

    /// A number of `range`.
    fn within(&mut self, range: Range<usize>) -> usize {
        range.start + self.below(range.len())
    }

    /// True once in `n` times.
    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }

    /// One of `all`, which is not empty.
    fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// One of `all`, if there is any.
    fn any<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        (!all.is_empty()).then(|| all[self.below(all.len())].clone())
    }

    /// One of `all`, which is not empty, taken out.
    fn take<T>(&mut self, all: &mut Vec<T>) -> T {
        all.swap_remove(self.below(all.len()))
    }

    fn bytes(&mut self, len: usize) -> Vec<u8> {
        let mut bytes = vec![0; len];
        self.0.fill_bytes(&mut bytes);
        bytes
    }
}

/// Objects of one area, and what they must hold.
trait World {
    /// One operation, or a few that belong together.
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked;

    /// Everything is over and right.
    fn end(self: Box<Self>, _: &mut Log) -> Checked {
        Ok(())
    }
}

/// Objects that outlive rounds.
struct Things {
    area: String,
    engines: Vec<kernels::Engine>,
    base: Option<cl::Base>,
    makers: Option<arrays::Makers>,
    drivers: Drivers,
}

impl Things {
    fn new(area: String, drivers: Drivers) -> Checked<Self> {
        let is = |name: &str| area == name;
        Ok(Self {
            engines: drivers.backends().into_iter().map(kernels::Engine::new).collect(),
            base: is("cl").then(|| cl::Base::new(&drivers)).transpose()?.flatten(),
            makers: is("arrays").then(|| arrays::Makers::new(&drivers)).transpose()?,
            area,
            drivers,
        })
    }

    fn world(&self, rng: &mut Rng) -> Checked<Option<Box<dyn World + '_>>> {
        Ok(Some(match self.area.as_str() {
            "compute" => Box::new(compute::World::new(&self.engines)),
            "cl" => match &self.base {
                Some(base) => Box::new(cl::World::new(base)),
                None => return Ok(None),
            },
            "links" => Box::new(links::World::new(&self.engines, &self.drivers, rng)?),
            "arrays" => Box::new(arrays::World::new(self.makers.as_ref().unwrap())),
            "files" => Box::new(files::World::new(&self.drivers)?),
            "host" => Box::new(host::World::new(&self.drivers, rng)?),
            "engines" => Box::new(engines::World::new(&self.drivers, rng)?),
            other => panic!("no area is called {other}"),
        }))
    }

    fn round(&self, first: &Rng, steps: &[Rng], log: &mut Log) -> Checked {
        log.begin();
        let Some(mut world) = self.world(&mut first.clone())? else { return Ok(()) };
        steps.iter().try_for_each(|rng| world.step(&mut rng.clone(), log))?;
        world.end(log)?;
        // PoCL 3.1 crashes where a process ends while it compiles for a launch.
        Ok(self.engines.iter().try_for_each(|engine| engine.backend.finish())?)
    }

    /// Returns what a round comes to, panics included.
    fn judged(&self, first: &Rng, steps: &[Rng], log: &mut Log) -> Checked {
        let done = catch(|| self.round(first, steps, log));
        let done = done.unwrap_or_else(|panicked| Err(Failure(format!("the library let a panic through: {panicked}"))));
        match payload::unexpected() {
            panics if panics.is_empty() => done,
            panics => Err(Failure(format!("the library panicked: {}", panics.join("; ")))),
        }
    }
}

/// Names the area to a child.
const AREA: &str = "PIXELFERRY_FUZZ";
/// Rounds of one process: what the fuzz leaks on purpose adds up.
const AT_A_TIME: u32 = 60;

#[test]
#[ignore = "run by the tests below, in a process that sees one OpenCL driver"]
fn child() {
    payload::watch();
    let things = Things::new(std::env::var(AREA).unwrap(), Drivers::open().unwrap()).unwrap();
    let config = ProptestConfig { failure_persistence: None, max_shrink_iters: 2000, ..ProptestConfig::default() };
    let RngSeed::Fixed(seed) = config.rng_seed else { panic!("PROPTEST_RNG_SEED says where random numbers begin") };
    let again = format!("{AREA}={} PROPTEST_RNG_SEED={seed} PROPTEST_CASES={}", things.area, config.cases);
    let log = RefCell::new(Log::new(config.verbose > 0));
    let rng = || Just(()).prop_perturb(|(), rng| Rng(rng));
    let count = by_level(60..120, 1..800, 1..800);
    let steps = (rng(), proptest::collection::vec(rng(), count));
    let ran = TestRunner::new(config).run(&steps, |(first, steps)| {
        let mut log = log.borrow_mut();
        things.judged(&first, &steps, &mut log).map_err(|failure| TestCaseError::fail(log.told(&failure)))
    });
    if let Err(TestError::Fail(what, _) | TestError::Abort(what)) = ran {
        panic!("{what}\nagain by: {again} cargo test -p pixelferry-tests fuzz::child -- --ignored --nocapture");
    }
    println!("{}", log.borrow());
}

/// Rounds of an area, the same each time but for `PROPTEST_RNG_SEED`; a failure is made as short as it may be.
fn area(name: &str) {
    let number = |variable: &str| std::env::var(variable).ok().map(|n| n.parse::<u32>().expect("a number"));
    let rounds = number("PROPTEST_CASES").unwrap_or_else(|| by_level(3, 3, 360));
    let first = number("PROPTEST_RNG_SEED").unwrap_or(1);
    for (part, done) in (0..rounds).step_by(AT_A_TIME as usize).enumerate() {
        let (seed, cases) = (u64::from(first) << 16 | part as u64, AT_A_TIME.min(rounds - done));
        let env = [("PROPTEST_RNG_SEED", &*seed.to_string()), ("PROPTEST_CASES", &*cases.to_string()), (AREA, name)];
        pass_in_child("fuzz::child", Some(Need::Pocl), &env, &["operations, "]);
    }
}

macro_rules! areas {
    ($($name:ident)*) => { mod area { $(#[test] fn $name() { super::area(stringify!($name)); })* } };
}

areas! { compute cl links arrays files host engines }
