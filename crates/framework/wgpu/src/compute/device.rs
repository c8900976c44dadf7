//! [`WgpuShaders`].

use crate::WgpuDevice;
use crate::compute::bindings::{Arguments, Bindable, Numbers, texture_layout};
use crate::context::format::texture_format;
use crate::context::queue_buffer::QueueBuffer;
use crate::context::queue_texture::QueueTexture;
use crate::context::read_back;
use crate::context::vulkan::{Opener, Vulkan};
use interop_core::describe::process::ForkGuard;
use interop_core::{ComputeSemaphore, Error, ImageDesc, PixelFormat, Region, Result, SharedHandle, View};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;
use wgsl_kernel::shader::{CopyMethod, MemorySide, Regions, Session, ShaderDevice, ShaderWork, Target, Writes};
use wgsl_kernel::{BluePosition, KernelText, WORD, bounded, with_room};

/// A device with its compute shaders.
pub(crate) struct WgpuShaders {
    pub device: WgpuDevice,
    pub session: Session,
    /// Opens memory of other APIs, if the device's API is Vulkan.
    pub opener: Option<Opener>,
    /// Maximum size in bytes of the numbers in the commands themselves.
    pub immediates: usize,
    pub numbers: Numbers,
}

impl WgpuShaders {
    fn opener(&self) -> Result<&Opener> {
        self.opener.as_ref().ok_or_else(|| self.device.unsupported(Vulkan::ABSENT))
    }

    /// Returns the memory, or the linear copy of a texture, for code that writes there before the next work on it.
    pub fn linear<'m>(&self, memory: MemorySide<'m, Self>, view: View) -> Result<(&'m wgpu::Buffer, View)> {
        match memory {
            MemorySide::Image(image) => image.lent(&view).map(|(memory, view)| (memory.object.buffer(), view)),
            MemorySide::Linear(memory) => Ok((memory.buffer().object.buffer(), view)),
        }
    }

    fn make(
        &self,
        text: &KernelText,
        arguments: &Arguments,
        format: PixelFormat,
        writes: Writes,
    ) -> Result<wgpu::ComputePipeline> {
        let (device, name) = (&self.device.device, text.name());
        let whole = match writes {
            Writes::Memory => text.whole(format),
            Writes::Texture => text.of_texture(format, BluePosition::First),
        };
        let whole = if arguments.immediates.is_some() { text.by_immediates(&whole) } else { whole };
        let in_module = device.adapter_info().backend == wgpu::Backend::Gl;
        let source = if in_module {
            // wgpu leaves bounds checks to OpenGL's drivers, which check no array in registers (llvmpipe crashes), and
            // zeroes a group's memory word by word.
            let (module, _) = bounded(&whole, name).map_err(|error| self.session.limits.refused(name, error))?;
            wgpu::ShaderSource::Naga(Cow::Owned(module))
        } else {
            wgpu::ShaderSource::Wgsl(whole.into())
        };
        self.device.scoped(|| {
            let target = match writes {
                Writes::Memory => self.numbers.layout.clone(),
                Writes::Texture => texture_layout(device, texture_format(format)),
            };
            let layout = device.create_pipeline_layout(&wgpu::PipelineLayoutDescriptor {
                label: Some("pixelferry kernel"),
                bind_group_layouts: &[Some(&target), Some(&arguments.layout)],
                immediate_size: arguments.immediates.unwrap_or(0) as u32,
            });
            let module = device.create_shader_module(wgpu::ShaderModuleDescriptor { label: Some(name), source });
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: Some(&layout),
                module: &module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    zero_initialize_workgroup_memory: !in_module,
                    ..Default::default()
                },
                cache: None,
            })
        })
    }
}

fn at(texture: &QueueTexture, region: Region) -> wgpu::TexelCopyTextureInfo<'_> {
    let origin = wgpu::Origin3d { x: region.x, y: region.y, z: 0 };
    wgpu::TexelCopyTextureInfo { origin, ..texture.texture.as_image_copy() }
}

fn extent(region: Region) -> wgpu::Extent3d {
    wgpu::Extent3d { width: region.width, height: region.height, depth_or_array_layers: 1 }
}

impl ShaderDevice for WgpuShaders {
    type Buffer = ForkGuard<Bindable<QueueBuffer>>;
    type Texture = ForkGuard<Bindable<QueueTexture>>;
    type Kernel = ForkGuard<Arguments>;
    type Pipeline = ForkGuard<wgpu::ComputePipeline>;
    type Mark = wgpu::SubmissionIndex;

    const ROW_ALIGN: usize = wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize;

    fn session(&self) -> &Session {
        &self.session
    }

