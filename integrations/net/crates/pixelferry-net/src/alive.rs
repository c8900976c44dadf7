//! Liveness of a scene's workers, tracked with Zenoh's liveliness tokens.

use crate::error::{CLOSED, Error, Result};
use crate::lock::lock;
use pixelferry_rules::key::{Keys, read_worker};
use pixelferry_rules::workers::Workers;
use std::sync::{Arc, Mutex};
use zenoh::pubsub::Subscriber;
use zenoh::sample::SampleKind;
use zenoh::{Session, Wait};

/// Follows the tokens of a scene's workers; calls `changed` with all live workers after each change.
pub(crate) fn follow(
    session: &Session,
    keys: &Keys,
    changed: impl Fn(&Workers) + Send + Sync + 'static,
) -> Result<Subscriber<()>> {
    let workers = Arc::new(Mutex::new(Workers::default()));
    let seen = move |sample: zenoh::sample::Sample| {
        let Some((node, place)) = read_worker(sample.key_expr().as_str()) else { return };
        let mut workers = lock(&workers);
        let has_changed = match sample.kind() {
            SampleKind::Put => workers.come(node, place),
            SampleKind::Delete => workers.go(node, place),
        };
        if has_changed {
            changed(&workers);
        }
    };
    let liveliness = session.liveliness();
    let declared = liveliness.declare_subscriber(keys.workers()).history(true).callback(seen).wait();
    declared.map_err(Error::zenoh("liveliness", CLOSED))
}
