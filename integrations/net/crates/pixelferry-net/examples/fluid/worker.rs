//! The worker of one part: it goes from step to step with its neighbours, and draws its part where the display asks for it.

use crate::lattice::{Channel, Part};
use crate::parts::Parts;
use crate::{CHECKPOINT, Failure, KEEPER, Moment, SCENE};
use pixelferry_net::{Error, Halo, Job, Net, Options};
use std::time::Duration;

/// Between two looks whether the display still wants what is computed.
const LOOK: Duration = Duration::from_millis(500);

/// Works until it is ended.
pub fn work(endpoint: &str, part: u32, channel: Channel, count: u32) -> Result<(), Failure> {
    let net = Net::join(Options::through(endpoint))?;
    let parts = Parts::new(channel.0, count)?;
    let region = parts.region(part).ok_or("there are not so many parts")?;
    let tile = net.tile(SCENE, Some(region))?;
    let mut run: Option<Run> = None;
    loop {
        let Some(mut job) = tile.next(LOOK)? else { continue };
        let moment = Moment::read(job.args()).ok_or("a job without its step")?;
        if run.as_ref().is_none_or(|run| run.number != moment.run) {
            run = Run::begin(&net, &parts, (part, channel), &moment, &job)?;
        }
        let Some(run) = run.as_mut() else { continue };
        if run.advance(moment.step, &job)? {
            run.part.draw(job.pixels());
            tile.publish(job)?;
        }
    }
}

/// One run, from step 0 or from a checkpoint on.
struct Run {
    number: u64,
    step: u64,
    /// True where the ring is of this step.
    has_ring: bool,
    part: Part,
    around: Vec<(u32, (i32, i32))>,
    halo: Halo,
}

impl Run {
    /// `None` where the display wants something else meanwhile.
    fn begin(
        net: &Net,
        parts: &Parts,
        (number, channel): (u32, Channel),
        moment: &Moment,
        job: &Job,
    ) -> Result<Option<Self>, Failure> {
        let around = parts.around(number);
        let neighbours: Vec<u32> = around.iter().map(|(part, _)| *part).chain([KEEPER]).collect();
        let halo = net.halo(SCENE, moment.run, number, &neighbours)?;
        let mut part = Part::new(channel, job.region());
        if moment.start > 0 {
            let Some(state) = take(&halo, moment.start, KEEPER, job)? else { return Ok(None) };
            if !part.load(&state) {
                return Err("the checkpoint is of another part".into());
            }
        }
        Ok(Some(Self { number: moment.run, step: moment.start, has_ring: false, part, around, halo }))
    }

    /// Goes on to a step. `false` where the display wants something else meanwhile.
    fn advance(&mut self, step: u64, job: &Job) -> Result<bool, Failure> {
        while self.exchange(job)? {
            if self.step >= step {
                return Ok(true);
            }
            self.part.advance();
            (self.step, self.has_ring) = (self.step + 1, false);
            if self.step.is_multiple_of(CHECKPOINT) {
                self.halo.put(self.step, KEEPER, &self.part.state())?;
            }
        }
        Ok(false)
    }

    /// Gives every neighbour its edge, and takes theirs.
    fn exchange(&mut self, job: &Job) -> Result<bool, Failure> {
        if self.has_ring {
            return Ok(true);
        }
        for &(neighbour, towards) in &self.around {
            self.halo.put(self.step, neighbour, &self.part.edge(towards))?;
        }
        for &(neighbour, towards) in &self.around {
            let Some(edge) = take(&self.halo, self.step, neighbour, job)? else { return Ok(false) };
            if !self.part.set_ring(towards, &edge) {
                return Err(format!("part {neighbour} gave an edge of another length").into());
            }
        }
        self.has_ring = true;
        Ok(true)
    }
}

/// Waits as long as the display wants this job.
fn take(halo: &Halo, step: u64, from: u32, job: &Job) -> Result<Option<Vec<u8>>, Failure> {
    while !job.is_stale() {
        match halo.take(step, from, LOOK) {
            Err(Error::NoEdge { .. }) => {}
            taken => return Ok(Some(taken?)),
        }
    }
    Ok(None)
}
