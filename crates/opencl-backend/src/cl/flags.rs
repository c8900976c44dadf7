//! Bit fields and numbered choices of OpenCL as types.

use std::fmt;

/// What a driver can answer: made from the bytes of a query, shown in tables.
pub trait InfoValue: Sized {
    /// `None` where the bytes are not such a value.
    fn from_bytes(bytes: &[u8]) -> Option<Self>;
    /// For a person.
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
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $flag:ident = $value:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
        pub struct $name(u64);

        impl $name {
            $($(#[$doc])* pub const $flag: Self = Self($value as u64);)*

            /// No bit set.
            pub const NONE: Self = Self(0);

            /// The bits as OpenCL has them, unknown ones included.
            pub const fn bits(self) -> u64 {
                self.0
            }

            /// Whether all bits of `other` are set.
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
    ($(#[$meta:meta])* $name:ident { $($(#[$doc:meta])* $choice:ident = $value:expr;)* }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum $name {
            $($(#[$doc])* $choice,)*
        }

        impl $name {
            /// Every choice.
            pub const ALL: &[Self] = &[$(Self::$choice,)*];

            /// The number that OpenCL has for it.
            pub const fn code(self) -> u32 {
                match self {
                    $(Self::$choice => $value as u32,)*
                }
            }

            /// `None` for a number of a later version.
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
        /// What the platform takes where nobody asks for another.
        DEFAULT = 1;
        /// The host's processor.
        CPU = 2;
        /// A graphics processor.
        GPU = 4;
        /// A dedicated accelerator.
        ACCELERATOR = 8;
        /// One that runs no OpenCL C.
        CUSTOM = 16;
    }
}

flags! {
    /// `CL_DEVICE_{HALF,SINGLE,DOUBLE}_FP_CONFIG`.
    FpConfig {
        /// Denormal numbers.
        DENORM = 1;
        /// Infinities and quiet NaNs.
        INF_NAN = 2;
        /// Rounds to nearest even.
        ROUND_TO_NEAREST = 4;
        /// Rounds to zero.
        ROUND_TO_ZERO = 8;
        /// Rounds to both infinities.
        ROUND_TO_INF = 16;
        /// IEEE 754-2008 fused multiply-add.
        FMA = 32;
        /// Computed by software.
        SOFT_FLOAT = 64;
        /// Divide and square root correctly rounded.
        CORRECTLY_ROUNDED_DIVIDE_SQRT = 128;
    }
}

flags! {
    /// `CL_DEVICE_EXECUTION_CAPABILITIES`.
    ExecCapabilities {
        /// OpenCL kernels.
        KERNEL = 1;
        /// Host closures as commands.
        NATIVE_KERNEL = 2;
    }
}

flags! {
    /// `CL_DEVICE_QUEUE_PROPERTIES`.
    QueueCapabilities {
        /// Queues may run commands out of order.
        OUT_OF_ORDER = 1;
        /// Queues may note times.
        PROFILING = 2;
        /// Queues of the device's own (OpenCL 2.0).
        ON_DEVICE = 4;
        /// Its default such queue (OpenCL 2.0).
        ON_DEVICE_DEFAULT = 8;
    }
}

flags! {
    /// `CL_DEVICE_PARTITION_AFFINITY_DOMAIN`: what the units of a part may share.
    AffinityDomain {
        /// A NUMA node.
        NUMA = 1;
        /// A level 4 cache.
        L4_CACHE = 2;
        /// A level 3 cache.
        L3_CACHE = 4;
        /// A level 2 cache.
        L2_CACHE = 8;
        /// A level 1 cache.
        L1_CACHE = 16;
        /// The largest of these that divides the device.
        NEXT_PARTITIONABLE = 32;
    }
}

flags! {
    /// `CL_DEVICE_SVM_CAPABILITIES` (OpenCL 2.0).
    SvmCapabilities {
        /// Buffers, synchronised by maps.
        COARSE_GRAIN_BUFFER = 1;
        /// Buffers.
        FINE_GRAIN_BUFFER = 2;
        /// All host memory.
        FINE_GRAIN_SYSTEM = 4;
        /// Atomic operations between host and device.
        ATOMICS = 8;
    }
}

flags! {
    /// `cl_mem_flags` of a buffer or image, but for those about host memory: [`crate::cl::HostBuffer`] uses it in place,
    /// [`crate::cl::Buffer::with_data`] copies it.
    MemFlags {
        /// Kernels read and write it.
        READ_WRITE = 1;
        /// Kernels only write it.
        WRITE_ONLY = 2;
        /// Kernels only read it.
        READ_ONLY = 4;
        /// In memory that the host reaches.
        ALLOC_HOST_PTR = 1 << 4;
        /// The host only writes it.
        HOST_WRITE_ONLY = 1 << 7;
        /// The host only reads it.
        HOST_READ_ONLY = 1 << 8;
        /// The host does neither.
        HOST_NO_ACCESS = 1 << 9;
    }
}

choices! {
    /// `CL_DEVICE_GLOBAL_MEM_CACHE_TYPE`.
    CacheType {
        /// No cache.
        None = 0;
        /// For reading.
        ReadOnly = 1;
        /// For both.
        ReadWrite = 2;
    }
}

choices! {
    /// `CL_DEVICE_LOCAL_MEM_TYPE`.
    LocalMemType {
        /// None.
        None = 0;
        /// Memory of its own.
        Local = 1;
        /// A part of global memory.
        Global = 2;
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
