//! Step by path by situation. Each cell is several scenarios: once, forever, out of memory, and a lost context.

use super::rig::{Log, Rig, image, policy};
use super::run::{Run, StepResult, Writes};
use super::table::{Outcome, Table};
use pixelferry::{ImageDesc, Mode, PathId, Policy, SurfaceDesc, SyncKind, report::PathState};
use pixelferry_tests::sharing::{Fault, FaultKind, FaultStep, Faults};
use pixelferry_tests::{Level, by_level, few, level};

struct Situation {
    name: &'static str,
    mode: Mode,
    sync: Option<SyncKind>,
    /// Frames before the fault.
    before: u32,
    writes: Writes,
    resize: bool,
}

const PLAIN: Situation = Situation {
    name: "later frame",
    mode: Mode::Latency,
    sync: None,
    before: 3,
    writes: Writes::Everything,
    resize: false,
};
const LATE: Situation = Situation { name: "2 frames behind", mode: Mode::FramesBehind(2), before: 6, ..PLAIN };

const BINARY: Option<SyncKind> = Some(SyncKind::BinarySemaphore);
const TIMELINE: Option<SyncKind> = Some(SyncKind::TimelineSemaphore);

/// Known to one path alone.
const EVENTS: Option<SyncKind> = Some(SyncKind::SharedEvent);

const SITUATIONS: [Situation; 22] = [
    Situation { name: "first frame", before: 0, ..PLAIN },
    PLAIN,
    Situation { name: "resize", resize: true, ..PLAIN },
    Situation { name: "regions", writes: Writes::Regions, ..PLAIN },
    LATE,
    Situation { name: "first frame, late", before: 0, ..LATE },
    Situation { name: "resize, late", resize: true, ..LATE },
    Situation { name: "regions, late", writes: Writes::Regions, ..LATE },
    Situation { name: "first frame, a part written", before: 0, writes: Writes::Part, ..PLAIN },
    Situation { name: "a part written", writes: Writes::Part, ..PLAIN },
    Situation { name: "a part written, late", writes: Writes::Part, ..LATE },
    Situation { name: "a part written, resize, late", writes: Writes::Part, resize: true, ..LATE },
    Situation { name: "binary semaphores, a part written, late", sync: BINARY, writes: Writes::Part, ..LATE },
    Situation { name: "finish", sync: Some(SyncKind::Finish), ..PLAIN },
    Situation { name: "binary semaphores", sync: BINARY, ..PLAIN },
    Situation { name: "binary semaphores, regions, late", sync: BINARY, writes: Writes::Regions, ..LATE },
    Situation { name: "binary semaphores, resize, late", sync: BINARY, resize: true, ..LATE },
    Situation { name: "shared events", sync: EVENTS, ..PLAIN },
    Situation { name: "shared events, resize", sync: EVENTS, resize: true, ..PLAIN },
    Situation { name: "timeline semaphores", sync: TIMELINE, ..PLAIN },
    Situation { name: "timeline semaphores, late", sync: TIMELINE, ..LATE },
    Situation { name: "timeline semaphores, regions", sync: TIMELINE, writes: Writes::Regions, ..PLAIN },
];

/// Those of the shortest level: between them every call is made.
const SHORT: [&str; 5] =
    ["resize", "a part written, late", "finish", "binary semaphores, resize, late", "shared events, resize"];

const IMAGE: ImageDesc = image(24, 10);
const RESIZED: ImageDesc = image(17, 13);

/// Steps that signal the ends of the display's reads: after a failure, the signal is repeated before the memory is
/// written.
const HEALED: [FaultStep; 3] = [FaultStep::Fence, FaultStep::DisplaySignal, FaultStep::ComputeWait];

fn preferred(path: PathId, situation: &Situation) -> Policy {
    policy(situation.mode, situation.sync).with_prefer(path)
}

/// Opens the link, and comes to where the fault is to be. `None` where the path is not offered.
fn come_to<'a>(rig: &'a Rig, path: PathId, situation: &Situation) -> StepResult<Option<Run<'a>>> {
    let opened = rig.open(SurfaceDesc::Image(IMAGE), preferred(path, situation));
    let link = match opened {
        Ok(link) if link.path() == path => link,
        _ => return Ok(None),
    };
    let mut run = Run::new(rig, link, IMAGE, situation.writes);
    run.frames(situation.before)?;
    Ok(Some(run))
}

