//! Properties of a kernel that its text declares.

use crate::guard::{TextError, parsed, weighed, with_room};
use crate::limits::Limits;
use crate::params::{HEAD, Numbers, VECTOR, WORD};
use crate::prelude::{BluePosition, NUMBERS, TARGET, TEXTURE, by_immediates, names_words, with_prelude, with_texture};
use crate::tokens::tokens;
use interop_core::{KernelSource, Language, PixelFormat, Result, View};

/// A kernel's text. It has been parsed, but only the compiler checks its statements.
#[derive(Debug)]
pub struct KernelText {
    name: String,
    text: String,
    pub(crate) numbers: Numbers,
    /// Minimum size in bytes of each memory among its arguments.
    pub(crate) memories: Vec<u64>,
    /// Work items of a group, horizontally and vertically.
    pub(crate) group: [u32; 2],
    /// Number of work items for a buffer target, if the source sets it.
    pub(crate) items: Option<usize>,
    names_words: bool,
    source: TextSource,
}

/// Source of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextSource {
    /// Functions in WGSL, before the prelude.
    Wgsl,
    /// The whole WGSL.
    Whole,
    /// Another language.
    Foreign,
    /// Compiled code, which serves targets of any format.
    Compiled,
}

impl KernelText {
    /// Creates the text of a kernel with the work items of its source.
    pub(crate) fn new(
        (name, items): (&str, Option<usize>),
        text: &str,
        (memories, group): (Vec<u64>, [u32; 2]),
        source: TextSource,
    ) -> Self {
        let names_words = source == TextSource::Compiled || names_words(text);
        let (name, text, numbers) = (name.to_owned(), text.to_owned(), Numbers::of(text));
        Self { name, text, numbers, memories, group, items, names_words, source }
    }

    /// Reads the WGSL of a source.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the source has none, or it has more memories than the device can
    /// bind, or larger groups than it can run; [`interop_core::Error::KernelBuild`] with the error and its line, or the
    /// limit of [`crate::TextLimit`] that it exceeds.
    pub fn of(source: &KernelSource, limits: &Limits) -> Result<Self> {
        let name = source.name();
        let text = source.text(Language::Wgsl)?.ok_or_else(|| {
            limits.unsupported(format!("kernel '{name}' has no WGSL; its languages are: {}", source.languages()))
        })?;
        let shape =
            with_room(|| Shape::of(name, text)).and_then(|shape| shape).map_err(|error| limits.refused(name, error))?;
        fits(name, shape.memories.len(), shape.group, limits)?;
        Ok(Self::new((name, source.items()), text, (shape.memories, shape.group), TextSource::Wgsl))
    }

    /// Wraps a text in another language, whose compiler reports its shape: the minimum size in bytes of each memory
    /// among its arguments, and the work items of a group. It reads numbers by the same names as WGSL. `None` as text
    /// means compiled code, which writes words.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where it has more memories than the device can bind;
    /// [`interop_core::Error::KernelBuild`] for groups that are empty or have three dimensions.
    pub fn told(
        source: &KernelSource,
        text: Option<&str>,
        memories: Vec<u64>,
        group: [u32; 3],
        limits: &Limits,
    ) -> Result<Self> {
        let name = source.name();
        let group = across_and_down(group).map_err(|log| limits.refused(name, log))?;
        fits(name, memories.len(), group, limits)?;
        let kind = if text.is_some() { TextSource::Foreign } else { TextSource::Compiled };
        Ok(Self::new((name, source.items()), text.unwrap_or_default(), (memories, group), kind))
    }

    /// Returns its name, which is that of its entry point.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the original text if it is not WGSL.
    pub fn foreign(&self) -> Option<&str> {
        matches!(self.source, TextSource::Foreign).then_some(&self.text)
    }

    /// Returns the format whose text, or code, also serves targets of this format.
    pub const fn served_as(&self, format: PixelFormat) -> PixelFormat {
        match self.source {
            TextSource::Wgsl | TextSource::Foreign => format,
            TextSource::Whole | TextSource::Compiled => PixelFormat::Rgba8,
        }
    }

    /// Returns the number of memories among its arguments.
    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    /// Returns the whole text for targets of this format; for a buffer, use any format of whole words.
    pub fn whole(&self, format: PixelFormat) -> String {
        if self.source == TextSource::Whole { self.text.clone() } else { with_prelude(&self.text, format) }
    }

    /// Returns the whole text for textures of this format. A text that addresses words cannot be built so.
    pub fn of_texture(&self, format: PixelFormat, blue: BluePosition) -> String {
        with_texture(&self.text, format, blue)
    }

