//! The audits of one link: which frames, when, and the verdicts.

use super::digest_plan::DigestPlan;
use super::digest_transfer::Digest;
use super::sides::{ComputeSide, DisplaySide};
use crate::compute::ComputeBackend;
use crate::describe::audit_report::AuditReport;
use crate::describe::error::Result;
use crate::describe::verdict::AuditVerdict;
use crate::display::{Display, SurfacePart};
use crate::path::{FrameLayout, OpenedPath, SharingPath};
use crate::select::{Audit, Clock};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// Frames from one automatic audit to the next.
const EVERY: u64 = 60;
/// Longest time from one automatic audit to the next, while frames are shown and few links are open.
const LONGEST: Duration = Duration::from_secs(1);
/// Shortest time from one such audit to the next of any link: with many links, most are audited every 60 frames only.
const BETWEEN: Duration = Duration::from_millis(100);
/// Digests of earlier frames that are kept, to recognise stale frames.
const REMEMBERED: usize = 8;

/// The moment at which the display's digest is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AuditMoment {
    /// When the frame was handed over: finds kernels that were not done.
    FirstRead,
    /// Behind the frame's last draw: finds kernels that wrote the memory too early again.
    LastRead,
}

/// One frame whose digest was taken.
struct AuditedFrame {
    frame: u64,
    part: SurfacePart,
    plan: DigestPlan,
    expected: Digest,
    found: FoundDigest,
}

enum FoundDigest {
    /// The frame is not audited; its digest shows whether a later one is stale.
    Unwanted,
    Wanted(AuditMoment),
    Taken(Digest),
}

/// Counts a link among those with automatic audits by the system's clock.
struct CountedLink(bool);

static COUNTED: AtomicU32 = AtomicU32::new(0);

impl CountedLink {
    fn new(is_counted: bool) -> Self {
        COUNTED.fetch_add(u32::from(is_counted), Ordering::Relaxed);
        Self(is_counted)
    }

    fn longest(&self) -> Duration {
        if self.0 { LONGEST.max(BETWEEN * COUNTED.load(Ordering::Relaxed)) } else { LONGEST }
    }
}

impl Drop for CountedLink {
    fn drop(&mut self) {
        COUNTED.fetch_sub(u32::from(self.0), Ordering::Relaxed);
    }
}

/// The audits of one link.
pub(crate) struct Auditor {
    audit: Audit,
    count: CountedLink,
    clock: Clock,
    sides: Option<Box<(ComputeSide, DisplaySide)>>,
    /// Frames since the last audit, and its time.
    since: (u64, Duration),
    /// The oldest frame first.
    frames: VecDeque<AuditedFrame>,
    /// The moment of the next audit.
    moment: AuditMoment,
    /// The frame that the display shows.
    shown: Option<u64>,
    report: AuditReport,
}

impl Auditor {
    pub fn new(audit: Audit, clock: &Clock) -> Self {
        let mut report = AuditReport::default();
        if audit == Audit::Off {
            report.absent = Some("the policy says so".into());
        }
        let (clock, since, moment) = (clock.clone(), (0, clock.now()), AuditMoment::FirstRead);
        let count = CountedLink::new(audit == Audit::Auto && clock.is_of_the_system());
        Self { audit, count, clock, sides: None, since, frames: VecDeque::new(), moment, shown: None, report }
    }

    pub fn report(&self) -> &AuditReport {
        &self.report
    }

    /// Forgets the frames of the current path and surface.
    pub fn forget(&mut self) {
        self.shown = None;
        for audited in &mut self.frames {
            // It is no longer on show, or never was. Its digests are still on their way.
            audited.frame = 0;
            if let FoundDigest::Wanted(_) = audited.found {
                audited.found = FoundDigest::Unwanted;
            }
        }
        if self.audit != Audit::Off {
            // Another path, or another size, may have what this one lacked.
            self.report.absent = None;
        }
    }

    /// Decides whether a digest of the next frame is taken, and whether the frame is audited.
    fn role(&mut self, frame: u64) -> Option<bool> {
        let every = match self.audit {
            Audit::Off => return None,
            Audit::Every(frames) => u64::from(frames.get()),
            Audit::Auto => EVERY,
        };
        self.since.0 += 1;
        let is_late = self.audit == Audit::Auto && self.clock.since(self.since.1) >= self.count.longest();
        let has_previous = self.frames.back().is_some_and(|previous| previous.frame + 1 == frame);
        match self.since.0 {
            // A program that shows few frames can afford each audit, and would wait long for the second frame.
            count if count >= every || is_late && (has_previous || count == 1) => Some(true),
            // The digest of the frame before shows whether the audited one is stale.
            count if count + 1 == every || is_late => Some(false),
            _ => None,
        }
    }

