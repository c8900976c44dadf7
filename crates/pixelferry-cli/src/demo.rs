//! `pixelferry demo`.

use clap::ValueEnum;
use pixelferry_examples::scenes::filter::{Filter, FilterScene};
use pixelferry_examples::scenes::nbody::NBody;
use pixelferry_examples::scenes::plasma::{Format, Plasma, Tone};
use pixelferry_examples::scenes::sine::Sine;
use pixelferry_examples::{Scene, runner};
use pixelferry_trace::Trace;
use std::error::Error;
use std::path::{Path, PathBuf};

#[derive(clap::Args)]
pub struct DemoOptions {
    /// What to compute.
    #[arg(value_enum, default_value_t)]
    scene: SceneName,
    /// Picture or video for the filter.
    #[arg(long, value_name = "FILE", required_if_eq("scene", "filter"))]
    input: Option<PathBuf>,
    #[command(flatten)]
    common: pixelferry_examples::Options,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
enum SceneName {
    /// An animated float image, coloured on the device.
    #[default]
    Plasma,
    /// A line of 10 000 points in a vertex buffer; needs OpenGL.
    Sine,
    /// Two galaxies in a vertex buffer; needs OpenGL.
    Nbody,
    /// Edges of a picture or video.
    Filter,
}

impl DemoOptions {
    /// Where a trace is to be written.
    pub fn trace(&self) -> Option<&Path> {
        self.common.trace.as_deref()
    }
}

pub fn run(options: DemoOptions, trace: Option<Trace>) -> Result<(), Box<dyn Error>> {
    let DemoOptions { scene, input, common } = options;
    let size = common.size_or(1280, 720);
    let link = common.link_options();
    let look = (Tone::default(), Format::default());
    let kernels = match scene {
        SceneName::Plasma => Plasma::sources(look.0, look.1),
        SceneName::Sine => Sine::sources(),
        SceneName::Nbody => NBody::sources(),
        SceneName::Filter => FilterScene::sources(),
    };
    runner::show(&common, size, &kernels, trace, move |backend, display| {
        Ok(match (scene, input) {
            (SceneName::Filter, Some(file)) => {
                Box::new(FilterScene::open(backend, display, &file, Filter::default(), link)?) as Box<dyn Scene>
            }
            (SceneName::Sine, _) => Box::new(Sine::new(backend, display, link)?),
            (SceneName::Nbody, _) => Box::new(NBody::new(backend, display, None, link)?),
            (SceneName::Plasma | SceneName::Filter, _) => Box::new(Plasma::new(backend, display, size, look, link)?),
        })
    })
}
