//! Bit fields and numbered choices of OpenCL as types.

use cl3::{command_queue as q, device as d, memory as m};
use std::fmt;

/// Value that a driver can return from `clGetDeviceInfo` and its like: made from the bytes of a query, shown in tables.
pub trait InfoValue: Sized {
    /// From the bytes that `clGetDeviceInfo` gave; `None` where they are not such a value.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
    /// For a person; no OpenCL call.
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

            /// The bits as OpenCL has them, a `cl_bitfield`, unknown ones included.
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// True where all bits of `other` are set in the `cl_bitfield`.
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
            /// Every choice whose number, a `cl_uint`, this crate knows.
            pub const ALL: &[Self] = &[$(Self::$choice,)*];

            /// The number that OpenCL has for it, as a `cl_uint`.
            pub const fn code(self) -> u32 {
                match self {
                    $(Self::$choice => $from::$value as u32,)*
                }
            }

            /// The choice of that `cl_uint`; `None` for a number of a later version.
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
        /// One that runs no OpenCL C.
        CUSTOM = d::CL_DEVICE_TYPE_CUSTOM;
        /// Every type but a custom one: for questions, no device has it.
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
        /// Computed by software.
        SOFT_FLOAT = d::CL_FP_SOFT_FLOAT;
        /// Divide and square root correctly rounded.
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
        /// Queues may note times.
        PROFILING = q::CL_QUEUE_PROFILING_ENABLE;
        /// Queues of the device's own (OpenCL 2.0).
        ON_DEVICE = q::CL_QUEUE_ON_DEVICE;
        /// Its default such queue (OpenCL 2.0).
        ON_DEVICE_DEFAULT = q::CL_QUEUE_ON_DEVICE_DEFAULT;
    }
}

flags! {
    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: what the units of a part may share.
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
        /// The largest of these that divides the device.
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
    /// `cl_mem_flags` of a buffer or image, except for those about host memory: [`crate::HostBuffer`] uses it in place,
    /// [`crate::Buffer::with_data`] copies it.
    MemFlags {
        /// Kernels read and write it.
        READ_WRITE = m::CL_MEM_READ_WRITE;
        /// Kernels only write it.
        WRITE_ONLY = m::CL_MEM_WRITE_ONLY;
        /// Kernels only read it.
        READ_ONLY = m::CL_MEM_READ_ONLY;
        /// In memory that the host reaches.
        ALLOC_HOST_PTR = m::CL_MEM_ALLOC_HOST_PTR;
        /// The host only writes it.
        HOST_WRITE_ONLY = m::CL_MEM_HOST_WRITE_ONLY;
        /// The host only reads it.
        HOST_READ_ONLY = m::CL_MEM_HOST_READ_ONLY;
        /// The host does neither.
        HOST_NO_ACCESS = m::CL_MEM_HOST_NO_ACCESS;
    }
}

impl MemFlags {
    /// Those of an object that is there, without those about host memory.
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
        /// Memory of its own.
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