/// The steps that the path makes from there on, each with the number of its calls.
fn steps_of(rig: &Rig, path: PathId, situation: &Situation) -> StepResult<Option<Vec<FaultStep>>> {
    let Some(mut run) = come_to(rig, path, situation)? else { return Ok(None) };
    let before: Vec<_> = FaultStep::ALL.iter().map(|step| rig.faults.calls(*step)).collect();
    if situation.resize {
        run.resize(RESIZED)?.map_err(|e| e.to_string())?;
    }
    run.frames(FRAMES)?;
    run.flush()?;
    let called = |(step, before): (&FaultStep, u32)| (rig.faults.calls(*step) > before).then_some(*step);
    Ok(Some(FaultStep::ALL.iter().zip(before).filter_map(called).collect()))
}

/// Pieces of memory that take turns, at most.
const SLOTS: usize = 6;

/// Frames in which a fault must have come up.
const FRAMES: u32 = 6;

fn scenario(rig: &Rig, log: &Log, path: PathId, situation: &Situation, fault: Fault) -> StepResult {
    let violations = rig.faults.violations().len();
    let logged = log.left();
    let mut run = come_to(rig, path, situation)?.ok_or("it is offered no longer")?;
    rig.faults.arm(fault);
    let outcome = with_fault(&mut run, path, situation, fault);
    rig.faults.disarm();
    let failed = outcome?;
    // The fault is gone.
    run.frames(4)?;
    run.flush()?;
    run.frames(2)?;
    let (demoted, logged) = (run.link.demoted().len(), log.left() - logged);
    let report = run.link.report().clone();
    for (id, reason) in run.link.demoted() {
        let row = report.paths.iter().find(|row| row.id == *id).map(|row| &row.state);
        if row != Some(&PathState::Demoted { reason: reason.clone() }) {
            return Err(format!("{id} was left because of '{reason}', the report says {row:?}"));
        }
    }
    drop(run);
    // If a frame failed altogether, more were left and taken back.
    if logged < demoted || (logged != demoted && !failed) {
        return Err(format!("{demoted} paths were left, {logged} of them said so in the log"));
    }
    if !rig.faults.live().is_empty() {
        return Err(format!("leaked: {:?}", rig.faults.live()));
    }
    match rig.faults.violations().get(violations) {
        Some(violation) => Err(violation.clone()),
        None => Ok(()),
    }
}

/// Runs frames while the fault is there; true where some of them failed.
fn with_fault(run: &mut Run<'_>, path: PathId, situation: &Situation, fault: Fault) -> StepResult<bool> {
    let mut failed = false;
    if situation.resize {
        failed |= judge(run, situation, fault, |run| run.resize(RESIZED))?;
    }
    for _ in 0..FRAMES {
        failed |= judge(run, situation, fault, |run| run.frame())?;
    }
    let rig = run.rig;
    for _ in 0..SLOTS {
        // A delayed failure shows when the memory is used again.
        if run.link.path() == path && HEALED.contains(&fault.step) && !failed {
            failed |= judge(run, situation, fault, |run| run.frame())?;
        }
    }
    if rig.faults.fired() == 0 {
        return match run.flush() {
            Err(_) if rig.faults.fired() > 0 => Ok(true),
            _ => Err("the fault did not come up".into()),
        };
    }
    if run.link.path() == path {
        let healed = HEALED.contains(&fault.step) && !fault.lasting && fault.kind != FaultKind::ContextLost;
        // A resize that the fault stops is done by the same path once more.
        let again = situation.resize && !fault.lasting && fault.kind != FaultKind::ContextLost;
        return match healed || failed || again {
            true => Ok(failed),
            false => Err("the fault made no difference".into()),
        };
    }
    let state = run.link.report().paths.iter().find(|row| row.id == path).map(|row| row.state.clone());
    let state = state.ok_or("the path is not in the report")?;
    if state.works() || !state.detail().contains("on purpose") {
        return Err(format!("the report says of the path that was left: {} ({})", state.word(), state.detail()));
    }
    match run.link.demoted().first() {
        // A resize tries anew, and what does not work then is not taken rather than left.
        _ if situation.resize => Ok(failed),
        Some((id, _)) if *id == path => Ok(failed),
        other => Err(format!("the first that was left is {other:?}")),
    }
}

