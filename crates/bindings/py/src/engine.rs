//! Chooses the backend that writes an array's frames.

use crate::failure::Failure;
use crate::option_names::one_of;
use pixelferry::api::cuda::{self, CudaBackend};
use pixelferry::driver::DeviceUuid;
use pixelferry::driver::describe::process::ProcessMark;
use pixelferry::{BackendChoice, ComputeBackend, DeviceIdentity, LinkBuilder, command::ApiChoice as _, open_backend};
use pixelferry_look::MemoryLocation;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Backend that the caller requested. `Auto` means the CUDA device of the array, or the fastest backend for arrays on
/// the host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackendRequest {
    backend: BackendChoice,
    /// The CUDA device of this number, also for arrays on the host.
    ordinal: Option<u32>,
}

impl BackendRequest {
    /// Parses Python's `backend=`.
    pub fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { backend: BackendChoice::Auto, ordinal: None }) };
        let prefix = format!("{}:", BackendChoice::Cuda.name());
        if let Some(ordinal) = text.strip_prefix(&prefix).and_then(|number| number.parse().ok()) {
            return Ok(Self { backend: BackendChoice::Cuda, ordinal: Some(ordinal) });
        }
        let backend = BackendChoice::parse(text).map_err(|_| {
            let names: Vec<_> = BackendChoice::all().map(|row| format!("'{}'", row.name)).collect();
            Failure::Shape(format!("unknown backend '{text}'; the backends are {} and '{prefix}N'", names.join(", ")))
        })?;
        Ok(Self { backend, ordinal: None })
    }

    fn takes(self, place: MemoryLocation) -> bool {
        match (self.backend, place) {
            (_, MemoryLocation::Host) | (BackendChoice::Auto, MemoryLocation::Cuda(_)) => true,
            (_, MemoryLocation::Backend) => false,
            (backend, MemoryLocation::Cuda(found)) => {
                backend == BackendChoice::Cuda && self.ordinal.is_none_or(|mine| mine == found)
            }
        }
    }
}

impl fmt::Display for BackendRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.ordinal.map(|n| format!(":{n}")).unwrap_or_default();
        write!(f, "'{}{number}'", self.backend.name())
    }
}

/// Where the caller wants an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ArrayLocation {
    Host,
    /// The CUDA device of this number, or the one that draws.
    Cuda(Option<u32>),
}

impl ArrayLocation {
    /// Parses Python's `device=`.
    pub fn parse(text: &str) -> Result<Self, Failure> {
        let known = match text.split_once(':') {
            None if text == "cpu" => Some(Self::Host),
            None if text == "cuda" => Some(Self::Cuda(None)),
            Some(("cuda", number)) => number.parse().ok().map(|ordinal| Self::Cuda(Some(ordinal))),
            _ => None,
        };
        known.ok_or_else(|| one_of("device", text, &["cpu", "cuda", "cuda:N"]))
    }
}

/// The backend that writes an array's frames.
#[derive(Clone)]
pub enum Engine {
    /// Reads arrays on its CUDA device.
    Cuda(Arc<CudaBackend>),
    /// Reads arrays on the host; `Auto` is the backend that is measured to be the fastest.
    Host(BackendChoice),
}

impl Engine {
    pub fn backend(&self) -> Result<Arc<dyn ComputeBackend>, Failure> {
        Ok(match self {
            Self::Cuda(backend) => backend.clone(),
            Self::Host(BackendChoice::Auto) => open_backend(BackendChoice::Cpu, &[])?,
            Self::Host(choice) => open_backend(*choice, &[])?,
        })
    }

    /// Requests this backend from a builder.
    pub fn wanted(&self, builder: LinkBuilder) -> LinkBuilder {
        match self {
            Self::Cuda(backend) => builder.computed_by(&(backend.clone() as Arc<dyn ComputeBackend>)),
            Self::Host(choice) => builder.backend(*choice),
        }
    }
}

/// The backends of a viewer, opened when first needed. May be used from any thread.
pub struct Engines {
    asked: BackendRequest,
    cuda: Mutex<BTreeMap<u32, Arc<CudaBackend>>>,
}

impl Engines {
    pub fn new(asked: BackendRequest) -> Self {
        Self { asked, cuda: Mutex::default() }
    }

