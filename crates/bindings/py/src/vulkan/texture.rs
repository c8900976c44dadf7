//! `pixelferry.vulkan.Texture`.

use crate::failure::Failure;
use crate::option_names;
use crate::raw::vulkan::{Device, Image};
use crate::stage::Settings;
use crate::stage_handle::StageHandle;
use crate::vulkan::Number;
use crate::write_target::WriteTarget;
use pixelferry::{PixelFormat, Policy, RowOrder, SurfaceDesc};
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::ffi::CString;

/// Writes an image of the program's own Vulkan.
#[pyclass(module = "pixelferry.vulkan", name = "Texture", frozen)]
pub struct VulkanTexture {
    written: WriteTarget,
    image: Image,
}

#[pymethods]
impl VulkanTexture {
    #[new]
    #[pyo3(signature = (instance, physical_device, device, queue, queue_family, image, format, size, *, usage,
                        image_layout=1, extensions=None, timeline_semaphores=false, path=None,
                        backend=None))]
    #[allow(clippy::too_many_arguments)] // keyword arguments in Python
    fn new(
        py: Python<'_>,
        instance: Number,
        physical_device: Number,
        device: Number,
        queue: Number,
        queue_family: Number,
        image: Number,
        format: Number,
        size: (i64, i64),
        usage: Number,
        image_layout: i32,
        extensions: Option<Vec<String>>,
        timeline_semaphores: bool,
        path: Option<&str>,
        backend: Option<&str>,
    ) -> PyResult<Self> {
        let side = |side: i64| {
            u32::try_from(side).map_err(|_| Failure::Shape(format!("invalid size {side}: sides have at least 1 pixel")))
        };
        let names: Result<Vec<_>, _> = extensions.into_iter().flatten().map(CString::new).collect();
        let device = Device {
            instance: instance.0,
            physical: physical_device.0,
            device: device.0,
            queue: queue.0,
            family: queue_family.small("queue_family")?,
            extensions: names
                .map_err(|_| Failure::Shape("the name of an extension must not contain a zero byte".into()))?,
            timeline: timeline_semaphores,
        };
        let image = Image {
            image: image.0,
            format: format.small("format")?,
            size: (side(size.0)?, side(size.1)?),
            usage: usage.small("usage")?,
            layout: image_layout,
        };
        let path = path.map(str::parse).transpose().map_err(Failure::from)?;
        // The image has a format of its own.
        let settings = Settings { format: PixelFormat::Rgba8, rows: RowOrder::TopDown, policy: Policy::default() };
        let held = StageHandle::on(py, settings, move || device.display())?;
        let written = WriteTarget::new(py, held, backend, |stage| {
            let display = stage.display();
            stage.open_way(Box::new(move || Ok((display.clone(), image.opened(&display)?))), path)
        })?;
        Ok(Self { written, image })
    }

    /// Writes an array of the image's size. When it returns, the array has been read and may be written again.
    #[pyo3(signature = (array, layout="HWC"))]
    fn write(&self, array: &Bound<'_, PyAny>, layout: &str) -> PyResult<()> {
        self.written.write(array, layout)
    }

    /// Width and height in pixels.
    #[getter]
    fn size(&self) -> (u32, u32) {
        self.image.size
    }

    /// The format of its pixels.
    #[getter]
    fn format(&self) -> Option<String> {
        match self.written.desc {
            SurfaceDesc::Image(image) => Some(option_names::name_of(image.format)),
            _ => None,
        }
    }

    /// The current path; None before the first array.
    #[getter]
    fn path(&self) -> PyResult<Option<&'static str>> {
        self.written.path()
    }

    /// Describes the findings about every path, for a bug report.
    fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.written.explain(py)
    }

    /// Waits for earlier writes and releases the image.
    fn close(&self, py: Python<'_>) {
        self.written.close(py);
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }

    fn __repr__(&self) -> String {
        format!("<pixelferry.vulkan.Texture: {}, {}>", self.written.desc, self.written.state())
    }
}