    /// Returns the number of bytes of a launch's numbers that the text may read.
    pub fn immediate_bytes(&self) -> usize {
        VECTOR * WORD * (HEAD / VECTOR + self.numbers.count().div_ceil(VECTOR))
    }

    /// Rewrites [`KernelText::whole`] or [`KernelText::of_texture`] to read its numbers from
    /// [`KernelText::immediate_bytes`] of immediates instead of a uniform block.
    pub fn by_immediates(&self, whole: &str) -> String {
        by_immediates(whole, self.immediate_bytes() / (VECTOR * WORD))
    }

    /// Returns true where it addresses the target's words, which a texture does not have.
    pub const fn names_words(&self) -> bool {
        self.names_words
    }

    /// Returns true where it can store to a texture of this format directly. Otherwise it needs a linear copy, because
    /// it addresses the target's words, or because the view reinterprets the pixels.
    pub fn stores_to(&self, format: PixelFormat, view: &View) -> bool {
        !self.names_words() && matches!(view, View::Image(image) if image.format == format)
    }
}

/// Checks the work items of a group, and returns them horizontally and vertically.
fn across_and_down([across, down, deep]: [u32; 3]) -> Result<[u32; 2], String> {
    if across == 0 || down == 0 {
        return Err(format!("its groups are {across} x {down}; both must be at least 1"));
    }
    if deep != 1 {
        return Err(format!("its groups are {deep} deep; launches are two-dimensional, so it must be 1"));
    }
    Ok([across, down])
}

/// Checks that the device can run a kernel of this shape.
fn fits(name: &str, memories: usize, [across, down]: [u32; 2], limits: &Limits) -> Result<()> {
    let (memories, most) = (memories + 1, limits.memories);
    if memories > most {
        let reason = format!("kernel '{name}' has {memories} memories, including the target; the maximum is {most}");
        return Err(limits.unsupported(reason));
    }
    let most = limits.items;
    if across.saturating_mul(down) > most {
        let reason = format!("kernel '{name}' has groups of {across} x {down} work items; the maximum is {most}");
        return Err(limits.unsupported(reason));
    }
    Ok(())
}

fn wrong<T>(log: String) -> Result<T, TextError> {
    Err(log.into())
}

struct Shape {
    memories: Vec<u64>,
    group: [u32; 2],
}

impl Shape {
    fn of(name: &str, text: &str) -> Result<Self, TextError> {
        // Otherwise it would build only for some targets.
        if tokens(text).any(|token| token == TEXTURE) {
            return wrong(format!("'{TEXTURE}' is the target of some paths; use another name"));
        }
        let whole = with_prelude(text, PixelFormat::Rgba8);
        let module = parsed(&whole)?;
        let compute = |entry: &&naga::EntryPoint| entry.stage == naga::ShaderStage::Compute;
        let names =
            || module.entry_points.iter().filter(compute).map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
        let entry = module.entry_points.iter().filter(compute).find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| {
            format!(
                "the text has no '@compute ... fn {name}'; its entry points are: {}",
                Some(names()).filter(|n| !n.is_empty()).unwrap_or("none".into())
            )
        })?;
        let group = across_and_down(entry.workgroup_size)?;
        let mut bindings = Vec::new();
        for (_, variable) in module.global_variables.iter() {
            let Some(binding) = &variable.binding else { continue };
            let own = variable.name.as_deref().unwrap_or("a variable");
            let read_only =
                matches!(variable.space, naga::AddressSpace::Storage { access } if access == naga::StorageAccess::LOAD);
            match (binding.group, read_only) {
                (0, _) if own == TARGET || own == NUMBERS => {}
                (1, true) => {
                    // A runtime-sized array counts as one element.
                    let bytes = module.types[variable.ty].inner.try_size(module.to_ctx());
                    let bytes = bytes.ok_or_else(|| format!("'{own}' is larger than any memory"))?;
                    bindings.push((binding.binding as usize, u64::from(bytes)));
                }
                _ => {
                    return wrong(format!(
                        "'{own}' must be '@group(1) @binding(n) var<storage, read>': memory among the arguments"
                    ));
                }
            }
        }
        bindings.sort_unstable();
        let (places, memories): (Vec<_>, Vec<_>) = bindings.into_iter().unzip();
        if places.iter().enumerate().any(|(at, place)| at != *place) {
            return wrong(format!(
                "its memories have the bindings {places:?} of group 1; number them from 0 without gaps"
            ));
        }
        weighed(&module, &whole, name, &[])?;
        Ok(Self { memories, group })
    }
}
