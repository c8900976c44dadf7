//! Bit fields and enumerations of OpenCL as types.

use cl3::{command_queue as q, device as d, memory as m};
use std::fmt;

/// A value that a driver can return from `clGetDeviceInfo` and similar calls: made from the bytes of a query, and shown
/// in tables.
pub trait InfoValue: Sized {
    /// Converts the bytes that `clGetDeviceInfo` returned; `None` where they are not such a value.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
    /// Formats the value as text, without an OpenCL call.
    fn show(&self) -> String;
}

fn word<const N: usize>(bytes: &[u8]) -> Option<[u8; N]> {
    bytes.try_into().ok()
}

macro_rules! numbers {
    ($($type:ty),*) => {$(
        impl InfoValue for $type {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                word(bytes).map(Self::from_ne_bytes)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    )*};
}

numbers!(u32, u64, usize);

impl InfoValue for bool {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        u32::from_bytes(bytes).map(|v| v != 0)
    }

    fn show(&self) -> String {
        if *self { "yes" } else { "no" }.into()
    }
}

impl InfoValue for String {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        Some(Self::from_utf8_lossy(&bytes[..end]).trim().to_owned())
    }

    fn show(&self) -> String {
        self.clone()
    }
}

impl InfoValue for Vec<usize> {
    fn from_bytes(bytes: &[u8]) -> Option<Self> {
        bytes.chunks(size_of::<usize>()).map(usize::from_bytes).collect()
    }

    fn show(&self) -> String {
        self.iter().map(usize::to_string).collect::<Vec<_>>().join(" x ")
    }
}

macro_rules! flags {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $flag:ident = $from:ident::$value:ident;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u64);

        impl $name {
            $(
                $(#[$doc])*
                #[doc = concat!("`", stringify!($value), "`.")]
                pub const $flag: Self = Self($from::$value);
            )*

            /// No bit of the `cl_bitfield` set.
            pub const NONE: Self = Self(0);

            /// Returns the bits of the `cl_bitfield`, including unknown ones.
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// Returns true where all bits of `other` are set in the `cl_bitfield`.
            pub const fn contains(self, other: Self) -> bool {
                self.0 & other.0 == other.0
            }
        }

        impl std::ops::BitOr for $name {
            type Output = Self;

            fn bitor(self, other: Self) -> Self {
                Self(self.0 | other.0)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut names = vec![$(($name::$flag, stringify!($flag)),)*];
                names.retain(|(flag, _)| flag.0 != 0 && self.contains(*flag));
                let known = names.iter().fold(0, |bits, (flag, _)| bits | flag.0);
                let mut names: Vec<String> = names.into_iter().map(|(_, name)| name.to_owned()).collect();
                if self.0 & !known != 0 {
                    names.push(format!("{:#x}", self.0 & !known));
                }
                f.write_str(&if names.is_empty() { "none".to_owned() } else { names.join(" | ") })
            }
        }

        impl InfoValue for $name {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                u64::from_bytes(bytes).map(Self)
            }

            fn show(&self) -> String {
                self.to_string()
            }
        }
    };
}

macro_rules! choices {
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $choice:ident = $from:ident::$value:ident;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $(
                $(#[$doc])*
                #[doc = concat!("`", stringify!($value), "`.")]
                $choice,
            )*
        }

        impl $name {
            /// Every choice of the `cl_uint` that this crate knows.
            pub const ALL: &[Self] = &[$(Self::$choice,)*];

            /// Returns its `cl_uint` in OpenCL.
            pub const fn code(self) -> u32 {
                match self {
                    $(Self::$choice => $from::$value as u32,)*
                }
            }

            /// Returns the choice of a `cl_uint`; `None` for a number of a later version.
            pub fn from_code(code: u32) -> Option<Self> {
                Self::ALL.iter().copied().find(|choice| choice.code() == code)
            }
        }

        impl InfoValue for $name {
            fn from_bytes(bytes: &[u8]) -> Option<Self> {
                u32::from_bytes(bytes).and_then(Self::from_code)
            }

            fn show(&self) -> String {
                format!("{self:?}")
            }
        }
    };
}

pub(super) use choices;

flags! {
    /// `CL_DEVICE_TYPE`.
    DeviceType {
        /// The platform's default.
        DEFAULT = d::CL_DEVICE_TYPE_DEFAULT;
        /// The host's processor.
        CPU = d::CL_DEVICE_TYPE_CPU;
        /// A graphics processor.
        GPU = d::CL_DEVICE_TYPE_GPU;
        /// A dedicated accelerator.
        ACCELERATOR = d::CL_DEVICE_TYPE_ACCELERATOR;
        /// A device without support for OpenCL C.
        CUSTOM = d::CL_DEVICE_TYPE_CUSTOM;
        /// Every type except custom ones; only for queries.
        ALL = d::CL_DEVICE_TYPE_ALL;
    }
}

flags! {
    /// `CL_DEVICE_{HALF,SINGLE,DOUBLE}_FP_CONFIG`.
    FpConfig {
        /// Denormal numbers.
        DENORM = d::CL_FP_DENORM;
        /// Infinities and quiet NaNs.
        INF_NAN = d::CL_FP_INF_NAN;
        /// Rounds to nearest even.
        ROUND_TO_NEAREST = d::CL_FP_ROUND_TO_NEAREST;
        /// Rounds to zero.
        ROUND_TO_ZERO = d::CL_FP_ROUND_TO_ZERO;
        /// Rounds to both infinities.
        ROUND_TO_INF = d::CL_FP_ROUND_TO_INF;
        /// IEEE 754-2008 fused multiply-add.
        FMA = d::CL_FP_FMA;
        /// Computed in software.
        SOFT_FLOAT = d::CL_FP_SOFT_FLOAT;
        /// Correctly rounded division and square root.
        CORRECTLY_ROUNDED_DIVIDE_SQRT = d::CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT;
    }
}

