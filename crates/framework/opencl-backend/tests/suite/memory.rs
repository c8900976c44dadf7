//! Memories: transfers, imported host memory, refusals.

use crate::suite::{content, described, memory_with, on_every_device, vouched};
use interop_core::conformance;
use interop_core::devices::borrows::Holder;
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Error, HandleType, HostBlock, MemoryShape, Result, Support, Target,
};
use opencl_backend::OpenClBackend;
use pixelferry_testing::{by_level, has};

fn count(n: usize) -> Vec<u8> {
    (0..n).map(|i| (i * 7 + i / 256) as u8).collect()
}

#[test]
fn memory_is_as_every_backends() {
    on_every_device(|backend| {
        let sizes = [(5, 3), (1, 1), (64, 16), (101, 7)];
        conformance::memory(backend, &sizes[..by_level(1, 4, 4)]).unwrap();
    });
}

#[test]
fn sizes_that_cannot_be_are_refused() {
    on_every_device(|backend| {
        let max = backend.caps().max_allocation;
        assert!(max >= 1 << 20, "{max}");
        assert!(matches!(backend.allocate(0), Err(Error::InvalidInput { .. })));
        for bytes in [max + 1, u64::MAX] {
            let error = backend.allocate(usize::try_from(bytes).unwrap()).err().unwrap();
            assert!(
                matches!(&error, Error::Unsupported { reason, .. } if reason.contains(&max.to_string())),
                "{error}"
            );
        }
        backend.allocate(1).unwrap();
    });
}

fn imports(backend: &OpenClBackend) -> bool {
    let found = match backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear) {
        Support::Yes => Ok(()),
        Support::No(reason) => {
            assert!(reason.contains("copy"), "{reason}");
            let block = HostBlock::allocate(4096).unwrap();
            assert!(matches!(backend.import_host(&block), Err(Error::Unsupported { .. })));
            Err(reason)
        }
    };
    has("host memory in place", described(backend), found).is_some()
}

/// Returns what the host sees at the block's own address.
fn at_address(block: &HostBlock, len: usize) -> Vec<u8> {
    block.read(0..len, Holder::Guard).unwrap().to_vec()
}

fn add(backend: &OpenClBackend, memory: &mut dyn ComputeMemory, value: u32) -> Result<()> {
    let text = "__kernel void add(PF_BUFFER(uchar, out), uint n) {
                  size_t i = get_global_id(0) * 4;
                  for (size_t k = i; k < i + 4 && k < PF_LEN(out); k++) PF_ITEM(out, k) += (uchar)n;
                }";
    let kernel = backend.build(&vouched("add", text))?;
    backend.launch(kernel.as_ref(), Target::buffer(memory), &[Arg::U32(value)])
}

#[test]
fn imported_memory_is_written_in_place_turn_by_turn() {
    on_every_device(|backend| {
        if !imports(backend) {
            return;
        }
        let whole = HostBlock::allocate(3 * 4096).unwrap();
        for block in [whole.clone(), whole.part(64..5064).unwrap(), whole.part(4096..4097).unwrap()] {
            block.write(0..block.len(), Holder::Guard).unwrap().fill(10);
            let mut memory = backend.import_host(&block).unwrap();
            assert_eq!(memory.len(), block.len());
            for turn in 1..=3 {
                add(backend, memory.as_mut(), 1).unwrap();
                memory.release().unwrap();
                // A second release changes nothing.
                memory.release().unwrap();
                assert!(at_address(&block, block.len()) == vec![10 + turn; block.len()], "turn {turn}");
            }
            memory.write(0, &[77]).unwrap();
            memory.release().unwrap();
            assert_eq!(at_address(&block, 1), [77]);
            // The mapped address is the block's own: nothing was copied.
            let mut seen = 0;
            memory
                .map_read(0..1, &mut |bytes| {
                    seen = bytes.as_ptr().addr();
                    Ok(())
                })
                .unwrap();
            assert_eq!(seen, block.address().as_ptr().addr());
        }
    });
}

#[test]
fn dropped_imports_have_finished_and_keep_the_block_alive() {
    on_every_device(|backend| {
        if !imports(backend) {
            return;
        }
        let block = HostBlock::allocate(1 << 20).unwrap();
        let mut memory = backend.import_host(&block).unwrap();
        add(backend, memory.as_mut(), 3).unwrap();
        drop(memory);
        assert!(at_address(&block, block.len()) == vec![3; block.len()]);
        let mut memory = backend.import_host(&block).unwrap();
        drop(block);
        add(backend, memory.as_mut(), 4).unwrap();
        assert!(content(memory.as_mut()) == vec![7; 1 << 20]);
        memory.release().unwrap();
    });
}

#[test]
fn blocks_that_do_not_fit_are_refused() {
    on_every_device(|backend| {
        if !imports(backend) {
            return;
        }
        let whole = HostBlock::allocate(8192).unwrap();
        let error = backend.import_host(&whole.part(4..104).unwrap()).err().unwrap();
        assert!(matches!(&error, Error::InvalidInput { problem, .. } if problem.contains("aligned to")), "{error}");
        assert!(backend.import_host(&whole.part(0..0).unwrap()).is_err());

        let (a, mut b) = (backend.import_host(&whole).unwrap(), backend.import_host(&whole).unwrap());
        let error = backend.copy(a.as_ref(), b.as_mut(), 0..16).unwrap_err();
        assert!(error.to_string().contains("overlap"), "{error}");
    });
}

#[test]
fn prepared_host_memory_takes_copies() {
    on_every_device(|backend| {
        let block = HostBlock::allocate(100_000).unwrap();
        let prepared = backend.prepare_host(&block).unwrap();
        assert_eq!(prepared.is_none(), backend.device().memory.is_host_memory());
        let mut memory = memory_with(backend, &count(100_000));
        for turn in 0..3u8 {
            memory.write(usize::from(turn), &[turn]).unwrap();
            let mut bytes = block.write(0..100_000, Holder::Guard).unwrap();
            memory.read(0, &mut bytes).unwrap();
            assert!(bytes[usize::from(turn)] == turn && bytes[3..] == count(100_000)[3..]);
            bytes[5] = count(6)[5];
            memory.write(0, &bytes).unwrap();
        }
        drop(prepared);
        assert!(at_address(&block, 100_000)[3..] == count(100_000)[3..]);
    });
}
