//! Timeline of the device's work: the profiling times of the commands.

use crate::backend_state::BackendState;
use crate::cl::{self, Profile};
use crate::queues::Queues;
use crate::timeline::{DeviceTrack, TimedCommand};
use interop_core::{DeviceClock, DeviceSpan, Result, Support};
use std::thread;
use std::time::Duration;

impl BackendState {
    /// Runs `f` and records its commands if recording is on; `kernel` is the name of the kernel among them.
    pub fn timed<R>(&self, kernel: Option<&str>, f: impl FnOnce() -> R) -> R {
        if !self.timeline.backlog.is_on() {
            return f();
        }
        let (result, commands) = cl::Event::collect(f);
        commands.into_iter().for_each(|command| self.timeline.backlog.push(TimedCommand::new(command, kernel)));
        result
    }

    /// Implements [`interop_core::ComputeBackend::set_timeline`].
    pub fn switch_timeline(&self, on: bool) -> Result<Support> {
        self.timeline.backlog.switch(false);
        self.finish()?;
        self.queues.switch(on)?;
        if !on {
            return Ok(Support::Yes);
        }
        match prove(&self.queues)? {
            Ok(()) => {
                let (clock, track) = (self.compare()?, format!("OpenCL: {}", self.name()).into());
                *self.timeline.known() = Some(DeviceTrack { clock, track });
                self.timeline.backlog.switch(true);
                Ok(Support::Yes)
            }
            Err(reason) => {
                self.queues.switch(false)?;
                Ok(Support::No(reason))
            }
        }
    }

    /// The end of a marker in an empty queue lies between its submission and the end of the wait for it. (The call for
    /// both clocks, `clGetDeviceAndHostTimer`, needs OpenCL 2.1; loaders jump to it even in drivers that lack it.)
    fn compare(&self) -> Result<DeviceClock> {
        DeviceClock::compare(64, || {
            let time = marker_time(&self.queues)?;
            time.map_err(|reason| self.unsupported(reason))
        })
    }

    /// Implements [`interop_core::ComputeBackend::drain_timeline`].
    pub fn drain_timeline(&self, into: &mut dyn FnMut(DeviceSpan)) -> Result<()> {
        let Some(DeviceTrack { mut clock, track }) = self.timeline.known().clone() else { return Ok(()) };
        let mut all_done = true;
        while let Some(command) = self.timeline.backlog.pop_done(|command: &TimedCommand| {
            all_done = command.event.status()?.is_final();
            Ok(all_done)
        })? {
            // A failed command has no times; calls that wait for it report the failure.
            let Ok(Profile { started, ended, .. }) = command.event.profile() else { continue };
            if let Some(span) = clock.span(&track, command.work, started, ended) {
                into(span);
            }
        }
        // A marker must wait for queued work, so it is used only where there is none.
        if self.timeline.backlog.is_on() && all_done && clock.is_old() {
            clock = self.compare()?.after(&clock);
            *self.timeline.known() = Some(DeviceTrack { clock, track });
        }
        Ok(())
    }
}

/// Two markers this far apart must have different times: some drivers return 0, 1, 2, 3 for every command.
const APART: Duration = Duration::from_millis(1);

/// Tells whether the driver returns times, and from a running clock.
fn prove(queues: &Queues) -> Result<Result<(), String>> {
    let mut times = [0; 2];
    for time in &mut times {
        match marker_time(queues)? {
            Ok(end) => *time = end,
            Err(reason) => return Ok(Err(reason)),
        }
        thread::sleep(APART);
    }
    let runs = u128::from(times[1].saturating_sub(times[0])) >= APART.as_nanos() / 2;
    Ok(if runs { Ok(()) } else { Err("the driver's clock stands still".into()) })
}

/// Returns when the device ended a marker that is queued now, or why the device does not report it.
fn marker_time(queues: &Queues) -> Result<Result<u64, String>> {
    let marker = queues.current().marker(&[])?;
    marker.wait()?;
    Ok(match marker.profile() {
        Ok(times) => Ok(times.ended),
        Err(error) => Err(format!("its events carry no times: {error}")),
    })
}