    /// Requests a display on the device that computes, if there is a choice: the requested one, or the first CUDA GPU.
    /// A display that draws with kernels uses the backend that reads the arrays.
    pub fn beside(&self, builder: LinkBuilder) -> Result<LinkBuilder, Failure> {
        let backend = match self.asked.backend {
            BackendChoice::Auto => {
                let first = cuda::devices().ok().and_then(|list| list.first()?.identity().ordinal);
                first.and_then(|ordinal| self.cuda(ordinal).ok()).map(|backend| backend as Arc<dyn ComputeBackend>)
            }
            _ => Some(self.engine(MemoryLocation::Host)?.backend()?),
        };
        Ok(match backend {
            Some(backend) => builder.computed_by(&backend),
            None => builder.backend(BackendChoice::Cpu),
        })
    }

    /// Returns the backend of a CUDA device.
    pub fn cuda(&self, ordinal: u32) -> Result<Arc<CudaBackend>, Failure> {
        let mut opened = self.cuda.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(backend) = opened.get(&ordinal) {
            return Ok(backend.clone());
        }
        let list = cuda::devices()?;
        let device = list.iter().find(|d| d.identity().ordinal == Some(ordinal)).ok_or_else(|| {
            Failure::Device(format!("there is no CUDA device {ordinal}; this process sees {}", list.len()))
        })?;
        let backend = Arc::new(CudaBackend::open(device)?);
        opened.insert(ordinal, backend.clone());
        Ok(backend)
    }

    /// Returns the backend that makes arrays of what a display renders, on its device if there is a choice; `None` for the
    /// host.
    pub fn taker(
        &self,
        wanted: ArrayLocation,
        display: Option<&DeviceIdentity>,
    ) -> Result<Option<Arc<CudaBackend>>, Failure> {
        let ordinal = match wanted {
            ArrayLocation::Host => return Ok(None),
            ArrayLocation::Cuda(Some(ordinal)) => ordinal,
            ArrayLocation::Cuda(None) => {
                let list = cuda::devices()?;
                let draws = display
                    .and_then(|display| list.iter().find(|device| device.identity().same_device(display).is_yes()));
                draws.or(list.first()).and_then(|device| device.identity().ordinal).unwrap_or(0)
            }
        };
        self.cuda(ordinal).map(Some)
    }

    /// Returns the backend for arrays at `place`.
    pub fn engine(&self, place: MemoryLocation) -> Result<Engine, Failure> {
        if let (MemoryLocation::Cuda(found), false) = (place, self.asked.takes(place)) {
            return Err(Failure::Device(format!(
                "the array is on CUDA device {found}, but this viewer was opened with backend={}; leave backend out, \
                 or copy the array to the host (x.cpu() or cupy.asnumpy(x))",
                self.asked
            )));
        }
        match (self.asked.backend, place) {
            (_, MemoryLocation::Cuda(ordinal)) => Ok(Engine::Cuda(self.cuda(ordinal)?)),
            (BackendChoice::Cuda, MemoryLocation::Host) => {
                Ok(Engine::Cuda(self.cuda(self.asked.ordinal.unwrap_or(0))?))
            }
            (backend, MemoryLocation::Host) => Ok(Engine::Host(backend)),
            // No protocol can describe this.
            (_, MemoryLocation::Backend) => Err(Failure::Device("the array is in memory of another backend".into())),
        }
    }
}

/// Returns a backend on the CUDA device with this UUID, which all callers share while one of them holds it; `None` if
/// CUDA has no such device.
pub fn cuda_of(uuid: DeviceUuid) -> Result<Option<Arc<CudaBackend>>, Failure> {
    type OpenedBackend = (ProcessMark, DeviceUuid, Weak<CudaBackend>);
    static OPEN: Mutex<Vec<OpenedBackend>> = Mutex::new(Vec::new());
    let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
    open.retain(|(made, _, backend)| made.is_here() && backend.strong_count() > 0);
    let known = open.iter().filter(|(_, id, _)| *id == uuid).find_map(|(.., backend)| backend.upgrade());
    if let Some(backend) = known {
        return Ok(Some(backend));
    }
    let Some(backend) = cuda_alone(uuid)?.map(Arc::new) else { return Ok(None) };
    open.push((ProcessMark::here(), uuid, Arc::downgrade(&backend)));
    Ok(Some(backend))
}

/// Like [`cuda_of`], with a stream of its own, whose waits delay nothing else.
pub fn cuda_alone(uuid: DeviceUuid) -> Result<Option<CudaBackend>, Failure> {
    // Without a driver, no device has that UUID either.
    let Ok(list) = cuda::devices() else { return Ok(None) };
    let device = list.iter().find(|device| device.identity().uuid == Some(uuid));
    Ok(device.map(CudaBackend::open).transpose()?)
}
