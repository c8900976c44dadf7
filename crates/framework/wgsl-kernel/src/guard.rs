//! The only path of texts to naga: limits before it, a stack that is large enough for texts within the limits, and
//! limits of the code that a driver compiles.

use crate::depth::depth;
use crate::values::values;
use crate::weight::{shared, weight};
use crate::zero_fill::zero;
use interop_core::describe::threads;
use naga::Module;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};
use std::cell::Cell;
use std::thread;

/// Bytes of the stack on which naga reads and writes texts. An unoptimised build needs 40 KiB for each level of
/// [`TextLimit::Depth`], in total 10 MB; untouched pages cost nothing.
const STACK: usize = 64 << 20;

/// A limit of WGSL texts. Texts may come from untrusted sources, so their cost is bounded before naga and a driver
/// process them.
///
/// Measured on llvmpipe (OpenGL of Mesa 22.3.6, two cores), from the text to the end of its first launch. Consecutive
/// loops took 5 s at the limit of work, and 14 s on a busy machine. Statements took 2 s in a release build, and 8 s in
/// an unoptimised one, mostly in naga. Private arrays of 512 words took 3 s, and 4096 words of workgroup memory at most
/// 16 s. Twice the number of divisions or accesses took three to six times as long.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TextLimit {
    /// Bytes of the whole text, including the prelude.
    Bytes,
    /// Nesting depth: brackets, operators of one expression, and `else`.
    Depth,
    /// Words of constant arrays and structs, counted each time that one is named, constructed or used in a computation.
    Constants,
    /// Words that the kernel computes, with every function copied to each call. A component of `sin` and similar
    /// functions counts 64, as does one of an integer division, and a word of an array that is copied whole. A loop
    /// counts 1536. A word that is read or written counts 96 where it is in memory or chosen by an index, and one that
    /// is stored in a variable 8.
    Work,
    /// Nested loops, including those of called functions.
    Loops,
    /// Words of arrays and structs of one work item (`function`, `private`), with every function copied to each call.
    Private,
    /// Words of workgroup variables (`workgroup`).
    Workgroup,
}

/// A row of the table of limits.
struct LimitRow {
    limit: TextLimit,
    most: u64,
    counted: &'static str,
    instead: &'static str,
}

const ROWS: [LimitRow; 7] = [
    LimitRow {
        limit: TextLimit::Bytes,
        most: 64 << 10,
        counted: "bytes of text, including the prelude",
        instead: "put tables into a memory among the arguments, and parts into separate kernels",
    },
    LimitRow {
        limit: TextLimit::Depth,
        most: 250,
        counted: "nested brackets, operators and 'else'",
        instead: "name parts of the expression by 'let', or use 'switch' or a loop",
    },
    LimitRow {
        limit: TextLimit::Constants,
        most: 256 << 10,
        counted: "words of constant arrays and structs, counted at each use",
        instead: "reduce them, write lengths as numbers or constants with '+ - * / % <<', or put tables into a memory \
                  among the arguments",
    },
    LimitRow {
        limit: TextLimit::Work,
        most: 64 << 10,
        counted: "words of work, with every function copied to each place that calls it",
        instead: "call functions in a loop, or split the kernel into several launches",
    },
    LimitRow {
        limit: TextLimit::Loops,
        most: 12,
        counted: "nested loops",
        instead: "use one loop for several indices, with '/' and '%'",
    },
    LimitRow {
        limit: TextLimit::Private,
        most: 512,
        counted: "words of arrays and structs for each work item, with every function copied to each place that calls it",
        instead: "put large arrays into 'var<workgroup>' or a memory among the arguments",
    },
    LimitRow {
        limit: TextLimit::Workgroup,
        most: 4096,
        counted: "words of 'var<workgroup>'",
        instead: "make tiles smaller, or use a memory among the arguments",
    },
];

impl TextLimit {
    fn row(self) -> &'static LimitRow {
        let found = ROWS.iter().find(|row| row.limit == self);
        found.unwrap_or(&ROWS[0])
    }

    /// Returns the maximum.
    pub fn most(self) -> u64 {
        self.row().most
    }

    pub(crate) fn check(self, found: u64) -> Result<(), TextError> {
        if found > self.most() { Err(TextError::Beyond { limit: self, found }) } else { Ok(()) }
    }
}

/// Reason why a text was rejected.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The text has an error; the message gives its line.
    #[error("{0}")]
    Wrong(String),
    /// The text exceeds a limit.
    #[error("{found} {}; at most {} are supported: {}", limit.row().counted, limit.row().most, limit.row().instead)]
    Beyond {
        /// The limit.
        limit: TextLimit,
        /// The value for this text.
        found: u64,
    },
    /// The machine cannot start a thread for it.
    #[error("no thread to read the text: {0}; end other programs, or raise the limits of threads and memory")]
    NoThread(String),
}

impl From<String> for TextError {
    fn from(log: String) -> Self {
        Self::Wrong(log)
    }
}

/// Parses a whole text, whose depth fits this stack. The weight of its kernels has not been checked yet.
pub(crate) fn parsed(text: &str) -> Result<Module, TextError> {
    TextLimit::Bytes.check(text.len() as u64)?;
    TextLimit::Depth.check(depth(text))?;
    TextLimit::Constants.check(values(text))?;
    Ok(naga::front::wgsl::parse_str(text).map_err(|error| error.emit_to_string(text))?)
}

/// Returns a kernel of a module with its weight checked. Overrides keep their values in the text unless a constant of
/// that name is given. The kernel zeroes its workgroup memory itself, so a driver can be told not to.
pub(crate) fn weighed(
    module: &Module,
    text: &str,
    entry: &str,
    constants: &[(&str, f64)],
) -> Result<(Module, ModuleInfo), TextError> {
    // Code that knows the device checks its features.
    let validated = |module: &Module| {
        let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(module);
        info.map_err(|error| error.emit_to_string(text))
    };
    let info = validated(module)?;
    let point = Some((naga::ShaderStage::Compute, entry));
    let constants = constants.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
    let made = naga::back::pipeline_constants::process_overrides(module, &info, point, &constants);
    let (module, info) = made.map_err(|error| error.to_string())?;
    TextLimit::Workgroup.check(shared(&module))?;
    let mut module = module.into_owned();
    zero(&mut module, &info, entry);
    let info = validated(&module)?;
    let kernel = weight(&module, &info, entry);
    TextLimit::Loops.check(kernel.loops)?;
    TextLimit::Private.check(kernel.private)?;
    TextLimit::Work.check(kernel.work)?;
    Ok((module, info))
}

thread_local! {
    static ROOMY: Cell<bool> = const { Cell::new(false) };
}

/// Runs code that recurses over a text, on a stack that is large enough for all texts within [`TextLimit`], and waits
/// for it. A panic continues in the caller. The thread has ended when this returns.
///
/// # Errors
/// [`TextError::NoThread`] where no thread can be started.
pub fn with_room<R: Send>(f: impl FnOnce() -> R + Send) -> Result<R, TextError> {
    if ROOMY.get() {
        return Ok(f());
    }
    thread::scope(|scope| {
        let body = || {
            ROOMY.set(true);
            f()
        };
        let builder = thread::Builder::new().name("pixelferry wgsl".into()).stack_size(STACK);
        let thread = threads::spawn_scoped(builder, scope, body);
        let thread = thread.map_err(|reason| TextError::NoThread(reason.to_string()))?;
        Ok(thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
    })
}
