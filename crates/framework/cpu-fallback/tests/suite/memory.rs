//! Memory: ranges, copies, imports, and that nothing is copied where nothing has to be.

use cpu_fallback::{CpuBackend, CpuOptions};
use interop_core::conformance;
use interop_core::{Api, ComputeBackend, Error, HandleType, HostBlock, MemoryKind, MemoryShape, Support};

#[test]
fn the_device_says_what_it_is() {
    let backend = CpuBackend::new().unwrap();
    let device = backend.device();
    assert_eq!((device.api, device.memory, device.software), (Api::Cpu, MemoryKind::Host, true));
    assert!(!device.name.is_empty() && !device.vendor.is_empty());
    assert!(device.driver.contains(&backend.threads().to_string()));
    assert_eq!(backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear), Support::Yes);
    assert!(!backend.caps().can_import(HandleType::GlObject, MemoryShape::Image).is_yes());
    assert!(backend.caps().exports.is_empty());
    backend.finish().unwrap();
}

#[test]
fn memory_is_as_every_backends() {
    let shared = CpuOptions::default().with_threads(3).with_serial_items(0);
    for backend in [CpuBackend::new().unwrap(), CpuBackend::with_options(&shared).unwrap()] {
        conformance::memory(&backend, &[(33, 17), (1, 1), (1, 7), (129, 3)]).unwrap();
    }
}

#[test]
fn map_read_and_map_write_show_the_bytes_where_they_lie() {
    let backend = CpuBackend::new().unwrap();
    let block = HostBlock::allocate(1).unwrap();
    let address = block.address().as_ptr().cast_const();
    let mut memory = backend.import_host(&block).unwrap();
    assert_eq!(memory.len(), HostBlock::PAGE);
    memory
        .map_read(16..32, &mut |bytes| {
            assert_eq!(bytes.as_ptr(), address.wrapping_add(16));
            Ok(())
        })
        .unwrap();
    memory
        .map_write(32..33, &mut |bytes| {
            assert_eq!(bytes.as_ptr(), address.wrapping_add(32));
            Ok(())
        })
        .unwrap();
}

#[test]
fn imports_share_their_bytes_and_clashes_are_errors() {
    let backend = CpuBackend::new().unwrap();
    let block = HostBlock::allocate(64).unwrap();
    let mut one = backend.import_host(&block).unwrap();
    let mut two = backend.import_host(&block).unwrap();
    drop(block);
    one.write(0, &[42]).unwrap();
    let mut byte = [0];
    two.read(0, &mut byte).unwrap();
    assert_eq!(byte, [42]);
    assert!(backend.copy(one.as_ref(), two.as_mut(), 0..8).is_err());
    one.map_write(0..8, &mut |_| {
        assert!(matches!(two.read(7, &mut [0]), Err(Error::InvalidInput { .. })));
        two.write(8, &[1])
    })
    .unwrap();
    one.map_read(0..8, &mut |_| {
        assert!(two.write(0, &[1]).is_err());
        two.read(0, &mut [0])
    })
    .unwrap();
    two.write(0, &[1]).unwrap();
}

#[test]
fn impossible_sizes_are_errors() {
    let backend = CpuBackend::new().unwrap();
    assert!(matches!(backend.allocate(0), Err(Error::InvalidInput { .. })));
    for bytes in [usize::MAX, isize::MAX as usize, 1 << 50] {
        assert!(matches!(backend.allocate(bytes), Err(Error::Unsupported { .. } | Error::Unavailable { .. })));
    }
}
