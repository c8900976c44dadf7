//! Cost of a frame on its path, as far as it is known before measurements.

/// Kind of memory that kernels write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Medium {
    /// The display's own texture or buffer.
    Object,
    /// An image that one device exports and the other opens as a texture.
    Image,
    /// Linear memory of one device that the other device opens.
    Device,
    /// A buffer of the display that the host maps.
    Mapped,
    /// Host pages that both sides import.
    Pages,
    /// Memory of the compute device, which is copied into a staging block of the display.
    Staging,
    /// Memory of the compute device, whose bytes are copied or mapped to the host.
    Client,
}

/// Work of a path in each frame. Together with the location of the devices' memory, it determines the path's rank
/// before measurements.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Kind of memory that kernels write.
    pub medium: Medium,
    /// Number of copies of the whole frame after that. With 0 copies, the draw reads the memory itself.
    pub copies: u32,
    /// True where the host waits in each frame until one side has finished all its work.
    pub waits: bool,
}

impl Cost {
    /// The cost of a draw that reads the kernels' memory in place.
    pub const fn in_place(medium: Medium) -> Self {
        Self { medium, copies: 0, waits: false }
    }

    /// The cost of this many copies of the frame.
    pub const fn copied(medium: Medium, copies: u32) -> Self {
        Self { medium, copies, waits: false }
    }

    /// Sets that the host waits in each frame.
    #[must_use]
    pub const fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }
}
