//! Arrays on a part of a device.

use compute_arrays::{Arrays, Expr};
use interop_core::Error;
use opencl_backend::cl::{Device, Partition};
use opencl_backend::{OpenClBackend, OpenClDevice};
use pixelferry_testing::{Need, has, need};
use std::sync::Arc;

#[test]
fn arrays_run_on_a_part_of_a_device() {
    let Some(devices) = need(Need::OpenCl, Device::all()) else { return };
    for device in devices {
        let parts = match device.partition(&Partition::ByCounts(vec![1])) {
            Err(error) if !matches!(error, Error::Unsupported { .. }) => panic!("{error}"),
            parts => parts,
        };
        let described = format!("OpenCL {} ({})", device.name(), device.platform().version().unwrap());
        let Some(parts) = has("fission: by counts", described, parts) else { continue };
        let part = OpenClDevice::try_from(&parts[0]).unwrap();
        let arrays = Arrays::new(Arc::new(OpenClBackend::open(&part).unwrap())).unwrap();
        println!("device: {}", arrays.backend().device());
        assert!(arrays.backend().device().name.contains("a part of 1 units"));
        let n = 20_000;
        let x = arrays.tabulate(&[n], Expr::index().cast::<u32>() % 1000).unwrap();
        let squares = arrays.eval(&x * &x + 1).unwrap();
        let wants: Vec<u32> = (0..n as u32).map(|i| (i % 1000) * (i % 1000) + 1).collect();
        assert_eq!(squares.to_vec().unwrap(), wants);
        assert_eq!(squares.sum().unwrap(), wants.iter().fold(0u32, |a, b| a.wrapping_add(*b)));
        let running = x.expr().cumulative_sum().unwrap().to_vec().unwrap();
        assert_eq!(running.last().copied(), Some((0..n as u32).map(|i| i % 1000).sum()));
    }
}
