//! Properties of a kernel, as its text declares them.

use crate::guard::{TextError, parsed, weighed, with_room};
use crate::limits::Limits;
use crate::params::{HEAD, Numbers, VECTOR, WORD};
use crate::prelude::{Blue, NUMBERS, TARGET, TEXTURE, by_immediates, names_words, with_prelude, with_texture};
use crate::tokens::tokens;
use interop_core::{KernelSource, Language, PixelFormat, Result, View};

/// A kernel's text, read. It is parsed, but what its statements mean is the compiler's to check.
#[derive(Debug)]
pub struct KernelText {
    name: String,
    text: String,
    pub(crate) numbers: Numbers,
    /// Bytes that each memory among its arguments has at least.
    pub(crate) memories: Vec<u64>,
    /// Work items of a group, across and down.
    pub(crate) group: [u32; 2],
    /// Work items for a buffer target, where the source said so.
    pub(crate) items: Option<usize>,
    names_words: bool,
    source: TextSource,
}

/// Source of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TextSource {
    /// Functions in WGSL, before the prelude.
    Wgsl,
    /// All of the WGSL.
    Whole,
    /// Another language.
    Foreign,
    /// Compiled code, which is the same for targets of any format.
    Compiled,
}

impl KernelText {
    /// A kernel by its name, with the work items that its source says.
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
    /// [`interop_core::Error::Unsupported`] where there is none, or it has more memories than the device binds, or larger groups than it
    /// runs; [`interop_core::Error::KernelBuild`] with what
    /// is wrong in it, by line, or the limit of [`crate::TextLimit`] that it is beyond.
    pub fn of(source: &KernelSource, limits: &Limits) -> Result<Self> {
        let name = source.name();
        let text = source.text(Language::Wgsl)?.ok_or_else(|| {
            limits.unsupported(format!("kernel '{name}' has no WGSL; the languages given: {}", source.languages()))
        })?;
        let shape =
            with_room(|| Shape::of(name, text)).and_then(|shape| shape).map_err(|error| limits.refused(name, error))?;
        fits(name, shape.memories.len(), shape.group, limits)?;
        Ok(Self::new((name, source.items()), text, (shape.memories, shape.group), TextSource::Wgsl))
    }

    /// A text in another language, of which its compiler told the shape: bytes that each memory among its arguments has at least,
    /// and the work items of a group. It reads numbers by the same names as WGSL. Without a text it is compiled code, which writes words.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where it has more memories than the device binds; [`interop_core::Error::KernelBuild`]
    /// for groups that are empty or of three dimensions.
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

    /// Its name, which is that of its entry point.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The text as it was given, where that is not WGSL.
    pub fn foreign(&self) -> Option<&str> {
        matches!(self.source, TextSource::Foreign).then_some(&self.text)
    }

    /// The format whose text, or code, serves targets of this one.
    pub const fn served_as(&self, format: PixelFormat) -> PixelFormat {
        match self.source {
            TextSource::Wgsl | TextSource::Foreign => format,
            TextSource::Whole | TextSource::Compiled => PixelFormat::Rgba8,
        }
    }

    /// Number of memories among its arguments.
    pub fn memories(&self) -> usize {
        self.memories.len()
    }

    /// All of the text, for targets of this format; a buffer takes any format of whole words.
    pub fn whole(&self, format: PixelFormat) -> String {
        if self.source == TextSource::Whole { self.text.clone() } else { with_prelude(&self.text, format) }
    }

    /// All of the text, for targets that are textures of this format. One that names words does not build.
    pub fn of_texture(&self, format: PixelFormat, blue: Blue) -> String {
        with_texture(&self.text, format, blue)
    }

    /// Bytes of a launch's numbers that the text may read.
    pub fn immediate_bytes(&self) -> usize {
        VECTOR * WORD * (HEAD / VECTOR + self.numbers.count().div_ceil(VECTOR))
    }

    /// [`KernelText::whole`] or [`KernelText::of_texture`], its numbers in [`KernelText::immediate_bytes`] of immediates instead of
    /// a uniform block.
    pub fn by_immediates(&self, whole: &str) -> String {
        by_immediates(whole, self.immediate_bytes() / (VECTOR * WORD))
    }

    /// True where it names the target's words, which a texture does not have.
    pub const fn names_words(&self) -> bool {
        self.names_words
    }

    /// True where it stores to a texture of this format as it is. Else it needs a linear copy: it names the target's words, or the
    /// view takes the pixels for others.
    pub fn stores_to(&self, format: PixelFormat, view: &View) -> bool {
        !self.names_words() && matches!(view, View::Image(image) if image.format == format)
    }
}

/// The work items of a group.
fn across_and_down([across, down, deep]: [u32; 3]) -> Result<[u32; 2], String> {
    if across == 0 || down == 0 {
        return Err(format!("its groups are {across} x {down}; each has at least one work item"));
    }
    if deep != 1 {
        return Err(format!("its groups are {deep} deep; launches are two-dimensional, so it must be 1"));
    }
    Ok([across, down])
}

/// Checks that the device runs such a kernel.
fn fits(name: &str, memories: usize, [across, down]: [u32; 2], limits: &Limits) -> Result<()> {
    let (memories, most) = (memories + 1, limits.memories);
    if memories > most {
        let reason = format!("kernel '{name}' has {memories} memories, the target among them; it takes {most}");
        return Err(limits.unsupported(reason));
    }
    let most = limits.items;
    if across.saturating_mul(down) > most {
        let reason = format!("kernel '{name}' has groups of {across} x {down} work items; it takes {most}");
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
        // Else it would build for some targets only.
        if tokens(text).any(|token| token == TEXTURE) {
            return wrong(format!("'{TEXTURE}' is the target of some paths; take another name"));
        }
        let whole = with_prelude(text, PixelFormat::Rgba8);
        let module = parsed(&whole)?;
        let compute = |entry: &&naga::EntryPoint| entry.stage == naga::ShaderStage::Compute;
        let names =
            || module.entry_points.iter().filter(compute).map(|e| e.name.as_str()).collect::<Vec<_>>().join(", ");
        let entry = module.entry_points.iter().filter(compute).find(|entry| entry.name == name);
        let entry = entry.ok_or_else(|| {
            format!(
                "the text has no '@compute ... fn {name}'; it has: {}",
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
                    // An array of any length counts as one of a single element.
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
