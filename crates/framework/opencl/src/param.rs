//! [`Param`]: the declaration of a kernel's parameter.

use cl3::kernel as k;

/// Address space that a parameter points to (`CL_KERNEL_ARG_ADDRESS_QUALIFIER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressSpace {
    /// A buffer or image: `CL_KERNEL_ARG_ADDRESS_GLOBAL`.
    Global,
    /// A buffer that kernels only read: `CL_KERNEL_ARG_ADDRESS_CONSTANT`.
    Constant,
    /// Memory of a work group: `CL_KERNEL_ARG_ADDRESS_LOCAL`.
    Local,
    /// A value: `CL_KERNEL_ARG_ADDRESS_PRIVATE`.
    Private,
}

/// Access of a kernel to an image (`CL_KERNEL_ARG_ACCESS_QUALIFIER`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageAccess {
    /// Not an image: `CL_KERNEL_ARG_ACCESS_NONE`.
    None,
    /// `read_only`: `CL_KERNEL_ARG_ACCESS_READ_ONLY`.
    ReadOnly,
    /// `write_only`: `CL_KERNEL_ARG_ACCESS_WRITE_ONLY`.
    WriteOnly,
    /// `read_write`: `CL_KERNEL_ARG_ACCESS_READ_WRITE`.
    ReadWrite,
}

/// One parameter of a kernel, as the compiler reports it (`clGetKernelArgInfo`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Param {
    pub(crate) name: String,
    pub(crate) type_name: String,
    /// `CL_KERNEL_ARG_ADDRESS_*`.
    pub(crate) address: u32,
    /// `CL_KERNEL_ARG_ACCESS_*`.
    pub(crate) access: u32,
    /// `CL_KERNEL_ARG_TYPE_*`.
    pub(crate) qualifiers: u64,
    /// Bytes of a type that the program defines, where a record or a caller states them.
    pub(crate) bytes: Option<usize>,
}

impl Param {
    /// A parameter for [`Kernel::with_params`], instead of what `clGetKernelArgInfo` does not tell. It has the
    /// type as in the source, such as `float*`, `int4`, `image2d_t` or `sampler_t`.
    ///
    /// [`Kernel::with_params`]: super::Kernel::with_params
    pub fn declare(name: impl Into<String>, type_name: impl Into<String>, space: AddressSpace) -> Self {
        let address = match space {
            AddressSpace::Global => k::CL_KERNEL_ARG_ADDRESS_GLOBAL,
            AddressSpace::Constant => k::CL_KERNEL_ARG_ADDRESS_CONSTANT,
            AddressSpace::Local => k::CL_KERNEL_ARG_ADDRESS_LOCAL,
            AddressSpace::Private => k::CL_KERNEL_ARG_ADDRESS_PRIVATE,
        };
        let access = k::CL_KERNEL_ARG_ACCESS_NONE;
        Self { name: name.into(), type_name: type_name.into(), address, access, qualifiers: 0, bytes: None }
    }

    /// Sets the bytes of a structure or another type that the program defines, for [`Kernel::with_params`]: the
    /// `arg_size` for `clSetKernelArg`.
    ///
    /// [`Kernel::with_params`]: super::Kernel::with_params
    #[must_use]
    pub fn with_bytes(self, bytes: usize) -> Self {
        Self { bytes: Some(bytes), ..self }
    }

    /// Returns its name (`CL_KERNEL_ARG_NAME`).
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns its type as written, e.g. `float4*` (`CL_KERNEL_ARG_TYPE_NAME`).
    pub fn type_name(&self) -> &str {
        &self.type_name
    }

    /// Returns the address space that it points to (`CL_KERNEL_ARG_ADDRESS_QUALIFIER`).
    pub fn address_space(&self) -> AddressSpace {
        match self.address {
            k::CL_KERNEL_ARG_ADDRESS_GLOBAL => AddressSpace::Global,
            k::CL_KERNEL_ARG_ADDRESS_CONSTANT => AddressSpace::Constant,
            k::CL_KERNEL_ARG_ADDRESS_LOCAL => AddressSpace::Local,
            _ => AddressSpace::Private,
        }
    }

    /// Returns the access of the kernel to an image (`CL_KERNEL_ARG_ACCESS_QUALIFIER`).
    pub fn access(&self) -> ImageAccess {
        match self.access {
            k::CL_KERNEL_ARG_ACCESS_READ_ONLY => ImageAccess::ReadOnly,
            k::CL_KERNEL_ARG_ACCESS_WRITE_ONLY => ImageAccess::WriteOnly,
            k::CL_KERNEL_ARG_ACCESS_READ_WRITE => ImageAccess::ReadWrite,
            _ => ImageAccess::None,
        }
    }

    /// Returns true where the pointer's target is `const` (`CL_KERNEL_ARG_TYPE_CONST`).
    pub fn is_const(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_CONST)
    }

    /// Returns true where it is `restrict` (`CL_KERNEL_ARG_TYPE_RESTRICT`).
    pub fn is_restrict(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_RESTRICT)
    }

    /// Returns true where it is `volatile` (`CL_KERNEL_ARG_TYPE_VOLATILE`).
    pub fn is_volatile(&self) -> bool {
        self.has(k::CL_KERNEL_ARG_TYPE_VOLATILE)
    }

    fn has(&self, bit: u32) -> bool {
        self.qualifiers & u64::from(bit) != 0
    }
}
