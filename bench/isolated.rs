//! `cargo bench -p pixelferry-measure --bench isolated [-- --rounds N --sizes WIDTHxHEIGHT;... --backend NAME --display
//! NAME --json FILE]`: compares frames of a child process with frames of the program itself. In every frame the same
//! kernel writes all pixels, and the display draws them. The two links take turns, each with a block of frames.
//!
//! `latency` waits for each frame until it is drawn, `throughput` keeps two frames under way. The table shows the median
//! time of a frame in the program, and the ratio of the other to it, of blocks that followed each other: the median, and
//! the 95 % interval of it. A backend or display that is missing is SKIPPED with the reason.

#![allow(missing_docs, clippy::expect_used)] // a benchmark that cannot run says so and stops

use measure::{block_ratio, listed, number, sizes, write_rows};
use pixelferry::driver::select::quantile;
use pixelferry::isolation::{IsolatedEvent, IsolatedLink, Isolation, serve_child};
use pixelferry::{
    Arg, Argument, BackendChoice, DisplayChoice, KernelSource, LinkBuilder, OpenedLink, PixelFormat, Policy, Profiles,
    Result, Scratch, SurfaceDesc, Trials, command::ApiChoice as _,
};
use serde::Serialize;
use std::time::{Duration, Instant};

const SIZES: [(u32, u32); 2] = [(1920, 1080), (3840, 2160)];
const BLOCK: u32 = 20;

#[derive(Serialize)]
struct IsolatedRow {
    compute: String,
    display: String,
    size: String,
    wait: &'static str,
    /// Time of each block in the program and with the child, in microseconds a frame.
    program_us: Vec<f64>,
    child_us: Vec<f64>,
}

fn kernel() -> KernelSource {
    const C: &str = "void grey(PF_IMAGE(uchar4, out), unsigned number) {
        unsigned x = PF_X, y = PF_Y;
        if (x < out_width && y < out_height) PF_STORE(out, x, y, MAKE);
    }";
    const X: [&str; 3] = ["get_global_id(0)", "get_global_id(1)", "((uchar4)(number, x, y, 255))"];
    const CUDA: [&str; 3] = [
        "blockIdx.x * blockDim.x + threadIdx.x",
        "blockIdx.y * blockDim.y + threadIdx.y",
        "make_uchar4(number, x, y, 255)",
    ];
    let text = |[x, y, make]: [&str; 3], begin: &str| {
        format!("{begin}{}", C.replace("PF_X", x).replace("PF_Y", y).replace("MAKE", make))
    };
    let wgsl = "@compute @workgroup_size(16, 16)
        fn grey(@builtin(global_invocation_id) id: vec3<u32>) {
            let number = f32(pf_arg_u32(0) & 255);
            pf_store(id.xy, vec4(number, f32(id.x & 255), f32(id.y & 255), 255.0) / 255.0);
        }";
    // SAFETY: each text writes the pixels of its target and nothing else.
    let source = unsafe {
        KernelSource::new("grey").opencl_c(text(X, "__kernel ")).cuda_cpp(text(CUDA, "extern \"C\" __global__ "))
    };
    source.wgsl(wgsl)
}

struct Sides {
    program: OpenedLink,
    child: IsolatedLink,
    number: u32,
}

impl Sides {
    fn open((width, height): (u32, u32), backend: BackendChoice, display: DisplayChoice) -> Result<Self> {
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8);
        let policy = Policy::default().with_profiles(Profiles::Off).with_trials(Trials::Off);
        let builder = LinkBuilder::new(desc).launch(&kernel(), [Scratch::U32(0)]).backend(backend).policy(policy);
        let program = builder.clone().display(display).open()?;
        let mut child = builder.shown_by(&program.display).open_isolated(Isolation::default())?;
        while !matches!(child.update(Duration::from_secs(1))?, IsolatedEvent::Ready { .. }) {}
        Ok(Self { program, child, number: 0 })
    }

    /// Returns the time of a frame in microseconds.
    fn program(&mut self, waits: bool) -> Result<f64> {
        let begun = Instant::now();
        for _ in 0..BLOCK {
            self.number += 1;
            let OpenedLink { link, kernels, display, .. } = &mut self.program;
            link.frame(|frame| frame.launch(kernels[0].as_ref(), &[Arg::U32(self.number)]))?;
            display.draw_offscreen(link.shown()?.surface())?;
            if waits {
                display.finish()?;
            }
        }
        self.program.display.finish()?;
        Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(BLOCK))
    }

    fn child(&mut self, waits: bool) -> Result<f64> {
        let begun = Instant::now();
        let (mut launched, mut shown) = (0, 0);
        while shown < BLOCK {
            let under_way = if waits { 1 } else { 2 };
            while launched < BLOCK
                && launched - shown < under_way
                && self.child.launch(&[&[Argument::U32(self.number)]])?
            {
                (self.number, launched) = (self.number + 1, launched + 1);
            }
            if let IsolatedEvent::Frame { .. } = self.child.update(Duration::from_secs(1))? {
                // The newest frame wins: an earlier one was computed, too.
                shown = launched - self.child.under_way() as u32;
                self.program.display.draw_offscreen(self.child.link().shown()?.surface())?;
                if waits {
                    self.program.display.finish()?;
                }
            }
        }
        self.program.display.finish()?;
        Ok(begun.elapsed().as_secs_f64() * 1e6 / f64::from(BLOCK))
    }
}

fn main() {
    if serve_child().expect("the program of this child ended") {
        return;
    }
    measure::options(&["--backend", "--display", "--json", "--rounds", "--sizes"]);
    let rounds = number("--rounds", 20);
    let mut all = Vec::new();
    println!("| backend | display | size | wait | in the program, us | child: program |\n|---|---|---|---|---|---|");
    let backends = BackendChoice::all()
        .filter(|row| row.choice.api().is_some() && row.choice != BackendChoice::Cpu && listed("--backend", row.name));
    for backend in backends {
        for display in DisplayChoice::all().filter(|row| row.choice.api().is_some() && listed("--display", row.name)) {
            for size in sizes(&SIZES) {
                let mut sides = match Sides::open(size, backend.choice, display.choice) {
                    Ok(sides) => sides,
                    Err(error) => {
                        println!("SKIPPED {} -> {}: {error}", backend.name, display.name);
                        break;
                    }
                };
                for waits in [true, false] {
                    let mut row = IsolatedRow {
                        compute: sides.program.backend.device().to_string(),
                        display: sides.program.display.device().to_string(),
                        size: format!("{}x{}", size.0, size.1),
                        wait: if waits { "latency" } else { "throughput" },
                        program_us: Vec::new(),
                        child_us: Vec::new(),
                    };
                    for round in 0..=rounds {
                        let [program, child] = [sides.program(waits), sides.child(waits)];
                        let (program, child) = (program.expect("a frame"), child.expect("a frame of the child"));
                        // The first round warms up.
                        if round > 0 {
                            row.program_us.push(program);
                            row.child_us.push(child);
                        }
                    }
                    let median = quantile(&row.program_us, 0.5);
                    let ratio = block_ratio(&row.child_us, &row.program_us, 2);
                    let IsolatedRow { compute, display, size, wait, .. } = &row;
                    println!("| {compute} | {display} | {size} | {wait} | {median:.0} | {ratio} |");
                    all.push(row);
                }
            }
        }
    }
    write_rows(&all);
}
