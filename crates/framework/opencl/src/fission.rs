//! Dividing a device (OpenCL 3.0 API, 4.3; `clCreateSubDevices`).

use super::flags::InfoValue;
use super::{AffinityDomain, Device};
use crate::ffi::Failure;
use crate::ffi::handle::{Handle, SubDeviceKind};
use cl3::device as d;
use cl3::error_codes::{CL_INVALID_VALUE, CL_SUCCESS, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use interop_core::{Error, Result};
use std::ptr;

/// A way in which a device can be divided (`cl_device_partition_property`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum PartitionKind {
    /// Into parts of equal size: `CL_DEVICE_PARTITION_EQUALLY`.
    Equally,
    /// Into parts of given sizes: `CL_DEVICE_PARTITION_BY_COUNTS`.
    ByCounts,
    /// By resources that the units share: `CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN`.
    ByAffinityDomain,
    /// A partition of a later version or an extension: its `cl_device_partition_property`.
    Other(isize),
}

impl PartitionKind {
    const fn of(code: isize) -> Self {
        match code {
            d::CL_DEVICE_PARTITION_EQUALLY => Self::Equally,
            d::CL_DEVICE_PARTITION_BY_COUNTS => Self::ByCounts,
            d::CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN => Self::ByAffinityDomain,
            code => Self::Other(code),
        }
    }
}

impl InfoValue for Vec<PartitionKind> {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let codes = Vec::<usize>::from_bytes(bytes)?;
        // Drivers without partitions return one 0, or nothing.
        Some(codes.into_iter().filter(|code| *code != 0).map(|code| PartitionKind::of(code as isize)).collect())
    }

    fn show(&self) -> String {
        if self.is_empty() { "none".into() } else { format!("{self:?}") }
    }
}

/// Partition of a device (the properties of `clCreateSubDevices`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Partition {
    /// Into as many parts as fit, with this number of compute units each: `CL_DEVICE_PARTITION_EQUALLY`.
    Equally(u32),
    /// Into parts with these numbers of compute units; the rest of the device is unused:
    /// `CL_DEVICE_PARTITION_BY_COUNTS`.
    ByCounts(Vec<u32>),
    /// Into parts that share a cache or NUMA node: `CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN`.
    ByAffinityDomain(AffinityDomain),
}

impl Partition {
    const fn kind(&self) -> PartitionKind {
        match self {
            Self::Equally(_) => PartitionKind::Equally,
            Self::ByCounts(_) => PartitionKind::ByCounts,
            Self::ByAffinityDomain(_) => PartitionKind::ByAffinityDomain,
        }
    }

    fn list(&self) -> Vec<isize> {
        match self {
            Self::Equally(units) => vec![d::CL_DEVICE_PARTITION_EQUALLY, *units as isize, 0],
            Self::ByCounts(counts) => {
                let counts = counts.iter().map(|n| *n as isize);
                [d::CL_DEVICE_PARTITION_BY_COUNTS].into_iter().chain(counts).chain([0, 0]).collect()
            }
            Self::ByAffinityDomain(domain) => {
                vec![d::CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN, domain.bits() as isize, 0]
            }
        }
    }
}

impl Device {
    /// Creates devices from its compute units (`clCreateSubDevices`). Contexts and queues on one of them leave the
    /// others free.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `CL_DEVICE_PARTITION_PROPERTIES` or the affinity domains do not list it.
    /// [`Error::InvalidInput`] for sizes of 0, more units than there are, or more parts than
    /// `CL_DEVICE_PARTITION_MAX_SUB_DEVICES`.
    pub fn partition(&self, partition: &Partition) -> Result<Vec<Self>> {
        const OP: &str = "clCreateSubDevices";
        let kinds = self.partition_properties()?;
        if !kinds.contains(&partition.kind()) {
            let reason = format!("CL_DEVICE_PARTITION_PROPERTIES lists {}, not {:?}", kinds.show(), partition.kind());
            return Err(self.unsupported(OP, reason));
        }
        let units = self.max_compute_units()?;
        match partition {
            Partition::Equally(n) if *n == 0 || *n > units => {
                return Err(Error::invalid(OP, format!("parts of {n} units, but there are {units}; use 1 to {units}")));
            }
            Partition::ByCounts(counts) => {
                let sum: u64 = counts.iter().map(|n| u64::from(*n)).sum();
                let most = self.partition_max_sub_devices()?;
                if counts.is_empty() || counts.contains(&0) || sum > u64::from(units) || counts.len() > most as usize {
                    let problem =
                        format!("parts of {counts:?} units; there are {units} units for at most {most} parts");
                    return Err(Error::invalid(OP, problem));
                }
            }
            Partition::ByAffinityDomain(domain) => {
                let listed = self.partition_affinity_domain()?;
                if *domain == AffinityDomain::NONE || !listed.contains(*domain) {
                    let reason = format!("CL_DEVICE_PARTITION_AFFINITY_DOMAIN lists {listed}, not {domain}");
                    return Err(self.unsupported(OP, reason));
                }
            }
            Partition::Equally(_) => {}
        }
        let parts = self.parts(&partition.list()).map_err(|f| f.on(self.name()))?;
        parts.into_iter().map(|part| Self::part(part, self)).collect()
    }

    /// `properties` is a list that ends with 0.
    fn parts(&self, properties: &[isize]) -> Result<Vec<Handle<SubDeviceKind>>, Failure> {
        const CALL: &str = "clCreateSubDevices";
        let failure = |code| Failure { operation: CALL, code };
        if properties.last() != Some(&0) {
            return Err(failure(CL_INVALID_VALUE));
        }
        // Called directly: cl3's function gives the driver a list length of eight times the list.
        let runtime = cl3::load_library().as_ref().map_err(|_| failure(DLOPEN_RUNTIME_LOAD_FAILED))?;
        let call = |capacity, list, count: &mut u32| match runtime.clCreateSubDevices(
            self.raw(),
            properties.as_ptr(),
            capacity,
            list,
            count,
        ) {
            Some(CL_SUCCESS) => Ok(()),
            code => Err(failure(code.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE))),
        };
        let mut count = 0;
        call(0, ptr::null_mut(), &mut count)?;
        let mut list = vec![ptr::null_mut(); count as usize];
        call(count, list.as_mut_ptr(), &mut count)?;
        list.truncate(count as usize);
        let part = |raw| {
            // SAFETY: a device that was just created, whose one reference is ours.
            unsafe { Handle::own(CALL, Ok(raw)) }
        };
        list.into_iter().map(part).collect()
    }
}
