//! The network as events: a display asks, workers compute tiles that come to it, and it serves pictures to viewers; through
//! routers in two levels, or through the display itself.

use crate::costs::{Cost, Costs};
use crate::engine::{Engine, Server, Stage};
use pixelferry_net::score;

/// Bytes a nanosecond of a network card of so many Gbit/s.
pub const fn gigabits(rate: f64) -> f64 {
    rate / 8.0
}

/// Batches that wait for a viewer before it loses pictures: 16 of 64 KiB.
const MOST_WAITING: u64 = 16 << 16;
const HEADER: u64 = 128;
/// Frames before those that are counted.
const WARMING: usize = 3;

/// What is computed, by whom, and over which lines.
#[derive(Debug, Clone, Copy)]
pub struct Setting {
    pub size: (u64, u64),
    pub side: u64,
    pub workers: usize,
    pub viewers: usize,
    /// Routers at the leaves, below one at the root; 0 where the display is the hub of all.
    pub leaves: usize,
    /// Nanoseconds of a worker for each pixel.
    pub pixel: f64,
    /// Bytes a nanosecond of each router's and of the display's network card.
    pub card: f64,
    /// Threads of a display and of a router that take messages; Zenoh's default is 2.
    pub threads: usize,
    /// Where all are on one machine: how fast each of its processors is, the rest being somebody else's.
    pub shared: Option<f64>,
    pub most_rate: f64,
    pub frames: usize,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    pub frames_per_second: f64,
    /// Pictures a second of the median viewer.
    pub pictures_per_second: f64,
    /// Milliseconds from asking for a frame until a viewer has it, median and 99 of 100; without viewers until it is shown.
    pub age: (f64, f64),
    /// Which part was busy for how much of the time, the busiest first.
    pub loads: Vec<(&'static str, f64)>,
}

/// What arrives, and where.
enum Arrival {
    JobAtRoot,
    JobAtLeaf(usize),
    JobAtWorker(usize),
    TileDone,
    /// These with the time when their frame was asked for.
    Packed(u64),
    PictureAtRoot(u64),
    PictureAtLeaf(usize, u64),
    PictureAtViewer(usize, u64),
    NextFrame,
}

/// The parts of a machine: processors, and network card to and from the others.
#[derive(Clone, Copy)]
struct Machine {
    cpu: usize,
    down: Option<usize>,
    up: Option<usize>,
}

struct Network<'a> {
    setting: &'a Setting,
    costs: &'a Costs,
    engine: Engine<Arrival>,
    display: Machine,
    root: Machine,
    leaves: Vec<Machine>,
    workers: Vec<usize>,
    viewers: Vec<usize>,
    /// Tiles of each worker: their bytes and pixels.
    shares: Vec<Vec<u64>>,
    waiting: Vec<u64>,
    seen: Vec<usize>,
    ages: Vec<u64>,
    asked: u64,
    missing: usize,
}

/// Computes a setting.
pub fn run(setting: &Setting, costs: &Costs) -> Outcome {
    Network::new(setting, costs).run()
}

/// The tiles that each worker computes, as the protocol says it.
fn shares(setting: &Setting) -> Vec<Vec<u64>> {
    let (columns, rows) = (setting.size.0.div_ceil(setting.side), setting.size.1.div_ceil(setting.side));
    let mut shares = vec![Vec::new(); setting.workers];
    for tile in 0..columns * rows {
        let (x, y) = (tile % columns * setting.side, tile / columns * setting.side);
        let pixels = setting.side.min(setting.size.0 - x) * setting.side.min(setting.size.1 - y);
        let of = |worker: usize| score(score(1, worker as u32), tile as u32);
        if let Some(owner) = (0..setting.workers).max_by_key(|&worker| of(worker)) {
            shares[owner].push(pixels);
        }
    }
    shares
}

impl<'a> Network<'a> {
    fn new(setting: &'a Setting, costs: &'a Costs) -> Self {
        let mut engine = Engine::new();
        let one = setting.shared.map(|speed| engine.add(Server::new(2, speed)));
        let machine = |engine: &mut Engine<Arrival>, threads: usize, has_card: bool| {
            let cpu = one.unwrap_or_else(|| engine.add(Server::new(threads, 1.0)));
            let has_card = has_card && one.is_none();
            let mut card = || has_card.then(|| engine.add(Server::new(1, setting.card)));
            Machine { cpu, down: card(), up: card() }
        };
        let display = machine(&mut engine, setting.threads, true);
        let is_hub = setting.leaves == 0;
        let root = if is_hub { display } else { machine(&mut engine, setting.threads, true) };
        let leaves = (0..setting.leaves).map(|_| machine(&mut engine, setting.threads, true)).collect();
        let workers = (0..setting.workers).map(|_| machine(&mut engine, 1, false).cpu).collect();
        let viewers = (0..setting.viewers).map(|_| machine(&mut engine, 1, false).cpu).collect();
        let shares = shares(setting);
        let (waiting, seen) = (vec![0; setting.viewers], vec![0; setting.viewers]);
        let (ages, asked, missing) = (Vec::new(), 0, 0);
        Self {
            setting,
            costs,
            engine,
            display,
            root,
            leaves,
            workers,
            viewers,
            shares,
            waiting,
            seen,
            ages,
            asked,
            missing,
        }
    }

