//! Memory: ranges, copies, imports, and that nothing is copied where nothing has to be.

use cpu_fallback::CpuBackend;
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
fn bytes_go_in_and_come_out() {
    let backend = CpuBackend::new().unwrap();
    let mut memory = backend.allocate(10).unwrap();
    memory.write(3, &[1, 2, 3]).unwrap();
    memory
        .map_write(8..10, &mut |bytes| {
            bytes.copy_from_slice(&[8, 9]);
            Ok(())
        })
        .unwrap();
    let mut seen = Vec::new();
    memory
        .map_read(0..10, &mut |bytes| {
            seen.extend_from_slice(bytes);
            Ok(())
        })
        .unwrap();
    assert_eq!(seen, [0, 0, 0, 1, 2, 3, 0, 0, 8, 9]);
    let failed = memory.map_read(0..1, &mut |_| Err(Error::NothingShown));
    assert!(matches!(failed, Err(Error::NothingShown)));
    memory.acquire().unwrap();
    memory.release().unwrap();
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
fn ranges_outside_are_refused() {
    let backend = CpuBackend::new().unwrap();
    let (mut a, mut b) = (backend.allocate(16).unwrap(), backend.allocate(8).unwrap());
    let invalid = |outcome: interop_core::Result<()>| assert!(matches!(outcome, Err(Error::InvalidInput { .. })));
    invalid(a.read(16, &mut [0]));
    invalid(a.read(usize::MAX, &mut [0; 2]));
    invalid(a.write(15, &[0; 2]));
    invalid(a.write(usize::MAX - 1, &[0; 2]));
    invalid(a.map_read(0..17, &mut |_| Ok(())));
    #[allow(clippy::reversed_empty_ranges)]
    invalid(a.map_write(9..8, &mut |_| Ok(())));
    invalid(backend.copy(a.as_ref(), b.as_mut(), 0..9));
    invalid(backend.copy(b.as_ref(), a.as_mut(), 0..9));
    a.write(16, &[]).unwrap();
    a.read(16, &mut []).unwrap();
}

#[test]
fn copies_move_the_range_only() {
    let backend = CpuBackend::new().unwrap();
    let (mut a, mut b) = (backend.allocate(8).unwrap(), backend.allocate(8).unwrap());
    a.write(0, &[1, 2, 3, 4, 5, 6, 7, 8]).unwrap();
    backend.copy(a.as_ref(), b.as_mut(), 2..5).unwrap();
    let mut bytes = [0; 8];
    b.read(0, &mut bytes).unwrap();
    assert_eq!(bytes, [0, 0, 3, 4, 5, 0, 0, 0]);
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
