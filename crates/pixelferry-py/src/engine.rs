//! Which backend writes the frames of which arrays.

use crate::failure::Failure;
use crate::plane::Place;
use pixelferry::cuda::{self, CudaBackend};
use pixelferry::opencl::OpenClBackend;
use pixelferry::{ComputeBackend, CpuBackend, DeviceIdentity};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// What the caller asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Choice {
    /// Where the array is: its CUDA device, or the CPU for memory of the host.
    Auto,
    /// A CUDA device by its number, for arrays of the host, too.
    Cuda(Option<u32>),
    OpenCl,
    Cpu,
}

impl Choice {
    /// From Python's `backend=`.
    pub fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let number = |text: &str| text.parse().ok();
        match text {
            None | Some("auto") => Ok(Self::Auto),
            Some("cpu") => Ok(Self::Cpu),
            Some("opencl") => Ok(Self::OpenCl),
            Some("cuda") => Ok(Self::Cuda(None)),
            Some(other) => match other.strip_prefix("cuda:").and_then(number) {
                Some(ordinal) => Ok(Self::Cuda(Some(ordinal))),
                None => Err(Failure::Shape(format!(
                    "'{other}' is no backend; the backends are 'auto', 'cuda', 'cuda:N', 'opencl' and 'cpu'"
                ))),
            },
        }
    }
}

/// A backend, and whether it reads arrays of a CUDA device.
#[derive(Clone)]
pub enum Engine {
    Cuda(Arc<CudaBackend>),
    Cpu(Arc<dyn ComputeBackend>),
    OpenCl(Arc<dyn ComputeBackend>),
}

impl Engine {
    pub fn backend(&self) -> Arc<dyn ComputeBackend> {
        match self {
            Self::Cuda(backend) => backend.clone(),
            Self::Cpu(backend) | Self::OpenCl(backend) => backend.clone(),
        }
    }
}

/// The backends of one viewer, opened when first needed. Any thread.
pub struct Engines {
    choice: Choice,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    cuda: BTreeMap<u32, Arc<CudaBackend>>,
    cpu: Option<Arc<dyn ComputeBackend>>,
    opencl: Option<Arc<dyn ComputeBackend>>,
}

impl Engines {
    pub fn new(choice: Choice) -> Self {
        Self { choice, opened: Mutex::default() }
    }

    /// Who should draw, where there is a choice: the GPU that computes.
    pub fn preferred_display(&self) -> Result<Option<DeviceIdentity>, Failure> {
        match self.choice {
            Choice::Cpu => Ok(None),
            Choice::OpenCl => Ok(Some(self.engine(Place::Host)?.backend().device().clone())),
            Choice::Cuda(ordinal) => Ok(Some(self.cuda(ordinal.unwrap_or(0))?.device().clone())),
            Choice::Auto => Ok(cuda::devices().ok().and_then(|list| Some(list.first()?.identity().clone()))),
        }
    }

    /// The backend of a CUDA device.
    pub fn cuda(&self, ordinal: u32) -> Result<Arc<CudaBackend>, Failure> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backend) = opened.cuda.get(&ordinal) {
            return Ok(backend.clone());
        }
        let list = cuda::devices()?;
        let device = list.iter().find(|d| d.identity().ordinal == Some(ordinal)).ok_or_else(|| {
            Failure::Device(format!("there is no CUDA device {ordinal}; this process sees {}", list.len()))
        })?;
        let backend = Arc::new(CudaBackend::open(device)?);
        opened.cuda.insert(ordinal, backend.clone());
        Ok(backend)
    }

    /// The backend for arrays at `place`.
    pub fn engine(&self, place: Place) -> Result<Engine, Failure> {
        if let (Place::Cuda(found), false) = (place, self.takes(place)) {
            return Err(Failure::Device(format!(
                "the array is on CUDA device {found}, and this viewer was opened with backend={}; leave backend out, or \
                 copy the array to the host (x.cpu() or cupy.asnumpy(x))",
                self.name()
            )));
        }
        match (self.choice, place) {
            (_, Place::Cuda(ordinal)) => Ok(Engine::Cuda(self.cuda(ordinal)?)),
            (Choice::Cuda(ordinal), Place::Host) => Ok(Engine::Cuda(self.cuda(ordinal.unwrap_or(0))?)),
            (Choice::OpenCl, Place::Host) => {
                let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(Engine::OpenCl(once(&mut opened.opencl, OpenClBackend::open_best)?))
            }
            (Choice::Auto | Choice::Cpu, Place::Host) => {
                let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
                Ok(Engine::Cpu(once(&mut opened.cpu, CpuBackend::new)?))
            }
        }
    }

    fn takes(&self, place: Place) -> bool {
        match (self.choice, place) {
            (_, Place::Host) | (Choice::Auto | Choice::Cuda(None), _) => true,
            (Choice::Cuda(Some(mine)), Place::Cuda(other)) => mine == other,
            (Choice::OpenCl | Choice::Cpu, Place::Cuda(_)) => false,
        }
    }

    fn name(&self) -> String {
        match self.choice {
            Choice::Auto => "'auto'".into(),
            Choice::Cuda(None) => "'cuda'".into(),
            Choice::Cuda(Some(ordinal)) => format!("'cuda:{ordinal}'"),
            Choice::OpenCl => "'opencl'".into(),
            Choice::Cpu => "'cpu'".into(),
        }
    }
}

fn once<B: ComputeBackend + 'static>(
    slot: &mut Option<Arc<dyn ComputeBackend>>,
    open: impl FnOnce() -> pixelferry::Result<B>,
) -> Result<Arc<dyn ComputeBackend>, Failure> {
    if let Some(backend) = slot {
        return Ok(backend.clone());
    }
    Ok(slot.insert(Arc::new(open()?)).clone())
}