    fn is_hub(&self) -> bool {
        self.setting.leaves == 0
    }

    fn leaf_of(&self, member: usize) -> Machine {
        if self.is_hub() { self.root } else { self.leaves[member % self.leaves.len()] }
    }

    /// A router sends a message on.
    fn sent_by(&self, router: Machine, bytes: u64) -> Vec<Stage> {
        self.over(router.cpu, self.costs.router_out, router.up, bytes)
    }

    /// A router takes a message.
    fn taken_by(&self, router: Machine, bytes: u64) -> Vec<Stage> {
        let mut stages = self.over(router.cpu, self.costs.router_in, router.down, bytes);
        stages.reverse();
        stages
    }

    fn over(&self, cpu: usize, cost: Cost, card: Option<usize>, bytes: u64) -> Vec<Stage> {
        let line = card.map(|server| Stage { server, work: bytes as f64 });
        [Stage { server: cpu, work: cost.of(bytes) }].into_iter().chain(line).collect()
    }

    fn job_bytes(&self) -> u64 {
        HEADER + 64
    }

    fn picture_bytes(&self) -> u64 {
        let (width, height) = self.setting.size;
        HEADER + ((width * height) as f64 * self.costs.packed_bytes) as u64
    }

    fn run(mut self) -> Outcome {
        self.ask();
        let (mut frames, mut counted_from, mut seen_before) = (0, 0, Vec::new());
        let mut end = None;
        while let Some(arrival) = self.engine.next() {
            match arrival {
                Arrival::NextFrame if frames == WARMING + self.setting.frames => {
                    end = Some(self.engine.now());
                    break;
                }
                Arrival::NextFrame => self.ask(),
                Arrival::TileDone => {
                    self.missing -= 1;
                    if self.missing > 0 {
                        continue;
                    }
                    frames += 1;
                    if frames == WARMING {
                        counted_from = self.engine.now();
                        seen_before.clone_from(&self.seen);
                    }
                    self.shown(frames > WARMING);
                }
                other => self.arrive(other, frames > WARMING),
            }
        }
        let seconds = (end.unwrap_or(self.engine.now()) - counted_from) as f64 / 1e9;
        let mut seen: Vec<usize> = self.seen.iter().zip(&seen_before).map(|(seen, before)| seen - before).collect();
        seen.sort_unstable();
        self.ages.sort_unstable();
        let age = |part: f64| {
            self.ages.get(((self.ages.len() as f64 - 1.0) * part) as usize).map_or(0.0, |&age| age as f64 / 1e6)
        };
        Outcome {
            frames_per_second: self.setting.frames as f64 / seconds,
            pictures_per_second: seen.get(seen.len() / 2).map_or(0.0, |&seen| seen as f64 / seconds),
            age: (age(0.5), age(0.99)),
            loads: self.loads(),
        }
    }

    fn loads(&self) -> Vec<(&'static str, f64)> {
        let load = |server: usize| self.engine.servers[server].load(self.engine.now());
        let card = |side: Option<usize>| side.map_or(0.0, load);
        let most = |of: &dyn Fn(&Machine) -> f64| self.leaves.iter().map(of).fold(0.0, f64::max);
        let busiest = self.workers.iter().map(|&cpu| load(cpu)).fold(0.0, f64::max);
        let mut loads = vec![
            ("display's processors", load(self.display.cpu)),
            ("display's card, in", card(self.display.down)),
            ("display's card, out", card(self.display.up)),
            ("root router's processors", if self.is_hub() { 0.0 } else { load(self.root.cpu) }),
            ("root router's card, out", if self.is_hub() { 0.0 } else { card(self.root.up) }),
            ("leaf routers' processors", most(&|leaf| load(leaf.cpu))),
            ("leaf routers' cards, out", most(&|leaf| card(leaf.up))),
            ("the busiest worker", busiest),
        ];
        loads.sort_by(|a, b| b.1.total_cmp(&a.1));
        loads
    }

    fn send(&mut self, stages: Vec<Stage>, what: Arrival) {
        self.engine.send(self.engine.now(), stages, what);
    }

    /// The display asks for the next frame.
    fn ask(&mut self) {
        self.asked = self.engine.now();
        self.missing = self.shares.iter().map(Vec::len).sum();
        let bytes = self.job_bytes();
        let stages = if self.is_hub() {
            Vec::new()
        } else {
            [self.sent_by(self.display, bytes), self.taken_by(self.root, bytes)].concat()
        };
        self.send(stages, Arrival::JobAtRoot);
    }