flags! {
    /// `CL_DEVICE_EXECUTION_CAPABILITIES`.
    ExecCapabilities {
        /// OpenCL kernels.
        KERNEL = d::CL_EXEC_KERNEL;
        /// Host closures as commands.
        NATIVE_KERNEL = d::CL_EXEC_NATIVE_KERNEL;
    }
}

flags! {
    /// `CL_DEVICE_QUEUE_PROPERTIES`.
    QueueCapabilities {
        /// Queues may run commands out of order.
        OUT_OF_ORDER = q::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        /// Queues may record times.
        PROFILING = q::CL_QUEUE_PROFILING_ENABLE;
        /// Queues on the device (OpenCL 2.0).
        ON_DEVICE = q::CL_QUEUE_ON_DEVICE;
        /// Its default queue on the device (OpenCL 2.0).
        ON_DEVICE_DEFAULT = q::CL_QUEUE_ON_DEVICE_DEFAULT;
    }
}

flags! {
    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: resources that the units of a part may share.
    AffinityDomain {
        /// A NUMA node.
        NUMA = d::CL_DEVICE_AFFINITY_DOMAIN_NUMA;
        /// A level 4 cache.
        L4_CACHE = d::CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE;
        /// A level 3 cache.
        L3_CACHE = d::CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE;
        /// A level 2 cache.
        L2_CACHE = d::CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE;
        /// A level 1 cache.
        L1_CACHE = d::CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE;
        /// The next of these resources along which the device can be divided.
        NEXT_PARTITIONABLE = d::CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE;
    }
}

flags! {
    /// `CL_DEVICE_SVM_CAPABILITIES` (OpenCL 2.0).
    SvmCapabilities {
        /// Buffers, synchronised by maps.
        COARSE_GRAIN_BUFFER = d::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER;
        /// Buffers.
        FINE_GRAIN_BUFFER = d::CL_DEVICE_SVM_FINE_GRAIN_BUFFER;
        /// All host memory.
        FINE_GRAIN_SYSTEM = d::CL_DEVICE_SVM_FINE_GRAIN_SYSTEM;
        /// Atomic operations between host and device.
        ATOMICS = d::CL_DEVICE_SVM_ATOMICS;
    }
}

flags! {
    /// `cl_mem_flags` of a buffer or image, except for those about host memory: [`crate::HostBuffer`] uses host memory
    /// in place, [`crate::Buffer::with_data`] copies it.
    MemFlags {
        /// Kernels read and write it.
        READ_WRITE = m::CL_MEM_READ_WRITE;
        /// Kernels only write it.
        WRITE_ONLY = m::CL_MEM_WRITE_ONLY;
        /// Kernels only read it.
        READ_ONLY = m::CL_MEM_READ_ONLY;
        /// In memory that the host can access.
        ALLOC_HOST_PTR = m::CL_MEM_ALLOC_HOST_PTR;
        /// The host only writes it.
        HOST_WRITE_ONLY = m::CL_MEM_HOST_WRITE_ONLY;
        /// The host only reads it.
        HOST_READ_ONLY = m::CL_MEM_HOST_READ_ONLY;
        /// The host neither reads nor writes it.
        HOST_NO_ACCESS = m::CL_MEM_HOST_NO_ACCESS;
    }
}

impl MemFlags {
    /// The flags of an existing object, without those about host memory.
    pub(super) fn of_object(bits: u64) -> Self {
        Self(bits & !(m::CL_MEM_USE_HOST_PTR | m::CL_MEM_COPY_HOST_PTR))
    }
}

choices! {
    /// `CL_DEVICE_GLOBAL_MEM_CACHE_TYPE`.
    CacheType {
        /// No cache.
        None = d::CL_NONE;
        /// For reading.
        ReadOnly = d::CL_READ_ONLY_CACHE;
        /// For both.
        ReadWrite = d::CL_READ_WRITE_CACHE;
    }
}

choices! {
    /// `CL_DEVICE_LOCAL_MEM_TYPE`.
    LocalMemType {
        /// None.
        None = d::CL_NONE;
        /// Dedicated local memory.
        Local = d::CL_LOCAL;
        /// A part of global memory.
        Global = d::CL_GLOBAL;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_are_told_by_name_and_unknown_bits_by_number() {
        assert_eq!((FpConfig::DENORM | FpConfig::FMA).to_string(), "DENORM | FMA");
        assert_eq!(FpConfig::NONE.to_string(), "none");
        assert_eq!(FpConfig::from_bytes(&0x1001u64.to_ne_bytes()).unwrap().to_string(), "DENORM | 0x1000");
        assert_eq!(FpConfig::from_bytes(&[1]), None);
    }

    #[test]
    fn choices_have_their_number() {
        for choice in CacheType::ALL {
            assert_eq!(CacheType::from_code(choice.code()), Some(*choice));
        }
        assert_eq!(CacheType::from_bytes(&9u32.to_ne_bytes()), None);
    }
}