    fn semaphore(self: &Arc<Self>, handle: &SharedHandle) -> Result<Box<dyn ComputeSemaphore>> {
        self.opener()?.semaphore(&self.device, handle.duplicate_semaphore()?)
    }

    fn finish(&self) -> Result<()> {
        self.device.flush().and_then(|index| self.device.wait(Some(index)))
    }

    fn kernel(&self, text: &KernelText) -> Result<Self::Kernel> {
        let immediates = Some(text.immediate_bytes()).filter(|bytes| *bytes <= self.immediates);
        let make = || Arguments::new(&self.device.device, text.memories(), immediates);
        self.device.scoped(make).map(ForkGuard::new)
    }

    fn pipeline(
        &self,
        text: &KernelText,
        arguments: &Self::Kernel,
        format: PixelFormat,
        writes: Writes,
    ) -> Result<Self::Pipeline> {
        let limits = &self.session.limits;
        // naga and wgpu recurse over the text.
        let made = with_room(|| self.make(text, arguments, format, writes));
        let made = made.map_err(|error| limits.refused(text.name(), error))?;
        made.map(ForkGuard::new).map_err(|error| match error {
            // Out of memory and a lost device are not errors of the text.
            Error::Driver(driver) if driver.code_name.starts_with("refused") => {
                limits.refused(text.name(), driver.code_name)
            }
            other => other,
        })
    }

    fn launch(&self, work: &ShaderWork<'_, Self>) -> Result<()> {
        let (wgpu, ShaderWork { kernel, launch, .. }) = (&self.device.device, work);
        let target = match work.target {
            Target::Memory(memory) => memory.group(&self.device, |buffer| {
                self.numbers.bind(wgpu, &self.numbers.layout, buffer.buffer().as_entire_binding())
            }),
            Target::Texture(texture) => texture.group(&self.device, |QueueTexture { texture, .. }| {
                let view = texture.create_view(&wgpu::TextureViewDescriptor {
                    usage: Some(wgpu::TextureUsages::STORAGE_BINDING),
                    dimension: Some(wgpu::TextureViewDimension::D2),
                    mip_level_count: Some(1),
                    array_layer_count: Some(1),
                    ..Default::default()
                });
                let layout = texture_layout(wgpu, texture.format());
                self.numbers.bind(wgpu, &layout, wgpu::BindingResource::TextureView(&view))
            }),
        }?;
        let arguments = kernel.bind(&self.device, work.reads.iter().map(|memory| memory.object.buffer()))?;
        let immediates = kernel.immediates.and_then(|bytes| launch.numbers().get(..bytes));
        self.device.record(|encoder| {
            let place = immediates.map_or_else(|| self.numbers.write(&self.device.queue, launch.numbers()), |_| 0);
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            pass.set_pipeline(work.pipeline);
            pass.set_bind_group(0, target, &[place]);
            pass.set_bind_group(1, &arguments, &[]);
            if let Some(numbers) = immediates {
                pass.set_immediates(0, numbers);
            }
            let [across, down] = launch.groups;
            pass.dispatch_workgroups(across, down, 1);
        })
    }

    fn allocate(&self, bytes: usize) -> Result<Self::Buffer> {
        Ok(ForkGuard::new(Bindable::new(QueueBuffer::new(&self.device, bytes)?)))
    }

    fn open(&self, handle: &SharedHandle, bytes: usize) -> Result<Self::Buffer> {
        let buffer = match handle {
            SharedHandle::Memory(_) => {
                let opened = self.opener()?.buffer(&self.device, handle.duplicate_memory()?, bytes)?;
                QueueBuffer::over(&self.device, &opened)
            }
            _ => QueueBuffer::open(handle, bytes)?,
        };
        Ok(ForkGuard::new(Bindable::new(buffer)))
    }

    fn share(&self, memory: &Self::Buffer) -> Result<SharedHandle> {
        Ok(memory.object.clone().into_handle())
    }

    fn bytes(&self, memory: &Self::Buffer, range: Range<usize>) -> Result<Vec<u8>> {
        self.device.read_buffer(memory.object.buffer(), range.start as u64..range.end as u64)
    }

    /// Writes bytes that may begin and end inside a word.
    fn write(&self, memory: &Self::Buffer, offset: usize, from: &[u8]) -> Result<()> {
        let range = offset..offset + from.len();
        let outer = range.start / WORD * WORD..range.end.next_multiple_of(WORD);
        let write = |at: usize, bytes: &[u8]| {
            // Recorded commands must use the content before the write.
            self.device.submit_recorded()?;
            self.device.scoped(|| self.device.queue.write_buffer(memory.object.buffer(), at as u64, bytes))
        };
        if outer == range {
            return write(offset, from);
        }
        // The other bytes of the first and the last word keep their values. Bytes behind the memory's end are unused.
        let mut whole = vec![0; outer.len()];
        let edges = [
            (outer.start..outer.start + WORD, outer.start < range.start),
            (outer.end - WORD..outer.end, range.end < outer.end),
        ];
        for (edge, _) in edges.into_iter().filter(|(_, is_cut)| *is_cut) {
            let kept = self.bytes(memory, edge.clone())?;
            whole[edge.start - outer.start..edge.end - outer.start].copy_from_slice(&kept);
        }
        whole[range.start - outer.start..][..from.len()].copy_from_slice(from);
        write(outer.start, &whole)
    }

