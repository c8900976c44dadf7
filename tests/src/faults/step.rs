//! Steps at which a fault can be injected.

/// Side whose call a step is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum CallSide {
    /// The side that writes.
    Compute,
    /// The side that shows.
    Display,
}

macro_rules! steps {
    ($($(#[$doc:meta])* $step:ident $side:ident $name:literal,)*) => {
        /// A call of the two contracts.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        #[allow(missing_docs)] // named after the calls
        pub enum FaultStep { $($step,)* }

        impl FaultStep {
            /// Every step.
            pub const ALL: &'static [Self] = &[$(Self::$step,)*];

            /// For tables and messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$step => $name,)* }
            }

            /// Returns the side whose call it is.
            pub(crate) const fn side(self) -> CallSide {
                match self { $(Self::$step => CallSide::$side,)* }
            }
        }
    };
}

steps! {
    CreateSurface Display "display: create surface",
    CreateInPlaceSurface Display "display: create in-place surface",
    CreateStaging Display "display: create staging",
    CreateSemaphore Display "display: create semaphore",
    Export Display "display: export",
    Upload Display "display: upload",
    UploadStaged Display "display: upload staged",
    ReadInPlace Display "display: read in place",
    MapStaging Display "display: map staging",
    Wait Display "display: wait for a fence",
    Poll Display "display: poll a fence",
    Fence Display "display: fence",
    ReadBack Display "display: read back",
    Download Display "display: download",
    DrawOffscreen Display "display: draw",
    DisplayFinish Display "display: finish",
    DisplaySignal Display "display: signal semaphore",
    DisplayWait Display "display: wait for semaphore",
    Allocate Compute "compute: allocate",
    ImportHost Compute "compute: import host memory",
    PrepareHost Compute "compute: prepare host memory",
    AllocateShared Compute "compute: allocate shared",
    AllocateSharedImage Compute "compute: allocate shared image",
    ImportSurface Compute "compute: import surface",
    ImportSemaphore Compute "compute: import semaphore",
    Launch Compute "compute: launch",
    WritePattern Compute "compute: write pattern",
    Copy Compute "compute: copy",
    DeferSubmission Compute "compute: hold back",
    Read Compute "compute: read",
    Write Compute "compute: write",
    MapRead Compute "compute: view",
    MapWrite Compute "compute: fill",
    SetSync Compute "compute: set sync",
    Acquire Compute "compute: acquire",
    Submit Compute "compute: submit",
    Release Compute "compute: release",
    ReleaseInQueue Compute "compute: release in queue",
    ComputeSignal Compute "compute: signal semaphore",
    ComputeWait Compute "compute: wait for semaphore",
}
