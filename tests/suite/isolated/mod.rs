//! Links whose kernels run in a child process, and what happens to that process.

mod ends;
mod frames;

use pixelferry::isolation::{IsolatedEvent, IsolatedLink, Isolation, serve_child};
use pixelferry::{Argument, KernelSource};
use pixelferry_tests::Need;
use std::process::Command;
use std::time::{Duration, Instant};

/// Far more than a driver of a busy machine takes to open.
const SOON: Duration = Duration::from_secs(120);
const FIELD: u32 = 64;

/// The child process of every test here.
#[test]
#[ignore = "run by the tests of this module, in a process of its own"]
fn child_worker() {
    assert!(serve_child().unwrap(), "no isolated link started this process");
}

/// Arguments that make this program the child.
const CHILD: [&str; 4] = ["isolated::child_worker", "--exact", "--include-ignored", "--nocapture"];

fn isolation() -> Isolation {
    let command = || {
        let mut command = Command::new(std::env::current_exe()?);
        command.args(CHILD);
        Ok(command)
    };
    Isolation::default().with_command(command).with_limit(Duration::from_secs(10))
}

/// Stores a number and a byte of a table in each pixel. Other kinds of `what` harm the process.
fn kernel() -> KernelSource {
    const TEXT: &str = "
        __kernel void field(PF_IMAGE(uchar4, out), uint number, __global const uchar *table, uint what) {
            uint x = get_global_id(0), y = get_global_id(1);
            if (x >= out_width || y >= out_height) return;
            volatile uint turns = 1;
            if (what == 1) while (turns) turns |= 1;
            if (what == 2) *(volatile __global uint *)16 = number;
            if (what == 3) __builtin_trap();
            PF_STORE(out, x, y, ((uchar4)(number & 255, number >> 8, table[x % 16], 255)));
        }";
    const CUDA: &str = "
        extern \"C\" __global__ void field(PF_IMAGE(uchar4, out), unsigned number, const unsigned char *table, unsigned what) {
            unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
            if (x >= out_width || y >= out_height) return;
            // The compiler removes loops that read registers alone.
            if (what == 1) while (*(const volatile unsigned char *)table < 255);
            if (what == 2) *(volatile unsigned *)16 = number;
            if (what == 3) __trap();
            PF_STORE(out, x, y, make_uchar4(number & 255, number >> 8, table[x % 16], 255));
        }";
    const WGSL: &str = "
        @group(1) @binding(0) var<storage, read> table: array<u32>;
        @compute @workgroup_size(16, 16)
        fn field(@builtin(global_invocation_id) id: vec3<u32>) {
            let number = pf_arg_u32(0);
            let byte = table[(id.x % 16) / 4] >> (8 * (id.x % 4)) & 255;
            pf_store(id.xy, vec4(f32(number & 255), f32(number >> 8), f32(byte), 255.0) / 255.0);
        }";
    // SAFETY: the first two texts write the pixels of the target and read 16 bytes of their memory, for `what` of 0. For
    // other values they end or stop a process that exists for this, and use nothing of its memory later.
    unsafe { KernelSource::new("field").opencl_c(TEXT).cuda_cpp(CUDA) }.wgsl(WGSL)
}

fn arguments(number: u32, what: u32) -> [Argument<()>; 3] {
    [Argument::U32(number), Argument::Memory(()), Argument::U32(what)]
}

/// The first row of what the display shows.
fn shown(link: &mut IsolatedLink) -> Vec<u8> {
    let mut bytes = link.link().read_back().unwrap();
    bytes.truncate(4 * FIELD as usize);
    bytes
}

/// The first row of a frame.
fn expected(number: u32, table: &[u8; 16]) -> Vec<u8> {
    (0..FIELD as usize).flat_map(|x| [number as u8, (number >> 8) as u8, table[x % 16], 255]).collect()
}

/// Returns the next event other than frames, or the frame of this launch.
fn event(link: &mut IsolatedLink, until: u64) -> IsolatedEvent {
    let begun = Instant::now();
    loop {
        match link.update(Duration::from_millis(50)).unwrap() {
            IsolatedEvent::Nothing => {}
            IsolatedEvent::Frame { launch } if launch < until => {}
            other => return other,
        }
        assert!(begun.elapsed() < SOON, "no event");
    }
}

fn ready(link: &mut IsolatedLink) -> String {
    match event(link, 0) {
        IsolatedEvent::Ready { device } => device,
        other => panic!("{other:?}"),
    }
}

/// OpenCL drivers in whose processes the tests run.
const DRIVERS: [Need; 2] = [Need::Pocl, Need::Rusticl];
