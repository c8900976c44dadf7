//! Chooses the tile that a worker computes next. Independent of the network.

use crate::job::JobMessage;
use crate::session::{FollowedSession, News};
use crate::shares::Shares;
use crate::workers::Workers;
use pixelferry::Region;
use pixelferry_media::wire::{Header, WireError};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A tile that is still requested this long after it was sent was lost.
const LOST_AFTER: Duration = Duration::from_secs(1);
/// After giving up this many tiles in a row a worker pauses: at first for [`PAUSE`], and twice as long each time.
const MOST_GIVEN_UP: u32 = 3;
const PAUSE: Duration = Duration::from_secs(2);
const MOST_DOUBLINGS: u32 = 6;

/// One tile of one frame to compute.
#[derive(Clone)]
pub struct Turn {
    message: Arc<JobMessage>,
    index: u32,
    region: Region,
}

impl Turn {
    pub fn message(&self) -> &JobMessage {
        &self.message
    }

    /// Returns the header of the tile's message, as far as the job determines it.
    pub fn header(&self) -> Header {
        Header { region: self.region, ..self.message.header }
    }

    fn is_of(&self, message: &JobMessage) -> bool {
        let (ours, other) = (&self.message.header, &message.header);
        (ours.epoch, ours.frame) == (other.epoch, other.frame)
    }
}

/// The newest job, and its progress.
pub struct Turns {
    node: u64,
    place: Option<Region>,
    followed: FollowedSession,
    workers: Workers,
    shares: Shares,
    job: Option<Arc<JobMessage>>,
    queue: VecDeque<u32>,
    /// The tiles of the newest job that are being computed, and the times at which others were sent.
    begun: HashSet<u32>,
    sent: HashMap<u32, Instant>,
    /// The frame for which each tile was last sent in this session.
    shown: HashMap<u32, u64>,
    /// The number of tiles given up since the last one that was sent, and the end of the pause for it.
    given_up: u32,
    rests_until: Option<Instant>,
}

impl Turns {
    /// Creates the turns of a worker that computes inside `place`, or anywhere. It counts as alive before the network
    /// reports it.
    pub fn new(node: u64, place: Option<Region>) -> Self {
        let mut workers = Workers::default();
        workers.insert(node, place);
        Self {
            node,
            place,
            followed: FollowedSession::default(),
            workers,
            shares: Shares::default(),
            job: None,
            queue: VecDeque::new(),
            begun: HashSet::new(),
            sent: HashMap::new(),
            shown: HashMap::new(),
            given_up: 0,
            rests_until: None,
        }
    }

    /// Takes a job: a newer frame, or the same one again with the tiles that are missing.
    pub fn take_job(&mut self, message: JobMessage, now: Instant) -> Result<(), WireError> {
        match self.followed.accept(message.header.epoch, message.header.frame, now)? {
            News::Older => return Ok(()),
            News::Again => {}
            News::Newer => self.forget_frame(),
            News::Session => {
                self.forget_frame();
                self.shown.clear();
            }
        }
        self.job = Some(Arc::new(message));
        self.plan(now);
        Ok(())
    }

    fn forget_frame(&mut self) {
        self.begun.clear();
        self.sent.clear();
    }

    /// Sets the live workers. This worker is always among them, whatever the network reports.
    pub fn set_workers(&mut self, mut workers: Workers) {
        workers.insert(self.node, self.place);
        self.workers = workers;
        self.plan(Instant::now());
    }

    pub fn workers(&self) -> usize {
        self.workers.count()
    }

    fn plan(&mut self, now: Instant) {
        let Some(job) = &self.job else { return };
        let all: Vec<u32> = if job.wanted.is_empty() { (0..job.grid.len()).collect() } else { job.wanted.clone() };
        let is_due = |index: &u32| {
            let lost = |sent: &Instant| now.duration_since(*sent) >= LOST_AFTER;
            !self.begun.contains(index) && self.sent.get(index).is_none_or(lost)
        };
        let mut due: Vec<u32> = all.into_iter().filter(is_due).collect();
        let owners = self.shares.of(&self.workers, job);
        due.retain(|&index| owners.get(index as usize) == Some(&Some(self.node)));
        due.sort_by_key(|index| (self.shown.get(index).copied().unwrap_or(0), *index));
        due.dedup();
        self.queue = due.into();
    }

