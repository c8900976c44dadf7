//! Choice of the backend that writes an array's frames.

use crate::failure::Failure;
use crate::named::one_of;
use crate::span::Place;
use pixelferry::api::cuda::{self, CudaBackend};
use pixelferry::{BackendChoice, Choice as _, ComputeBackend, DeviceIdentity, open_backend};
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

/// Backend that the caller asked for; `Auto` means the one where the array is: its CUDA device, or the CPU for memory
/// of the host.
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

/// A backend, and whether it reads arrays of a CUDA device.
#[derive(Clone)]
pub enum Engine {
    Cuda(Arc<CudaBackend>),
    Host(Arc<dyn ComputeBackend>),
}

impl Engine {
    pub fn backend(&self) -> Arc<dyn ComputeBackend> {
        match self {
            Self::Cuda(backend) => backend.clone(),
            Self::Host(backend) => backend.clone(),
        }
    }
}

/// The backends of one viewer, opened when first needed. Any thread.
pub struct Engines {
    asked: Asked,
    opened: Mutex<Opened>,
}

#[derive(Default)]
struct Opened {
    cuda: BTreeMap<u32, Arc<CudaBackend>>,
    host: Option<Arc<dyn ComputeBackend>>,
}

impl Engines {
    pub fn new(asked: Asked) -> Self {
        Self { asked, opened: Mutex::default() }
    }

    /// Returns the device that should draw, if there is a choice: the GPU that computes.
    pub fn preferred_display(&self) -> Result<Option<DeviceIdentity>, Failure> {
        if self.asked.backend == BackendChoice::Auto {
            return Ok(cuda::devices().ok().and_then(|list| Some(list.first()?.identity().clone())));
        }
        Ok(Some(self.engine(Place::Host)?.backend().device().clone()))
    }

    /// The backend of that device, by which a display on it draws: the one that reads its arrays.
    pub fn of_display(&self, device: &DeviceIdentity) -> Result<Arc<dyn ComputeBackend>, Failure> {
        match (self.asked.backend, device.ordinal) {
            (BackendChoice::Auto, Some(ordinal)) => Ok(self.cuda(ordinal)?),
            _ => Ok(self.engine(Place::Host)?.backend()),
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
            (backend, Place::Host) => {
                let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(host) = &opened.host {
                    return Ok(Engine::Host(host.clone()));
                }
                let backend = if backend == BackendChoice::Auto { BackendChoice::Cpu } else { backend };
                Ok(Engine::Host(opened.host.insert(open_backend(backend, &[])?).clone()))
            }
        }
    }
}
