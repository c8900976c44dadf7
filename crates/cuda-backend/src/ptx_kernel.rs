//! [`PtxKernel`].

use crate::compiler::{Ptx, Variant, compile_ptx};
use crate::plan::{AddressOf, Geometry, Params, Planner};
use crate::signature::{self, Param};
use interop_core::describe::error::call;
use interop_core::{Arg, DeviceIdentity, Error, KernelSource, Language, Result, View};

/// A kernel as PTX, and how it is launched, for a driver other than CUDA's that loads such text: `vkCreateCuModuleNVX`.
/// Needs no GPU and no CUDA driver; NVRTC (`nvrtcCompileProgram`) where the source is CUDA C++.
#[derive(Debug, Clone)]
pub struct PtxKernel {
    name: String,
    text: String,
    entry: String,
    params: Vec<Param>,
    items: Option<usize>,
}

/// Compute capability of texts for a GPU that CUDA's own driver does not list: the oldest that its compilers all know.
pub(crate) const OLDEST: i32 = 75;

/// Threads that a block of every kernel may have: 65536 registers, of which a thread takes 255 at most.
const THREADS: u32 = 256;

/// PTX features that only CUDA's own launches have, with their names for messages.
const ONLY_CUDA: [(&str, &str); 8] = [
    (".extern", "calls or memory of CUDA's run time (printf, malloc, dynamic shared memory)"),
    (".texref", "textures"),
    (".surfref", "surfaces"),
    (".samplerref", "samplers"),
    (".maxntid", "launch bounds"),
    (".reqntid", "a size of blocks of its own"),
    (".ptr .shared", "local memory among its arguments"),
    (".ptr .const", "constant memory among its arguments"),
];

impl PtxKernel {
    /// Builds the kernel of a source in PTX or CUDA C++ (`nvrtcCompileProgram`), for devices of compute capability
    /// `architecture` (e.g. 90) and later.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where the source has neither, or what only CUDA's own launches have;
    /// [`Error::KernelBuild`] for a text that is wrong; [`Error::Unavailable`] where NVRTC is missing.
    pub fn of(source: &KernelSource, architecture: i32) -> Result<Self> {
        call("PtxKernel::of", || {
            let name = source.name().to_owned();
            let unsupported = |reason: String| Error::unsupported("PTX", reason);
            let (text, entry) = match (source.text(Language::Ptx)?, source.text(Language::CudaCpp)?) {
                (Some(text), _) => (text.to_owned(), name.clone()),
                (_, Some(text)) => {
                    let Ptx { text, entry } = compile_ptx(&name, text, architecture, Variant::Linear)?;
                    (text, entry)
                }
                _ => {
                    let languages = source.languages();
                    return Err(unsupported(format!(
                        "kernel '{name}' has no PTX or CUDA C++ (its languages: {languages})"
                    )));
                }
            };
            let code = signature::without_comments(&text);
            if let Some((word, what)) = ONLY_CUDA.iter().find(|(word, _)| code.contains(word)) {
                return Err(unsupported(format!(
                    "kernel '{name}' has {what} ({word}), which only CUDA's own queue runs"
                )));
            }
            let params = signature::of_entry(&text, &entry).ok_or_else(|| Error::KernelBuild {
                kernel: name.clone(),
                device: "PTX".into(),
                log: format!("the PTX has no entry '{entry}' whose parameters can be read"),
            })?;
            Ok(Self { name, text, entry, params, items: source.items() })
        })
    }

    /// [`PtxKernel::of`] for this GPU, whose compute capability CUDA's own driver says.
    ///
    /// # Errors
    /// Those of [`PtxKernel::of`].
    pub fn for_gpu(source: &KernelSource, gpu: &DeviceIdentity) -> Result<Self> {
        let devices = crate::devices().unwrap_or_default();
        let same = devices.iter().find(|device| device.identity().same_device(gpu).is_yes());
        let architecture = same.map_or(OLDEST, |device| {
            let (major, minor) = device.compute_capability();
            major * 10 + minor
        });
        Self::of(source, architecture)
    }

    /// The kernel's name, as the source has it (no CUDA call).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// PTX (`nvrtcGetPTX`, or the source's own).
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The entry's name in it (`nvrtcGetLoweredName`, or the source's own).
    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Plans a launch (`cuLaunchKernel`) into linear memory whose first byte lies at the address `memory`. `items`: work items for a buffer, where
    /// the launch says so. `address_of` gives the first byte of each memory among the arguments.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the target or an argument is not what the entry takes; what `address_of` says.
    pub fn plan(
        &self,
        memory: u64,
        view: &View,
        items: Option<usize>,
        args: &[Arg<'_>],
        address_of: AddressOf<'_>,
    ) -> Result<(Geometry, Params)> {
        let planner = Planner { kernel: &self.name, params: &self.params, max_threads: THREADS, address_of };
        match view {
            View::Image(v) => planner.image(memory + v.offset as u64, v.row_pitch as i64, v, args),
            View::Buffer(v) => planner.buffer(memory, v, items.or(self.items), args),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{Extent, ImageView, PixelFormat};

    const TEXT: &str = "// .extern of a comment
.version 8.0\n.target sm_50\n.address_size 64
.visible .entry grey(.param .u64 .ptr .global .align 4 out, .param .s64 pitch, .param .s32 w, .param .s32 h, .param .f32 level)
{ ret; }";

    fn source(text: &'static str) -> KernelSource {
        // SAFETY: it is never launched.
        unsafe { KernelSource::new("grey").ptx(text) }
    }

    #[test]
    fn launches_are_planned_without_a_driver() {
        let kernel = PtxKernel::of(&source(TEXT), 90).unwrap();
        let view = View::Image(ImageView {
            offset: 64,
            row_pitch: 512,
            extent: Extent::new(100, 20),
            format: PixelFormat::Rgba8,
        });
        let (geometry, params) = kernel.plan(4096, &view, None, &[Arg::F32(0.5)], &|_| Ok(0)).unwrap();
        assert_eq!(geometry, Geometry { grid: [4, 3], block: [32, 8] });
        let values: Vec<u64> = params.values().map(|value| value[0]).collect();
        assert_eq!(values, [4160, 512, 100, 20, u64::from(0.5f32.to_bits())]);
        assert!(kernel.plan(4096, &view, None, &[Arg::I32(1)], &|_| Ok(0)).is_err());
    }

    #[test]
    fn what_only_cuda_runs_is_refused_with_its_reason() {
        for (word, _) in ONLY_CUDA {
            let text: &'static str = format!("{TEXT}\n{word} x;").leak();
            let error = PtxKernel::of(&source(text), 90).unwrap_err();
            assert!(matches!(error, Error::Unsupported { .. }) && error.to_string().contains(word), "{error}");
        }
        let error = PtxKernel::of(&KernelSource::new("grey").wgsl(""), 90).unwrap_err();
        assert!(error.to_string().contains("no PTX"), "{error}");
    }
}
