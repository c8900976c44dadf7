//! Discrete events: trips through processors and lines, each of which serves one after the other.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What serves: the processors of a machine, or one direction of its network card.
#[derive(Debug)]
pub struct Server {
    /// When each of its processors is free, in nanoseconds.
    free: BinaryHeap<Reverse<u64>>,
    /// Work that is done in a nanosecond by one processor: nanoseconds of work, or bytes.
    speed: f64,
    busy: f64,
    capacity: f64,
}

impl Server {
    /// So many processors of one speed.
    pub fn new(count: usize, speed: f64) -> Self {
        let free = (0..count.max(1)).map(|_| Reverse(0)).collect();
        Self { free, speed, busy: 0.0, capacity: count.max(1) as f64 }
    }

    /// When work is done that comes now.
    fn serve(&mut self, now: u64, work: f64) -> u64 {
        let takes = work / self.speed;
        self.busy += takes;
        let Some(Reverse(free)) = self.free.pop() else { return now };
        let done = free.max(now) + takes.round() as u64;
        self.free.push(Reverse(done));
        done
    }

    /// Part of the time that it was busy.
    pub fn load(&self, nanoseconds: u64) -> f64 {
        self.busy / self.capacity / nanoseconds.max(1) as f64
    }
}

/// Work at one server.
#[derive(Debug, Clone, Copy)]
pub struct Stage {
    pub server: usize,
    pub work: f64,
}

/// Servers, and who is on the way to or from them. `T` is what comes of a trip.
pub struct Engine<T> {
    pub servers: Vec<Server>,
    now: u64,
    trips: Vec<(Vec<Stage>, Option<T>)>,
    unused: Vec<usize>,
    /// Time, number of the trip so that ties go in order, the trip, and its next stage.
    queue: BinaryHeap<Reverse<(u64, u64, usize, usize)>>,
    count: u64,
}

impl<T> Engine<T> {
    pub fn new() -> Self {
        let (servers, trips, unused) = (Vec::new(), Vec::new(), Vec::new());
        Self { servers, now: 0, trips, unused, queue: BinaryHeap::new(), count: 0 }
    }

    pub fn add(&mut self, server: Server) -> usize {
        self.servers.push(server);
        self.servers.len() - 1
    }

    /// Nanoseconds since the beginning.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Sends something through stages, from a time on.
    pub fn send(&mut self, at: u64, stages: Vec<Stage>, what: T) {
        let trip = self.unused.pop().unwrap_or_else(|| {
            self.trips.push((Vec::new(), None));
            self.trips.len() - 1
        });
        self.trips[trip] = (stages, Some(what));
        self.push(at, trip, 0);
    }

    fn push(&mut self, at: u64, trip: usize, stage: usize) {
        self.count += 1;
        self.queue.push(Reverse((at, self.count, trip, stage)));
    }

    /// What arrives next; `None` when nobody is on the way.
    pub fn next(&mut self) -> Option<T> {
        while let Some(Reverse((at, _, trip, stage))) = self.queue.pop() {
            self.now = at;
            let next = self.trips[trip].0.get(stage).copied();
            if let Some(Stage { server, work }) = next {
                let done = self.servers[server].serve(at, work);
                self.push(done, trip, stage + 1);
                continue;
            }
            self.unused.push(trip);
            if let Some(what) = self.trips[trip].1.take() {
                return Some(what);
            }
        }
        None
    }
}