    /// Copies a range; wgpu itself copies only whole words.
    fn copy(&self, from: &Self::Buffer, to: &Self::Buffer, range: Range<usize>) -> Result<()> {
        // Whole words between the partial words at both ends, if there are any.
        let first = range.start.next_multiple_of(WORD).min(range.end);
        let last = (range.end / WORD * WORD).max(first);
        for edge in [range.start..first, last..range.end] {
            if !edge.is_empty() {
                self.write(to, edge.start, &self.bytes(from, edge.clone())?)?;
            }
        }
        if first == last {
            return Ok(());
        }
        let (from, to, start, len) = (from.object.buffer(), to.object.buffer(), first as u64, (last - first) as u64);
        self.device.record(|encoder| encoder.copy_buffer_to_buffer(from, start, to, start, len))
    }

    fn mark(&self, _: &Self::Buffer) -> Result<Option<wgpu::SubmissionIndex>> {
        self.device.flush_alone()
    }

    fn release(&self, _: &Self::Buffer, mark: Option<wgpu::SubmissionIndex>) -> Result<()> {
        mark.map_or_else(|| self.finish(), |index| self.device.wait(Some(index)))
    }

    fn texture(&self, handle: &SharedHandle, desc: &ImageDesc) -> Result<Self::Texture> {
        Ok(ForkGuard::new(Bindable::new(QueueTexture::open(handle, desc.extent)?)))
    }

    fn stores_only(texture: &Self::Texture) -> bool {
        texture.object.stores_only
    }

    fn copy_rows(
        &self,
        method: CopyMethod,
        (texture, region, _): (&Self::Texture, Region, PixelFormat),
        (memory, first, pitch): (&Self::Buffer, usize, usize),
    ) -> Result<()> {
        // wgpu copies several rows at once if their pitch has its alignment.
        let together = pitch.is_multiple_of(Self::ROW_ALIGN);
        let height = if together { region.height } else { 1 };
        let bytes_per_row = together.then_some(pitch as u32);
        self.device.record(|encoder| {
            for row in (0..region.height).step_by(height.max(1) as usize) {
                let offset = (first + row as usize * pitch) as u64;
                let layout = wgpu::TexelCopyBufferLayout { offset, bytes_per_row, rows_per_image: None };
                let linear = wgpu::TexelCopyBufferInfo { buffer: memory.object.buffer(), layout };
                let part = Region { y: region.y + row, height, ..region };
                match method {
                    CopyMethod::Load => encoder.copy_texture_to_buffer(at(&texture.object, part), linear, extent(part)),
                    CopyMethod::Store => {
                        encoder.copy_buffer_to_texture(linear, at(&texture.object, part), extent(part))
                    }
                }
            }
        })
    }

    fn copy_image(&self, from: &Self::Texture, to: &Self::Texture, regions: &Regions) -> Result<bool> {
        let copied = self.device.record(|encoder| {
            for (_, region) in regions {
                encoder.copy_texture_to_texture(at(&from.object, *region), at(&to.object, *region), extent(*region));
            }
        });
        copied.map(|()| true)
    }

    fn read_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, into: &mut [u8]) -> Result<bool> {
        for (at, region) in regions {
            let bytes = read_back::image(&self.device, *region, pixel, |_| texture.object.texture.clone())?;
            into[*at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(true)
    }

    fn write_image(&self, texture: &Self::Texture, regions: &Regions, pixel: usize, from: &[u8]) -> Result<bool> {
        // Recorded commands must use the content before the write.
        self.device.submit_recorded()?;
        let written = self.device.scoped(|| {
            for (first, region) in regions {
                let row = region.width as usize * pixel;
                let bytes_per_row = Some(row as u32);
                let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
                let bytes = &from[*first..first + row * region.height as usize];
                self.device.queue.write_texture(at(&texture.object, *region), bytes, layout, extent(*region));
            }
        });
        written.map(|()| true)
    }

    fn submit_image(&self, texture: &Self::Texture) -> Result<()> {
        // The display's own calls take recorded commands into account.
        if texture.object.is_anothers { self.device.flush().map(drop) } else { Ok(()) }
    }
}