    /// Before the open frame is handed over: takes its digest behind its kernels, where it is due.
    pub fn before_hand_over(
        &mut self,
        (backend, display): (&Arc<dyn ComputeBackend>, &Arc<dyn Display>),
        path: &mut OpenedPath,
        (layout, part): (&FrameLayout, &SurfacePart),
        frame: u64,
    ) {
        self.take_found(AuditMoment::LastRead, display, path, layout);
        if self.report.absent.is_some() {
            return;
        }
        let Some(is_audited) = self.role(frame) else { return };
        let taken = self.written((backend, display), path, part);
        let (expected, plan) = match taken {
            Ok(Some(taken)) => taken,
            Ok(None) => {
                self.report.skipped += u64::from(is_audited);
                return;
            }
            Err(error) => return self.give_up(&error.to_string()),
        };
        let found = if is_audited { FoundDigest::Wanted(self.next_moment(path)) } else { FoundDigest::Unwanted };
        self.frames.push_back(AuditedFrame { frame, part: part.clone(), plan, expected, found });
        if is_audited {
            self.since = (0, self.clock.now());
        }
    }

    fn written(
        &mut self,
        (backend, display): (&Arc<dyn ComputeBackend>, &Arc<dyn Display>),
        path: &mut OpenedPath,
        part: &SurfacePart,
    ) -> Result<Option<(Digest, DigestPlan)>> {
        let sides = match self.sides.take() {
            Some(sides) => self.sides.insert(sides),
            None => self.sides.insert(Box::new((ComputeSide::open(backend)?, DisplaySide::open(display.as_ref())?))),
        };
        sides.0.written(display.as_ref(), path, part)
    }

    /// Alternates the moments where the display reads the kernels' memory for as long as the frame is shown.
    fn next_moment(&mut self, path: &OpenedPath) -> AuditMoment {
        let next = match self.moment {
            AuditMoment::FirstRead if path.reads_in_place() => AuditMoment::LastRead,
            _ => AuditMoment::FirstRead,
        };
        std::mem::replace(&mut self.moment, next)
    }

    /// After the hand-over: takes the digest of what the display now reads, where it is due.
    pub fn after_hand_over(
        &mut self,
        display: &Arc<dyn Display>,
        path: &mut OpenedPath,
        layout: &FrameLayout,
        newest: u64,
    ) {
        let shown = path.shown_frame().map_or(newest, |shown| shown.frame);
        for audited in &mut self.frames {
            // It failed, or a later one was shown instead.
            if audited.frame < shown && matches!(audited.found, FoundDigest::Wanted(_)) {
                audited.found = FoundDigest::Unwanted;
            }
        }
        self.shown = Some(shown);
        self.take_found(AuditMoment::FirstRead, display, path, layout);
    }

    fn take_found(
        &mut self,
        moment: AuditMoment,
        display: &Arc<dyn Display>,
        path: &mut OpenedPath,
        layout: &FrameLayout,
    ) {
        let (Some(shown), Some(sides)) = (self.shown, &mut self.sides) else { return };
        if moment == AuditMoment::LastRead && path.shown_frame().is_some_and(|now| now.frame != shown) {
            // The program has flushed, so the display shows a later frame.
            return;
        }
        let Some(audited) = self.frames.iter_mut().find(|audited| audited.is_wanted_at(shown, moment)) else { return };
        match sides.1.read(display, path.surface_mut(), layout, &audited.part) {
            Ok(Some(digest)) => audited.found = FoundDigest::Taken(digest),
            Ok(None) => {
                audited.found = FoundDigest::Unwanted;
                self.report.skipped += 1;
            }
            Err(error) => self.give_up(&error.to_string()),
        }
    }

    fn give_up(&mut self, reason: &str) {
        tracing::debug!(reason, "frames are no longer audited");
        self.report.absent = Some(reason.to_owned());
        self.frames.clear();
        self.sides = None;
    }

    /// Judges the frames whose digests have arrived; does not wait. Returns the first that is not right.
    pub fn settle(&mut self) -> Option<(u64, AuditVerdict)> {
        let sides = self.sides.as_mut()?;
        let mut wrong = None;
        let (mut judged, mut failed) = (Vec::new(), None);
        for (at, audited) in self.frames.iter_mut().enumerate() {
            let expected = audited.expected.poll(sides.0.maker()).map(|digest| digest.is_some());
            let found = match &mut audited.found {
                FoundDigest::Taken(digest) => digest.poll(sides.1.maker()).map(|digest| digest.is_some()),
                FoundDigest::Unwanted | FoundDigest::Wanted(_) => Ok(false),
            };
            match expected.and_then(|expected| Ok(expected && found?)) {
                Ok(true) => judged.push(at),
                Ok(false) => {}
                Err(error) => failed = Some(error.to_string()),
            }
        }
        for at in judged {
            if let Some((frame, verdict)) = self.judge(at) {
                let count = if verdict.is_right() { &mut self.report.right } else { &mut self.report.wrong };
                *count += 1;
                if !verdict.is_right() && wrong.is_none() {
                    wrong = Some((frame, verdict.clone()));
                }
                self.report.last = Some((frame, verdict));
            }
        }
        if let Some(reason) = failed {
            self.give_up(&reason);
        }
        while self.frames.len() > REMEMBERED && self.frames.front().is_some_and(AuditedFrame::is_over) {
            self.frames.pop_front();
        }
        let is_under_way = |audited: &&AuditedFrame| matches!(audited.found, FoundDigest::Taken(_));
        self.report.under_way = self.frames.iter().filter(is_under_way).count() as u64;
        wrong
    }

