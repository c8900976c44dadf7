//! Error codes of OpenCL that the layer returns.

pub const DEVICE_NOT_FOUND: i32 = -1;
pub const OUT_OF_HOST_MEMORY: i32 = -6;
pub const EVENTS_FAILED: i32 = -14;
pub const INVALID_VALUE: i32 = -30;
pub const INVALID_CONTEXT: i32 = -34;
pub const INVALID_COMMAND_QUEUE: i32 = -36;
pub const INVALID_MEM_OBJECT: i32 = -38;
pub const INVALID_IMAGE_FORMAT_DESCRIPTOR: i32 = -39;
pub const INVALID_EVENT_WAIT_LIST: i32 = -57;
pub const INVALID_OPERATION: i32 = -59;
pub const INVALID_GL_OBJECT: i32 = -60;
pub const INVALID_MIP_LEVEL: i32 = -62;
pub const INVALID_GL_SHAREGROUP_REFERENCE: i32 = -1000;