/// Runs one call. True where it gave an error, which is right only where a new link would not fare better.
fn judge(
    run: &mut Run<'_>,
    situation: &Situation,
    fault: Fault,
    call: impl FnOnce(&mut Run<'_>) -> StepResult<pixelferry::Result<()>>,
) -> StepResult<bool> {
    let Err(error) = call(run)? else { return Ok(false) };
    if !Faults::injected(&error) {
        return Err(format!("the error is not the fault's: {error}"));
    }
    if !fault.lasting && fault.kind != FaultKind::ContextLost {
        if situation.sync == EVENTS {
            return Ok(true);
        }
        return Err(format!("another path would have done it: {error}"));
    }
    let rig = run.rig;
    let fresh = rig.open(SurfaceDesc::Image(IMAGE), policy(situation.mode, situation.sync));
    if let Ok(mut link) = fresh
        && link.frame(|frame| rig.compute(frame, 1)).is_ok()
    {
        return Err(format!("a new link would have gone by {}: {error}", link.path()));
    }
    Ok(true)
}

fn scenarios(step: FaultStep) -> [Fault; 5] {
    let once = Fault::once(step);
    [
        once,
        Fault { lasting: true, ..once },
        Fault { kind: FaultKind::ContextLost, ..once },
        Fault { nth: 2, kind: FaultKind::OutOfMemory, ..once },
        Fault { lasting: true, kind: FaultKind::OutOfMemory, nth: 2, ..once },
    ]
}

fn cell(rig: &Rig, log: &Log, path: PathId, situation: &Situation, step: FaultStep) -> Outcome {
    for fault in few(&scenarios(step), 3).iter().copied() {
        let violations = rig.faults.violations().len();
        let done = scenario(rig, log, path, situation, fault);
        rig.faults.disarm();
        match done {
            Ok(()) => {}
            // Some calls come up once only.
            Err(reason) if fault.nth > 1 && reason == "the fault did not come up" => {}
            Err(reason) => {
                let torn = rig.faults.violations()[violations..].first().cloned().unwrap_or_default();
                return Outcome::Fail(format!("{fault:?}: {reason} {torn}"));
            }
        }
    }
    Outcome::Pass
}

#[test]
fn every_call_may_fail() {
    let (rig, log, mut table) = (Rig::new(), Log::default(), Table::default());
    tracing::subscriber::with_default(log.clone(), || {
        let runs = |situation: &&Situation| level() > Level::Short || SHORT.contains(&situation.name);
        for situation in SITUATIONS.iter().filter(runs) {
            for path in PathId::ALL {
                let steps = match steps_of(&rig, path, situation) {
                    Ok(Some(steps)) => steps,
                    Ok(None) => {
                        let reason = "this way of taking turns is not offered";
                        table.add(situation.name, FaultStep::Launch, path, Outcome::Skipped(reason.into()));
                        continue;
                    }
                    Err(reason) => {
                        table.add(
                            situation.name,
                            FaultStep::Launch,
                            path,
                            Outcome::Fail(format!("with no fault: {reason}")),
                        );
                        continue;
                    }
                };
                for step in FaultStep::ALL {
                    let outcome = match steps.contains(step) {
                        true => cell(&rig, &log, path, situation, *step),
                        false => Outcome::NoCall,
                    };
                    table.add(situation.name, *step, path, outcome);
                }
            }
        }
    });
    println!("{}", table.text());
    let (passed, failed) = table.counts();
    assert_eq!(failed, 0, "see the table");
    // Made by audits, by the way back, by measurements, which have no time here, and by frames that the host writes.
    let elsewhere =
        [FaultStep::Poll, FaultStep::Download, FaultStep::DrawOffscreen, FaultStep::Write, FaultStep::MapWrite];
    assert_eq!(table.untried(), elsewhere, "no path makes these calls in any situation");
    let least = by_level(60, 150, 150);
    assert!(passed >= least, "only {passed} cells were tried");
}
