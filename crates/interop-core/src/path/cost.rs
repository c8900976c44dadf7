//! Cost of a frame on its path, as far as it can be told before anything is measured.

/// The memory that kernels write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Medium {
    /// The display's own texture or buffer.
    Object,
    /// An image that both devices open as a texture.
    Image,
    /// Linear memory of one device that the other opens.
    Device,
    /// A buffer of the display's that the host maps.
    Mapped,
    /// Pages of the host that both sides take as their own.
    Pages,
    /// The compute device's own, read from there into a block of the display's.
    Staging,
    /// The compute device's own, shown to the host.
    Client,
}

/// Work that a path does with each frame. Its rank among paths not yet measured follows from it and from where the
/// devices keep their memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Cost {
    /// Medium that kernels write.
    pub medium: Medium,
    /// Number of copies of the whole frame after that. Where it never is, the draw reads the medium itself.
    pub copies: u32,
    /// The host waits in each frame until a side has done all that it was told.
    pub waits: bool,
}

impl Cost {
    /// The draw reads what kernels wrote.
    pub const fn in_place(medium: Medium) -> Self {
        Self { medium, copies: 0, waits: false }
    }

    /// The frame is copied so many times.
    pub const fn copied(medium: Medium, copies: u32) -> Self {
        Self { medium, copies, waits: false }
    }

    /// Makes the host wait in each frame.
    #[must_use]
    pub const fn waiting(self) -> Self {
        Self { waits: true, ..self }
    }
}
