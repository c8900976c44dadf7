//! The conformance suite on the doubles, with no fault: between them every path of the table exists, in every way of taking
//! turns, which no machine has. What real devices would tear or hang on is looked at, too.

use super::rig::Rig;
use pixelferry::driver::conformance::{ConformanceTable, Manner, Outcome, run};
use pixelferry::{Mode, PathId, SyncKind};
use pixelferry_tests::few;

#[test]
fn every_path_conforms_in_every_way_of_taking_turns() {
    let rig = Rig::new();
    let mut all = Vec::new();
    for sync in [None, Some(SyncKind::Finish), Some(SyncKind::BinarySemaphore), Some(SyncKind::TimelineSemaphore)] {
        for mode in few(&[Mode::FramesBehind(1), Mode::Latency, Mode::FramesBehind(2)], 1).iter().copied() {
            let rows = run(&rig.backend, &rig.display, Manner { mode, sync });
            println!("\n{mode:?}, {sync:?}\n{}", ConformanceTable(&rows));
            all.extend(rows);
        }
    }
    let table = ConformanceTable(&all);
    assert_eq!(table.counts().1, 0, "see the tables");
    for path in PathId::ALL {
        let passed = |case: &str| all.iter().any(|r| r.path == path && r.case == case && r.outcome == Outcome::Pass);
        assert!(passed("unwritten pixels are kept"), "{path} was not run");
    }
    assert_eq!(rig.faults.violations(), Vec::<String>::new());
    assert!(rig.faults.live().is_empty(), "{:?}", rig.faults.live());
}
