//! Every property of a device (`clGetDeviceInfo`; OpenCL 1.2, table 4.3; OpenCL 3.0 API, table 5) as a typed value.

use super::flags::InfoValue;
use super::{AffinityDomain, CacheType, Device, DeviceType, ExecCapabilities, FpConfig, LocalMemType, PartitionKind};
use super::{QueueCapabilities, SvmCapabilities};
use cl3::device::*;
use interop_core::{DeviceLuid, DeviceUuid, DriverError, Result};

const CL_DEVICE_QUEUE_PROPERTIES: u32 = 0x102A;

impl Device {
    fn info<T: InfoValue>(&self, name: &'static str, param: u32) -> Result<T> {
        let bytes = self.ids().1.bytes(param).map_err(|f| f.on(self.name()))?;
        T::from_bytes(&bytes).ok_or_else(|| {
            DriverError::new(
                "clGetDeviceInfo",
                self.name(),
                0,
                format!("{} bytes for {name}, which do not match its type", bytes.len()),
            )
            .with_hint("This is a driver bug; do not use this property.")
            .into()
        })
    }
}

macro_rules! properties {
    ($($(#[$doc:meta])* $name:ident: $type:ty = $param:ident, $since:expr;)*) => {
        impl Device {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\n`", stringify!($param), "`.\n\n# Errors\n")]
                #[doc = "[`interop_core::Error::Unsupported`] where the device's OpenCL has no such property, "]
                #[doc = "[`interop_core::Error::Driver`] where the driver does not answer."]
                pub fn $name(&self) -> Result<$type> {
                    self.require_version($since, stringify!($param))?;
                    self.info(stringify!($param), $param)
                }
            )*

            /// Returns every property as a table: its name in `clGetDeviceInfo`, and its value or the reason why it is
            /// unavailable.
            pub fn properties(&self) -> Vec<(&'static str, String)> {
                let mut rows = vec![$((
                    stringify!($param),
                    self.$name().map_or_else(|error| format!("({error})"), |value| value.show()),
                ),)*];
                let optional = |value: Result<Option<String>>| match value {
                    Ok(value) => value.unwrap_or_else(|| "(not listed)".into()),
                    Err(error) => format!("({error})"),
                };
                rows.push(("CL_DEVICE_HALF_FP_CONFIG", optional(self.half_fp_config().map(|c| c.map(|c| c.to_string())))));
                rows.push(("CL_DEVICE_UUID_KHR", optional(self.uuid().map(|u| u.map(|u| u.to_string())))));
                rows.push(("CL_DRIVER_UUID_KHR", optional(self.driver_uuid().map(|u| u.map(|u| u.to_string())))));
                rows.push(("CL_DEVICE_PCI_BUS_INFO_KHR", optional(self.pci())));
                rows
            }
        }
    };
}

properties! {
    /// Sort of device.
    device_type: DeviceType = CL_DEVICE_TYPE, (1, 0);
    /// Number of the vendor.
    vendor_id: u32 = CL_DEVICE_VENDOR_ID, (1, 0);
    /// Name of the vendor.
    vendor: String = CL_DEVICE_VENDOR, (1, 0);
    /// `OpenCL`, version, and what the vendor adds.
    version: String = CL_DEVICE_VERSION, (1, 0);
    /// `OpenCL C`, version, and what the vendor adds.
    c_version: String = CL_DEVICE_OPENCL_C_VERSION, (1, 1);
    /// `FULL_PROFILE` or `EMBEDDED_PROFILE`.
    profile: String = CL_DEVICE_PROFILE, (1, 0);
    /// True where it can be used.
    available: bool = CL_DEVICE_AVAILABLE, (1, 0);
    /// True where it compiles source.
    compiler_available: bool = CL_DEVICE_COMPILER_AVAILABLE, (1, 0);
    /// True where it links programs.
    linker_available: bool = CL_DEVICE_LINKER_AVAILABLE, (1, 2);
    /// Kinds of kernels that it runs.
    execution_capabilities: ExecCapabilities = CL_DEVICE_EXECUTION_CAPABILITIES, (1, 0);
    /// Properties that its queues can have.
    queue_properties: QueueCapabilities = CL_DEVICE_QUEUE_PROPERTIES, (1, 0);
    /// Names of the kernels that it brings along, separated by semicolons.
    built_in_kernels: String = CL_DEVICE_BUILT_IN_KERNELS, (1, 2);
    /// Parallel units; a work group runs on one.
    max_compute_units: u32 = CL_DEVICE_MAX_COMPUTE_UNITS, (1, 0);
    /// MHz.
    max_clock_frequency: u32 = CL_DEVICE_MAX_CLOCK_FREQUENCY, (1, 0);
    /// Number of dimensions of a launch.
    max_work_item_dimensions: u32 = CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, (1, 0);
    /// Largest work group in each dimension.
    max_work_item_sizes: Vec<usize> = CL_DEVICE_MAX_WORK_ITEM_SIZES, (1, 0);
    /// Largest work group.
    max_work_group_size: usize = CL_DEVICE_MAX_WORK_GROUP_SIZE, (1, 0);
    /// Bits of an address.
    address_bits: u32 = CL_DEVICE_ADDRESS_BITS, (1, 0);
    /// True for little-endian.
    endian_little: bool = CL_DEVICE_ENDIAN_LITTLE, (1, 0);
    /// True where memory corrects errors.
    error_correction: bool = CL_DEVICE_ERROR_CORRECTION_SUPPORT, (1, 0);
    /// True where host and device share memory.
    host_unified_memory: bool = CL_DEVICE_HOST_UNIFIED_MEMORY, (1, 1);
    /// Bytes of global memory.
    global_mem_size: u64 = CL_DEVICE_GLOBAL_MEM_SIZE, (1, 0);
    /// Bytes of its cache.
    global_mem_cache_size: u64 = CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, (1, 0);
    /// Sort of cache.
    global_mem_cache_type: CacheType = CL_DEVICE_GLOBAL_MEM_CACHE_TYPE, (1, 0);
    /// Bytes of a cache line.
    global_mem_cacheline_size: u32 = CL_DEVICE_GLOBAL_MEM_CACHELINE_SIZE, (1, 0);
    /// Largest memory object, bytes.
    max_mem_alloc_size: u64 = CL_DEVICE_MAX_MEM_ALLOC_SIZE, (1, 0);
    /// Largest constant buffer, bytes.
    max_constant_buffer_size: u64 = CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, (1, 0);
    /// Number of constant parameters of a kernel.
    max_constant_args: u32 = CL_DEVICE_MAX_CONSTANT_ARGS, (1, 0);
    /// Bytes of all parameters of a kernel.
    max_parameter_size: usize = CL_DEVICE_MAX_PARAMETER_SIZE, (1, 0);
    /// Bytes of local memory of a work group.
    local_mem_size: u64 = CL_DEVICE_LOCAL_MEM_SIZE, (1, 0);
    /// Kind of its local memory.
    local_mem_type: LocalMemType = CL_DEVICE_LOCAL_MEM_TYPE, (1, 0);
    /// Alignment of sub-buffers, **bits**.
    mem_base_addr_align: u32 = CL_DEVICE_MEM_BASE_ADDR_ALIGN, (1, 0);
    /// Smallest alignment of any type, bytes; deprecated since 1.2.
    min_data_type_align_size: u32 = CL_DEVICE_MIN_DATA_TYPE_ALIGN_SIZE, (1, 0);
    /// Single precision.
    single_fp_config: FpConfig = CL_DEVICE_SINGLE_FP_CONFIG, (1, 0);
    /// Double precision; nothing where the device has none.
    double_fp_config: FpConfig = CL_DEVICE_DOUBLE_FP_CONFIG, (1, 0);
    /// True where it has images.
    image_support: bool = CL_DEVICE_IMAGE_SUPPORT, (1, 0);
    /// Pixels.
    image2d_max_width: usize = CL_DEVICE_IMAGE2D_MAX_WIDTH, (1, 0);
    /// Pixels.
    image2d_max_height: usize = CL_DEVICE_IMAGE2D_MAX_HEIGHT, (1, 0);
    /// Pixels.
    image3d_max_width: usize = CL_DEVICE_IMAGE3D_MAX_WIDTH, (1, 0);
    /// Pixels.
    image3d_max_height: usize = CL_DEVICE_IMAGE3D_MAX_HEIGHT, (1, 0);
    /// Pixels.
    image3d_max_depth: usize = CL_DEVICE_IMAGE3D_MAX_DEPTH, (1, 0);
    /// Pixels of a 1-D image made from a buffer.
    image_max_buffer_size: usize = CL_DEVICE_IMAGE_MAX_BUFFER_SIZE, (1, 2);
    /// Layers of an array.
    image_max_array_size: usize = CL_DEVICE_IMAGE_MAX_ARRAY_SIZE, (1, 2);
    /// Images that one kernel reads.
    max_read_image_args: u32 = CL_DEVICE_MAX_READ_IMAGE_ARGS, (1, 0);
    /// Images that one kernel writes.
    max_write_image_args: u32 = CL_DEVICE_MAX_WRITE_IMAGE_ARGS, (1, 0);
    /// Samplers of one kernel.
    max_samplers: u32 = CL_DEVICE_MAX_SAMPLERS, (1, 0);
    /// Best vector of `char`, elements.
    preferred_vector_width_char: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_CHAR, (1, 0);
    /// Best vector of `short`, elements.
    preferred_vector_width_short: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_SHORT, (1, 0);
    /// Best vector of `int`, elements.
    preferred_vector_width_int: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_INT, (1, 0);
    /// Best vector of `long`, elements.
    preferred_vector_width_long: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_LONG, (1, 0);
    /// Best vector of `half`, elements.
    preferred_vector_width_half: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_HALF, (1, 1);
    /// Best vector of `float`, elements.
    preferred_vector_width_float: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_FLOAT, (1, 0);
    /// Best vector of `double`, elements.
    preferred_vector_width_double: u32 = CL_DEVICE_PREFERRED_VECTOR_WIDTH_DOUBLE, (1, 0);
    /// Vector of `char` in the instruction set, elements.
    native_vector_width_char: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_CHAR, (1, 1);
    /// Vector of `short` in the instruction set, elements.
    native_vector_width_short: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_SHORT, (1, 1);
    /// Vector of `int` in the instruction set, elements.
    native_vector_width_int: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_INT, (1, 1);
    /// Vector of `long` in the instruction set, elements.
    native_vector_width_long: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_LONG, (1, 1);
    /// Vector of `half` in the instruction set, elements.
    native_vector_width_half: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, (1, 1);
    /// Vector of `float` in the instruction set, elements.
    native_vector_width_float: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, (1, 1);
    /// Vector of `double` in the instruction set, elements.
    native_vector_width_double: u32 = CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, (1, 1);
    /// Largest number of parts.
    partition_max_sub_devices: u32 = CL_DEVICE_PARTITION_MAX_SUB_DEVICES, (1, 2);
    /// Ways in which it can be divided.
    partition_properties: Vec<PartitionKind> = CL_DEVICE_PARTITION_PROPERTIES, (1, 2);
    /// Resources that parts may share.
    partition_affinity_domain: AffinityDomain = CL_DEVICE_PARTITION_AFFINITY_DOMAIN, (1, 2);
    /// Properties that this part was made with; empty for a whole device.
    partition_type: Vec<usize> = CL_DEVICE_PARTITION_TYPE, (1, 2);
    /// Bytes that `printf` can hold.
    printf_buffer_size: usize = CL_DEVICE_PRINTF_BUFFER_SIZE, (1, 2);
    /// True where the user should synchronise with graphics.
    preferred_interop_user_sync: bool = CL_DEVICE_PREFERRED_INTEROP_USER_SYNC, (1, 2);
    /// Nanoseconds of a step of the profiling clock.
    profiling_timer_resolution: usize = CL_DEVICE_PROFILING_TIMER_RESOLUTION, (1, 0);
    /// References that the driver counts; 1 for a whole device.
    reference_count: u32 = CL_DEVICE_REFERENCE_COUNT, (1, 2);
    /// Shared virtual memory.
    svm_capabilities: SvmCapabilities = CL_DEVICE_SVM_CAPABILITIES, (2, 0);
    /// Largest variable at program scope, bytes.
    max_global_variable_size: usize = CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE, (2, 0);
    /// Images that one kernel both reads and writes.
    max_read_write_image_args: u32 = CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS, (2, 0);
    /// Pixels that rows of images made from buffers are aligned to.
    image_pitch_alignment: u32 = CL_DEVICE_IMAGE_PITCH_ALIGNMENT, (2, 0);
    /// Pipes of one kernel.
    max_pipe_args: u32 = CL_DEVICE_MAX_PIPE_ARGS, (2, 0);
    /// Intermediate languages.
    il_version: String = CL_DEVICE_IL_VERSION, (2, 1);
    /// Sub-groups of a work group.
    max_num_sub_groups: u32 = CL_DEVICE_MAX_NUM_SUB_GROUPS, (2, 1);
    /// True where work groups may differ in size.
    non_uniform_work_group_support: bool = CL_DEVICE_NON_UNIFORM_WORK_GROUP_SUPPORT, (3, 0);
    /// Pointers to the generic address space.
    generic_address_space_support: bool = CL_DEVICE_GENERIC_ADDRESS_SPACE_SUPPORT, (3, 0);
    /// Pipes.
    pipe_support: bool = CL_DEVICE_PIPE_SUPPORT, (3, 0);
    /// Good multiple for work groups.
    preferred_work_group_size_multiple: usize = CL_DEVICE_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, (3, 0);
    /// The conformance suite that it passed.
    latest_conformance_version_passed: String = CL_DEVICE_LATEST_CONFORMANCE_VERSION_PASSED, (3, 0);
}

impl Device {
    /// Returns the half-precision capabilities (`cl_khr_fp16`, `CL_DEVICE_HALF_FP_CONFIG`); `None` where the extension
    /// is not listed.
    pub fn half_fp_config(&self) -> Result<Option<FpConfig>> {
        if !self.has_extension("cl_khr_fp16") {
            return Ok(None);
        }
        self.info("CL_DEVICE_HALF_FP_CONFIG", CL_DEVICE_HALF_FP_CONFIG).map(Some)
    }

    /// Returns the device's UUID in every API (`cl_khr_device_uuid`); `None` where the extension is not listed.
    pub fn uuid(&self) -> Result<Option<DeviceUuid>> {
        self.optional_uuid(CL_DEVICE_UUID_KHR)
    }

    /// Returns the driver's UUID in every API (`cl_khr_device_uuid`).
    pub fn driver_uuid(&self) -> Result<Option<DeviceUuid>> {
        self.optional_uuid(CL_DRIVER_UUID_KHR)
    }

    fn optional_uuid(&self, param: u32) -> Result<Option<DeviceUuid>> {
        if !self.has_extension("cl_khr_device_uuid") {
            return Ok(None);
        }
        self.ids().1.array(param).map(|bytes| Some(DeviceUuid(bytes))).map_err(|f| f.on(self.name()))
    }

    /// Returns the LUID of the adapter on Windows (`cl_khr_device_uuid`, `CL_DEVICE_LUID_KHR`); `None` where the device
    /// does not list the extension, or reports that the value is invalid (`CL_DEVICE_LUID_VALID_KHR`).
    pub fn luid(&self) -> Result<Option<DeviceLuid>> {
        let id = self.ids().1;
        if !self.has_extension("cl_khr_device_uuid") || !id.u32(CL_DEVICE_LUID_VALID_KHR).is_ok_and(|valid| valid != 0)
        {
            return Ok(None);
        }
        id.array(CL_DEVICE_LUID_KHR).map(|bytes| Some(DeviceLuid(bytes))).map_err(|f| f.on(self.name()))
    }

    /// Returns `domain:bus:device.function` (`cl_khr_pci_bus_info`); `None` where the extension is not listed.
    pub fn pci(&self) -> Result<Option<String>> {
        if !self.has_extension("cl_khr_pci_bus_info") {
            return Ok(None);
        }
        let bytes = self.ids().1.array(CL_DEVICE_PCI_BUS_INFO_KHR).map_err(|f| f.on(self.name()))?;
        Ok(Some(crate::answers::pci(&bytes)))
    }
}
