//! Choice of the backend that writes an array's frames.

use crate::failure::Failure;
use crate::named::one_of;
use pixelferry::api::cuda::{self, CudaBackend};
use pixelferry::driver::DeviceUuid;
use pixelferry::driver::describe::process::ProcessMark;
use pixelferry::{BackendChoice, ComputeBackend, DeviceIdentity, LinkBuilder, command::Choice as _, open_backend};
use pixelferry_look::Place;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// Backend that the caller asked for; `Auto` means the CUDA device where the array is, or the quickest for the host's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asked {
    backend: BackendChoice,
    /// A CUDA device by its number, for arrays of the host, too.
    ordinal: Option<u32>,
}

impl Asked {
    /// From Python's `backend=`.
    pub fn parse(text: Option<&str>) -> Result<Self, Failure> {
        let Some(text) = text else { return Ok(Self { backend: BackendChoice::Auto, ordinal: None }) };
        let prefix = format!("{}:", BackendChoice::Cuda.name());
        if let Some(ordinal) = text.strip_prefix(&prefix).and_then(|number| number.parse().ok()) {
            return Ok(Self { backend: BackendChoice::Cuda, ordinal: Some(ordinal) });
        }
        let backend = BackendChoice::parse(text).map_err(|_| {
            let names: Vec<_> = BackendChoice::all().map(|row| format!("'{}'", row.name)).collect();
            Failure::Shape(format!("'{text}' is no backend; the backends are {} and '{prefix}N'", names.join(", ")))
        })?;
        Ok(Self { backend, ordinal: None })
    }

    fn takes(self, place: Place) -> bool {
        match (self.backend, place) {
            (_, Place::Host) | (BackendChoice::Auto, Place::Cuda(_)) => true,
            (_, Place::Backend) => false,
            (backend, Place::Cuda(found)) => {
                backend == BackendChoice::Cuda && self.ordinal.is_none_or(|mine| mine == found)
            }
        }
    }
}

impl fmt::Display for Asked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.ordinal.map(|n| format!(":{n}")).unwrap_or_default();
        write!(f, "'{}{number}'", self.backend.name())
    }
}

/// Location that an array is asked for at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Host,
    /// A CUDA device by its number, or the one that draws.
    Cuda(Option<u32>),
}

impl Wanted {
    /// From Python's `device=`.
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

/// What writes an array's frames.
#[derive(Clone)]
pub enum Engine {
    /// Reads arrays of its CUDA device.
    Cuda(Arc<CudaBackend>),
    /// Reads arrays of the host; `Auto` stands for the one that is measured to be the quickest.
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

    /// Asks for it.
    pub fn wanted(&self, builder: LinkBuilder) -> LinkBuilder {
        match self {
            Self::Cuda(backend) => builder.computed_by(&(backend.clone() as Arc<dyn ComputeBackend>)),
            Self::Host(choice) => builder.backend(*choice),
        }
    }
}

/// The backends of one viewer, opened when first needed. Any thread.
pub struct Engines {
    asked: Asked,
    cuda: Mutex<BTreeMap<u32, Arc<CudaBackend>>>,
}

impl Engines {
    pub fn new(asked: Asked) -> Self {
        Self { asked, cuda: Mutex::default() }
    }

    /// Asks for a display on the device that computes, where there is a choice: the one that was asked for, or the first
    /// GPU of CUDA. One that draws by kernels draws by the backend which reads the arrays.
    pub fn beside(&self, builder: LinkBuilder) -> Result<LinkBuilder, Failure> {
        let backend = match self.asked.backend {
            BackendChoice::Auto => {
                let first = cuda::devices().ok().and_then(|list| list.first()?.identity().ordinal);
                first.and_then(|ordinal| self.cuda(ordinal).ok()).map(|backend| backend as Arc<dyn ComputeBackend>)
            }
            _ => Some(self.engine(Place::Host)?.backend()?),
        };
        Ok(match backend {
            Some(backend) => builder.computed_by(&backend),
            None => builder.backend(BackendChoice::Cpu),
        })
    }

    /// The backend of a CUDA device.
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

    /// The backend that makes arrays of what a display renders; `None` for the host.
    pub fn taker(&self, wanted: Wanted, display: &DeviceIdentity) -> Result<Option<Arc<CudaBackend>>, Failure> {
        let ordinal = match wanted {
            Wanted::Host => return Ok(None),
            Wanted::Cuda(Some(ordinal)) => ordinal,
            Wanted::Cuda(None) => {
                let list = cuda::devices()?;
                let draws = list.iter().find(|device| device.identity().same_device(display).is_yes());
                draws.or(list.first()).and_then(|device| device.identity().ordinal).unwrap_or(0)
            }
        };
        self.cuda(ordinal).map(Some)
    }

    /// The backend for arrays at `place`.
    pub fn engine(&self, place: Place) -> Result<Engine, Failure> {
        if let (Place::Cuda(found), false) = (place, self.asked.takes(place)) {
            return Err(Failure::Device(format!(
                "the array is on CUDA device {found}, and this viewer was opened with backend={}; leave backend out, or \
                 copy the array to the host (x.cpu() or cupy.asnumpy(x))",
                self.asked
            )));
        }
        match (self.asked.backend, place) {
            (_, Place::Cuda(ordinal)) => Ok(Engine::Cuda(self.cuda(ordinal)?)),
            (BackendChoice::Cuda, Place::Host) => Ok(Engine::Cuda(self.cuda(self.asked.ordinal.unwrap_or(0))?)),
            (backend, Place::Host) => Ok(Engine::Host(backend)),
            // No protocol names it.
            (_, Place::Backend) => Err(Failure::Device("the array is in memory of another backend".into())),
        }
    }
}

/// A backend on the CUDA device with this UUID, one for all that ask while somebody has it; `None` where CUDA has none.
pub fn cuda_of(uuid: DeviceUuid) -> Result<Option<Arc<CudaBackend>>, Failure> {
    type Opened = (ProcessMark, DeviceUuid, Weak<CudaBackend>);
    static OPEN: Mutex<Vec<Opened>> = Mutex::new(Vec::new());
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

/// The same, with a stream that nobody else has: what it waits for holds nothing else up.
pub fn cuda_alone(uuid: DeviceUuid) -> Result<Option<CudaBackend>, Failure> {
    // Without a driver there is no device of that UUID either.
    let Ok(list) = cuda::devices() else { return Ok(None) };
    let device = list.iter().find(|device| device.identity().uuid == Some(uuid));
    Ok(device.map(CudaBackend::open).transpose()?)
}