    /// Compares the two digests of a frame. Returns `None` for a frame of an earlier path.
    fn judge(&mut self, at: usize) -> Option<(u64, AuditVerdict)> {
        let audited = &mut self.frames[at];
        let FoundDigest::Taken(Digest::Arrived(found)) = std::mem::replace(&mut audited.found, FoundDigest::Unwanted)
        else {
            return None;
        };
        let audited = &self.frames[at];
        let Digest::Arrived(expected) = &audited.expected else { return None };
        let earlier = self.frames.iter().take(at).rev().filter_map(|earlier| match &earlier.expected {
            Digest::Arrived(digest) if earlier.frame > 0 && earlier.part == audited.part => {
                Some((audited.frame - earlier.frame, digest.as_slice()))
            }
            _ => None,
        });
        let verdict = verdict(&audited.plan, expected, &found, earlier);
        (audited.frame > 0).then_some((audited.frame, verdict))
    }
}

impl AuditedFrame {
    fn is_wanted_at(&self, shown: u64, moment: AuditMoment) -> bool {
        self.frame == shown && matches!(self.found, FoundDigest::Wanted(wanted) if wanted == moment)
    }

    fn is_judged(&self) -> bool {
        matches!(self.found, FoundDigest::Unwanted)
    }

    /// True where nothing of it is on its way.
    fn is_over(&self) -> bool {
        !matches!(self.expected, Digest::UnderWay(_)) && self.is_judged()
    }
}

/// Compares digests band by band. `earlier` holds the digests of earlier frames, with the number of frames between.
fn verdict<'d>(
    plan: &DigestPlan,
    expected: &[u32],
    found: &[u32],
    earlier: impl Iterator<Item = (u64, &'d [u32])>,
) -> AuditVerdict {
    let bands = (0..).zip(expected.iter().zip(found));
    let wrong: Vec<u32> = bands.filter(|(_, (a, b))| a != b).map(|(band, _)| band).collect();
    if wrong.is_empty() {
        return AuditVerdict::Right;
    }
    for (by, digest) in earlier {
        let is_of_it = |band: &u32| digest.get(*band as usize) == found.get(*band as usize);
        if wrong.iter().all(is_of_it) {
            let is_whole = digest == found;
            return if is_whole {
                AuditVerdict::Stale { by }
            } else {
                AuditVerdict::Torn { by, rows: rows(plan, &wrong) }
            };
        }
    }
    AuditVerdict::Wrong { rows: rows(plan, &wrong) }
}

/// Returns the rows of these bands; bands that follow each other are one range.
fn rows(plan: &DigestPlan, bands: &[u32]) -> Vec<Range<u32>> {
    let joined = bands.chunk_by(|a, b| a + 1 == *b);
    joined.filter_map(|bands| Some(plan.rows_of(*bands.first()?..bands.last()? + 1))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BufferView, View};

    #[test]
    fn many_links_have_fewer_audits_by_time() {
        // Other tests may count links, too.
        let links: Vec<_> = (0..200).map(|_| CountedLink::new(true)).collect();
        assert!(links[0].longest() >= BETWEEN * 200);
        assert_eq!(CountedLink::new(false).longest(), LONGEST);
    }

    #[test]
    fn verdicts_tell_stale_torn_and_wrong_frames_apart() {
        let view = View::Buffer(BufferView { offset: 0, len: 4 * 4096 });
        let plan = DigestPlan::new(&view, &SurfacePart::Buffer(0..4 * 4096)).unwrap();
        let earlier: [(u64, &[u32]); 2] = [(1, &[1, 2, 3, 4]), (3, &[9, 9, 3, 4])];
        let of = |found: &[u32]| verdict(&plan, &[5, 6, 3, 8], found, earlier.into_iter());
        assert_eq!(of(&[5, 6, 3, 8]), AuditVerdict::Right);
        assert_eq!(of(&[1, 2, 3, 4]), AuditVerdict::Stale { by: 1 });
        assert_eq!(of(&[9, 9, 3, 4]), AuditVerdict::Stale { by: 3 });
        assert_eq!(of(&[5, 6, 3, 4]), AuditVerdict::Torn { by: 1, rows: rows(&plan, &[3]) });
        assert_eq!(of(&[9, 9, 3, 8]), AuditVerdict::Torn { by: 3, rows: rows(&plan, &[0, 1]) });
        assert_eq!(of(&[0, 6, 0, 8]), AuditVerdict::Wrong { rows: vec![0..1, 2..3] });
    }
}