    /// A frame is there: viewers get it, and the next one is asked for.
    fn shown(&mut self, counts: bool) {
        if self.setting.viewers > 0 {
            let (width, height) = self.setting.size;
            let work = (width * height) as f64 * self.costs.pack_pixel;
            return self.send(vec![Stage { server: self.display.cpu, work }], Arrival::Packed(self.asked));
        }
        if counts {
            self.ages.push(self.engine.now() - self.asked);
        }
        self.next_frame();
    }

    fn next_frame(&mut self) {
        let earliest = self.asked + (1e9 / self.setting.most_rate) as u64;
        self.engine.send(earliest.max(self.engine.now()), Vec::new(), Arrival::NextFrame);
    }

    fn arrive(&mut self, arrival: Arrival, counts: bool) {
        match arrival {
            Arrival::JobAtRoot if self.is_hub() => self.jobs_to_workers(self.root, 0, 1),
            Arrival::JobAtRoot => {
                for leaf in 0..self.leaves.len() {
                    let bytes = self.job_bytes();
                    let stages = [self.sent_by(self.root, bytes), self.taken_by(self.leaves[leaf], bytes)].concat();
                    self.send(stages, Arrival::JobAtLeaf(leaf));
                }
            }
            Arrival::JobAtLeaf(leaf) => self.jobs_to_workers(self.leaves[leaf], leaf, self.leaves.len()),
            Arrival::JobAtWorker(worker) => self.compute(worker),
            Arrival::Packed(asked) => {
                let bytes = self.picture_bytes();
                let stages = if self.is_hub() {
                    Vec::new()
                } else {
                    [self.sent_by(self.display, bytes), self.taken_by(self.root, bytes)].concat()
                };
                self.send(stages, Arrival::PictureAtRoot(asked));
                self.next_frame();
            }
            Arrival::PictureAtRoot(asked) if self.is_hub() => self.pictures_to_viewers(self.root, (0, 1), asked),
            Arrival::PictureAtRoot(asked) => {
                for leaf in 0..self.leaves.len() {
                    let bytes = self.picture_bytes();
                    let stages = [self.sent_by(self.root, bytes), self.taken_by(self.leaves[leaf], bytes)].concat();
                    self.send(stages, Arrival::PictureAtLeaf(leaf, asked));
                }
            }
            Arrival::PictureAtLeaf(leaf, asked) => {
                self.pictures_to_viewers(self.leaves[leaf], (leaf, self.leaves.len()), asked);
            }

            Arrival::PictureAtViewer(viewer, asked) => {
                self.waiting[viewer] -= self.picture_bytes();
                self.seen[viewer] += 1;
                if counts {
                    self.ages.push(self.engine.now() - asked);
                }
            }
            Arrival::TileDone | Arrival::NextFrame => {}
        }
    }

    fn jobs_to_workers(&mut self, router: Machine, first: usize, step: usize) {
        for worker in (first..self.setting.workers).step_by(step) {
            let mut stages = self.sent_by(router, self.job_bytes());
            let (tiles, workers) = (self.shares.iter().map(Vec::len).sum::<usize>(), self.setting.workers);
            let hashing = self.costs.hash * (tiles * workers) as f64;
            let work = self.costs.receive.of(self.job_bytes()) + hashing;
            stages.push(Stage { server: self.workers[worker], work });
            self.send(stages, Arrival::JobAtWorker(worker));
        }
    }

    fn compute(&mut self, worker: usize) {
        for pixels in self.shares[worker].clone() {
            let bytes = HEADER + pixels * 4;
            let work = pixels as f64 * self.setting.pixel + self.costs.worker_tile.of(bytes);
            let mut stages = vec![Stage { server: self.workers[worker], work }];
            if !self.is_hub() {
                let leaf = self.leaf_of(worker);
                for part in [
                    self.taken_by(leaf, bytes),
                    self.sent_by(leaf, bytes),
                    self.taken_by(self.root, bytes),
                    self.sent_by(self.root, bytes),
                ] {
                    stages.extend(part);
                }
            }
            stages.extend(self.display.down.map(|server| Stage { server, work: bytes as f64 }));
            stages.push(Stage { server: self.display.cpu, work: self.costs.display_tile.of(bytes) });
            self.send(stages, Arrival::TileDone);
        }
    }

    fn pictures_to_viewers(&mut self, router: Machine, (first, step): (usize, usize), asked: u64) {
        let bytes = self.picture_bytes();
        for viewer in (first..self.setting.viewers).step_by(step) {
            if self.waiting[viewer] + bytes > MOST_WAITING.max(bytes) {
                continue;
            }
            self.waiting[viewer] += bytes;
            let mut stages = self.sent_by(router, bytes);
            stages.push(Stage { server: self.viewers[viewer], work: self.costs.receive.of(bytes) });
            self.send(stages, Arrival::PictureAtViewer(viewer, asked));
        }
    }
}
