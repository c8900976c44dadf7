//! Edges of parts: lost ones come again, and those of others are refused.

use crate::common::*;
use crate::proxy::{Proxy, Way};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::wire::{Header, Kind};
use pixelferry_net::{Error, Net, Options, WireError};
use std::time::Duration;
use zenoh::Wait as _;

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(600);

#[test]
fn an_edge_that_was_given_before_anybody_was_there_comes_all_the_same() {
    let (net, endpoint) = hub();
    let left = net.halo("sea", 7, 0, &[1]).unwrap();
    for step in 0..5u8 {
        left.put(step.into(), 1, &[step; 3]).unwrap();
    }
    let right = Net::join(Options::through(&endpoint)).unwrap().halo("sea", 7, 1, &[0, 2]).unwrap();
    // The newest two are kept.
    assert_eq!(right.take(3, 0, LONG).unwrap(), [3; 3]);
    assert_eq!(right.take(4, 0, LONG).unwrap(), [4; 3]);
    let none = right.take(5, 0, LOOK).unwrap_err();
    assert!(matches!(none, Error::NoEdge { part: 0, step: 5, .. }), "{none}");
    assert!(matches!(right.take(0, 2, LOOK), Err(Error::NoEdge { part: 2, .. })));
    assert!(matches!(right.take(0, 3, LOOK), Err(Error::Invalid { .. })));
    assert_eq!(right.refused(), 0);
}

#[test]
fn edges_of_other_runs_and_of_strangers_are_refused() {
    let (net, _) = hub();
    let part = net.halo("sea", 7, 1, &[0]).unwrap();
    net.halo("sea", 6, 0, &[1]).unwrap().put(0, 1, b"of the run before").unwrap();
    net.halo("sea", 7, 5, &[1]).unwrap().put(0, 1, b"of no neighbour").unwrap();
    let key = "pixelferry/sea/edge/0000000000000007/0/1";
    net.session().put(key, b"no header".as_slice()).wait().unwrap();
    assert!(matches!(part.take(0, 0, LOOK), Err(Error::NoEdge { .. })));
    assert_eq!(part.refused(), 2);
    let mut options = Options::hub("tcp/127.0.0.1:0");
    options.limits.bytes = 100;
    let small = Net::join(options).unwrap().halo("sea", 7, 0, &[1]).unwrap();
    assert!(matches!(small.put(0, 1, &[0; 101]), Err(Error::Wire(WireError::TooLarge { bytes: 101, limit: 100 }))));
    assert!(net.halo("s/a", 7, 0, &[]).is_err());
}

/// Edges of invented steps take no place from true ones.
#[test]
fn edges_of_far_steps_push_out_none() {
    let (net, _) = hub();
    let (left, right) = (net.halo("sea", 7, 0, &[1]).unwrap(), net.halo("sea", 7, 1, &[0]).unwrap());
    let invent = |at: u64| {
        let image = ImageDesc::new(1, 1, PixelFormat::R8);
        for step in (at..at + 6).chain(u64::MAX - 6..=u64::MAX) {
            let new =
                Header { epoch: 7, frame: step, payload: 3, ..Header::new(Kind::Edge, image, image.extent.full()) };
            let message = [&new.to_bytes()[..], b"bad"].concat();
            net.session().put("pixelferry/sea/edge/0000000000000007/0/1", message).wait().unwrap();
        }
    };
    invent(1 << 40);
    for step in 0..20u64 {
        left.put(step, 1, &step.to_le_bytes()).unwrap();
        invent(step + 100);
        assert_eq!(right.take(step, 0, LONG).unwrap(), step.to_le_bytes());
    }
    assert!(right.refused() > 100, "{}", right.refused());
}

/// Two parts far from each other go on when the network does.
#[test]
fn parts_go_on_after_a_silence_and_a_cut() {
    let (net, endpoint) = hub();
    let proxy = Proxy::before(&endpoint);
    let near = net.halo("sea", 1, 0, &[1]).unwrap();
    let far = Net::join(Options::through(proxy.endpoint())).unwrap().halo("sea", 1, 1, &[0]).unwrap();
    let exchange = |step: u64| {
        let edge = step.to_le_bytes();
        near.put(step, 1, &edge).unwrap();
        far.put(step, 0, &edge).unwrap();
        let both = [near.take(step, 1, LONG).unwrap(), far.take(step, 0, LONG).unwrap()];
        assert!(both.iter().all(|came| *came == edge), "step {step}: {both:?}");
    };
    (0..20).for_each(exchange);
    let silent = Way { is_silent: true, ..Way::default() };
    proxy.set(silent, silent);
    near.put(20, 1, &20u64.to_le_bytes()).unwrap();
    far.put(20, 0, &20u64.to_le_bytes()).unwrap();
    assert!(matches!(near.take(20, 1, LOOK), Err(Error::NoEdge { .. })));
    proxy.heal();
    (20..30).for_each(exchange);
    for step in 30..33 {
        proxy.refuse();
        near.put(step, 1, &step.to_le_bytes()).unwrap();
        far.put(step, 0, &step.to_le_bytes()).unwrap();
        assert!(matches!(far.take(step, 0, LOOK), Err(Error::NoEdge { .. })));
        proxy.heal();
        exchange(step);
    }
}
