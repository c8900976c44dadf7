//! Objects for drawing, copying and reading back, in addition to the device.

use crate::context::device_state::DeviceState;
use crate::context::error::in_scopes;
use crate::draw::drawing::DrawChoices;
use crate::draw::painter::Painter;
use crate::draw::splice::Splicer;
use interop_core::{Result, Support};
use std::sync::Arc;

/// Objects shared by a display and its surfaces.
pub(crate) struct Tools {
    pub painter: Painter,
    pub drawing: DrawChoices,
    pub splicer: Splicer,
    pub shared: Arc<DeviceState>,
}

impl Tools {
    /// Creates the tools of a device. If its fragment shaders cannot read linear memory, its caps report that
    /// afterwards.
    pub(crate) fn new(mut shared: DeviceState) -> Result<Arc<Self>> {
        let (device, identity) = (&shared.base.device, &shared.base.identity);
        let mut painter = in_scopes(device, identity, || Painter::new(device))?;
        // wgpu relies on an extension of OpenGL 3.3 for storage buffers, but its shaders need 4.0.
        if shared.gl.is_some()
            && shared.caps.in_place_images.is_yes()
            && let Err(refused) = in_scopes(device, identity, || painter.prove_memory(device))
        {
            let reason = format!("fragment shaders read no storage buffers on this device: {refused}");
            shared.caps.in_place_images = Support::No(reason);
            // Without the pipeline that could not be created.
            painter = in_scopes(device, identity, || Painter::new(device))?;
        }
        let (drawing, splicer) = (DrawChoices::default(), Splicer::default());
        Ok(Arc::new(Self { painter, drawing, splicer, shared: Arc::new(shared) }))
    }
}