    /// Begins the next tile. Returns `None` if there is none, or during a pause.
    pub fn begin(&mut self) -> Option<Turn> {
        if self.rests_until.is_some() {
            return None;
        }
        let message = self.job.clone()?;
        let index = self.queue.pop_front()?;
        let region = message.grid.region(index)?;
        self.begun.insert(index);
        Some(Turn { message, index, region })
    }

    /// Records that the tile was sent.
    pub fn publish(&mut self, turn: &Turn, now: Instant) {
        self.given_up = 0;
        let Some(job) = &self.job else { return };
        if job.header.epoch == turn.message.header.epoch {
            self.shown.insert(turn.index, turn.message.header.frame);
        }
        if turn.is_of(job) {
            self.sent.insert(turn.index, now);
        }
    }

    /// Records that the tile is no longer being computed.
    pub fn end(&mut self, turn: &Turn) {
        if self.job.as_ref().is_some_and(|job| turn.is_of(job)) {
            self.begun.remove(&turn.index);
        }
    }

    /// Records that the tile was given up although it is requested. If this was one too many, it returns how long the
    /// worker pauses. Its token is withdrawn in the meantime, so that others compute what it cannot.
    pub fn give_up(&mut self, turn: &Turn, now: Instant) -> Option<Duration> {
        if self.is_stale(turn) {
            return None;
        }
        self.given_up += 1;
        let times = self.given_up.checked_sub(MOST_GIVEN_UP)?;
        let pause = PAUSE * (1 << times.min(MOST_DOUBLINGS));
        self.rests_until = Some(now + pause);
        Some(pause)
    }

    pub fn rests_until(&self) -> Option<Instant> {
        self.rests_until
    }

    /// Ends the pause: one more tile is tried.
    pub fn resume(&mut self, now: Instant) {
        self.rests_until = None;
        self.plan(now);
    }

    pub fn is_stale(&self, turn: &Turn) -> bool {
        self.job.as_ref().is_some_and(|job| !turn.is_of(job))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::grid::Grid;
    use crate::hash::Weights;
    use pixelferry::{Extent, ImageDesc, PixelFormat};
    use pixelferry_media::wire::MessageKind;

    fn job(epoch: u64, frame: u64, wanted: &[u32]) -> JobMessage {
        let image = ImageDesc::new(64, 64, PixelFormat::R8);
        let header = Header { epoch, frame, ..Header::new(MessageKind::Job, image, image.extent.full()) };
        let grid = Grid::new(image.extent, Extent::new(16, 16)).unwrap();
        JobMessage { header, grid, wanted: wanted.to_vec(), weights: Weights::default(), args: Vec::new() }
    }

    fn alone() -> Turns {
        Turns::new(1, None)
    }

    fn drain(turns: &mut Turns, now: Instant) -> Vec<u32> {
        let mut done = Vec::new();
        while let Some(turn) = turns.begin() {
            turns.publish(&turn, now);
            turns.end(&turn);
            done.push(turn.index);
        }
        done
    }

    #[test]
    fn a_tile_is_sent_again_only_when_it_was_lost() {
        let (mut turns, start) = (alone(), Instant::now());
        turns.take_job(job(1, 1, &[]), start).unwrap();
        assert_eq!(drain(&mut turns, start).len(), 16);
        turns.take_job(job(1, 1, &[3]), start).unwrap();
        assert!(drain(&mut turns, start).is_empty());
        turns.take_job(job(1, 1, &[3]), start + LOST_AFTER).unwrap();
        assert_eq!(drain(&mut turns, start + LOST_AFTER), [3]);
    }

    #[test]
    fn newer_arguments_win_and_older_ones_are_forgotten() {
        let (mut turns, now) = (alone(), Instant::now());
        turns.take_job(job(1, 1, &[]), now).unwrap();
        let first = turns.begin().unwrap();
        turns.publish(&first, now);
        turns.end(&first);
        turns.take_job(job(1, 2, &[]), now).unwrap();
        assert!(turns.is_stale(&first));
        // Tile 0 was shown last, so its turn comes last: no tile starves.
        let order = drain(&mut turns, now);
        assert_eq!((order.len(), order[15]), (16, 0));
        turns.take_job(job(1, 1, &[]), now).unwrap();
        assert!(drain(&mut turns, now).is_empty());
        // A session that began before is refused; a later one takes over from its first frame on.
        assert!(turns.take_job(job(0, 9, &[]), now).is_err());
        turns.take_job(job(2, 1, &[]), now).unwrap();
        assert_eq!(drain(&mut turns, now).len(), 16);
    }

    #[test]
    fn a_job_that_was_given_up_comes_again() {
        let (mut turns, now) = (alone(), Instant::now());
        turns.take_job(job(1, 1, &[5]), now).unwrap();
        let turn = turns.begin().unwrap();
        turns.take_job(job(1, 1, &[5]), now).unwrap();
        assert!(turns.begin().is_none(), "it is being computed");
        turns.end(&turn);
        turns.take_job(job(1, 1, &[5]), now).unwrap();
        assert_eq!(drain(&mut turns, now), [5]);
    }

    #[test]
    fn tiles_are_shared_out_once_and_a_death_hands_over_its_own() {
        let now = Instant::now();
        let mut all = Workers::default();
        (1..=3).for_each(|node| all.insert(node, None));
        let mut tiles = Vec::new();
        let mut each = Vec::new();
        for node in 1..=3 {
            let mut turns = Turns::new(node, None);
            turns.set_workers(all.clone());
            turns.take_job(job(1, 1, &[]), now).unwrap();
            let mine = drain(&mut turns, now);
            tiles.extend(mine.clone());
            each.push((turns, mine));
        }
        tiles.sort_unstable();
        assert_eq!(tiles, (0..16).collect::<Vec<_>>());
        let (_, lost) = each.pop().unwrap();
        let mut left = Workers::default();
        (1..=2).for_each(|node| left.insert(node, None));
        let mut again = Vec::new();
        for (turns, _) in &mut each {
            turns.set_workers(left.clone());
            again.extend(drain(turns, now));
        }
        // Larger shares may move a tile beside its own.
        assert!(lost.iter().all(|tile| again.contains(tile)) && again.len() <= lost.len() + 2, "{lost:?}, {again:?}");
    }

    #[test]
    fn one_that_gives_up_tiles_rests_longer_each_time_until_it_sends_one() {
        let (mut turns, now) = (alone(), Instant::now());
        turns.take_job(job(1, 1, &[]), now).unwrap();
        let give_up = |turns: &mut Turns| {
            let turn = turns.begin().unwrap();
            turns.end(&turn);
            turns.give_up(&turn, now)
        };
        assert_eq!([(); 3].map(|()| give_up(&mut turns)), [None, None, Some(PAUSE)]);
        assert!(turns.begin().is_none() && turns.rests_until() == Some(now + PAUSE));
        turns.resume(now);
        assert_eq!(give_up(&mut turns), Some(2 * PAUSE));
        turns.resume(now);
        let turn = turns.begin().unwrap();
        turns.publish(&turn, now);
        assert_eq!(give_up(&mut turns), None);
        // A tile that is no longer requested may be given up.
        let turn = turns.begin().unwrap();
        turns.take_job(job(1, 2, &[]), now).unwrap();
        assert_eq!([(); 4].map(|()| turns.give_up(&turn, now)), [None; 4]);
    }

    #[test]
    fn a_worker_with_a_place_gets_tiles_inside_it_only() {
        let now = Instant::now();
        let mut turns = Turns::new(1, Some(Region::new(0, 0, 33, 16)));
        turns.take_job(job(1, 1, &[]), now).unwrap();
        assert_eq!(drain(&mut turns, now), [0, 1]);
    }
}
