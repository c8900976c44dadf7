//! `pixelferry.h` is written by hand, as C programs read it. A C compiler compares it with the Rust sources: every constant,
//! struct, field, type of a function and exported function, both ways.

use crate::common::{Language, build, compiler, done, root, run, scratch};
use interop_core::describe::format::FORMATS;
use quote::ToTokens as _;
use std::collections::BTreeSet;
use std::fs;
use syn::{FnArg, GenericArgument, Item, NamedArg, Pat, PathArguments, PointerMutability, ReturnType, Type};

/// Declarations of the Rust sources, in C.
#[derive(Default)]
struct Said {
    text: String,
    functions: BTreeSet<String>,
    constants: BTreeSet<String>,
    types: BTreeSet<String>,
}

/// A C declaration of `name` with a Rust type.
fn declared(ty: &Type, name: &str) -> String {
    match ty {
        Type::Ptr(pointer) => {
            let is_const = matches!(pointer.mutability, PointerMutability::Const(_));
            // `const` stands right of what it is about, so that it reads the same at every depth.
            let inner = format!("{}*{name}", if is_const { "const " } else { "" });
            declared(&pointer.elem, &inner)
        }
        Type::Path(path) => {
            let last = path.path.segments.last().unwrap().ident.to_string();
            let c = match last.as_str() {
                "c_char" => "char",
                "c_void" => "void",
                "i32" => "int32_t",
                "u32" => "uint32_t",
                "i64" => "int64_t",
                "u64" => "uint64_t",
                "f32" => "float",
                "f64" => "double",
                "usize" => "size_t",
                "isize" => "ptrdiff_t",
                other if other.starts_with("pf_") => other,
                other => panic!("{other} has no type in C"),
            };
            format!("{c} {name}")
        }
        other => panic!("{} has no type in C", other.to_token_stream()),
    }
}

fn returned(output: &ReturnType, name: &str) -> String {
    match output {
        ReturnType::Default => format!("void {name}"),
        ReturnType::Type(_, ty) => declared(ty, name),
    }
}

fn listed(parameters: Vec<String>) -> String {
    if parameters.is_empty() { "void".into() } else { parameters.join(", ") }
}

/// `Option<unsafe extern "C" fn(..)>` as the typedef of a pointer to a function.
fn typedef(name: &str, ty: &Type) -> Option<String> {
    let Type::Path(path) = ty else { return None };
    let PathArguments::AngleBracketed(arguments) = &path.path.segments.last()?.arguments else { return None };
    let GenericArgument::Type(Type::FnPtr(function)) = arguments.args.first()? else { return None };
    let parameter = |arg: &NamedArg| declared(&arg.ty, &arg.name.as_ref().unwrap().0.to_string());
    let parameters = listed(function.inputs.iter().map(parameter).collect());
    Some(format!("typedef {};\n", returned(&function.output, &format!("(*{name})({parameters})"))))
}

impl Said {
    fn fields(&mut self, name: &str, is_union: bool, fields: &syn::FieldsNamed) {
        let kind = if is_union { "union" } else { "struct" };
        let (mut body, mut checks) = (String::new(), String::new());
        for field in &fields.named {
            let called = field.ident.as_ref().unwrap().to_string();
            body += &format!("    {};\n", declared(&field.ty, &called));
            checks += &format!(
                "_Static_assert(offsetof({kind} rust_{name}, {called}) == offsetof({name}, {called}), \"{name}.{called}\");\n\
                 _Static_assert(_Generic(&((const {name} *)0)->{called}, {}: 1, default: 0), \"{name}.{called}\");\n",
                declared(&field.ty, "const *"),
            );
        }
        self.text += &format!("{kind} rust_{name} {{\n{body}}};\n{checks}");
        self.text += &format!("_Static_assert(sizeof({kind} rust_{name}) == sizeof({name}), \"{name}\");\n");
        self.types.insert(name.to_owned());
    }

    fn constant(&mut self, name: String, value: &str) {
        self.text += &format!("_Static_assert({name} == {value}, \"{name}\");\n");
        self.constants.insert(name);
    }

    fn item(&mut self, item: &Item) {
        match item {
            Item::Const(constant) if constant.ident.to_string().starts_with("PIXELFERRY_") => {
                let value =
                    constant.expr.to_token_stream().to_string().replace(' ', "").replace("u32::MAX", "0xffffffff");
                self.constant(constant.ident.to_string(), &value);
            }
            Item::Struct(found) if found.ident.to_string().starts_with("pf_") => {
                if let syn::Fields::Named(fields) = &found.fields {
                    self.fields(&found.ident.to_string(), false, fields);
                }
            }
            Item::Union(found) => self.fields(&found.ident.to_string(), true, &found.fields),
            Item::Type(alias) if alias.ident.to_string().starts_with("pf_") => {
                let name = alias.ident.to_string();
                let text =
                    typedef(&name, &alias.ty).unwrap_or_else(|| format!("typedef {};\n", declared(&alias.ty, &name)));
                self.text += &text;
                self.types.insert(name);
            }
            Item::Macro(call) if call.mac.path.is_ident("opaque") => {
                for name in call.mac.tokens.to_string().split(',').map(str::trim).filter(|name| !name.is_empty()) {
                    self.text += &format!("typedef struct {name} {name};\n");
                    self.types.insert(name.to_owned());
                }
            }
            Item::Fn(function)
                if function.attrs.iter().any(|a| a.to_token_stream().to_string().contains("no_mangle")) =>
            {
                let name = function.sig.ident.to_string();
                assert_eq!(function.sig.abi.to_token_stream().to_string(), "extern \"C\"", "{name}");
                let parameter = |arg: &FnArg| match arg {
                    FnArg::Typed(typed) => match typed.pat.as_ref() {
                        Pat::Ident(pat) => declared(&typed.ty, &pat.ident.to_string()),
                        _ => panic!("{name} has a parameter without a name"),
                    },
                    FnArg::Receiver(_) => panic!("{name} has a receiver"),
                };
                let parameters = listed(function.sig.inputs.iter().map(parameter).collect());
                self.text += &format!("{};\n", returned(&function.sig.output, &format!("{name}({parameters})")));
                self.functions.insert(name);
            }
            _ => {}
        }
    }
}

fn said() -> Said {
    let mut said = Said::default();
    for row in &FORMATS {
        said.constant(format!("PIXELFERRY_FORMAT_{}", row.name), &(row.shader_id + 1).to_string());
    }
    let mut files = vec![root().join("src/abi.rs")];
    let exports = fs::read_dir(root().join("src/exports")).unwrap();
    files.extend(exports.map(|file| file.unwrap().path()));
    files[1..].sort();
    for file in files {
        syn::parse_file(&fs::read_to_string(file).unwrap()).unwrap().items.iter().for_each(|item| said.item(item));
    }
    said
}

/// Macros that no constant of Rust stands for; [`the_header_and_the_library_say_the_same`] compares the versions itself.
const MACROS: [&str; 8] = [
    "PIXELFERRY_EXPORT",
    "PIXELFERRY_H",
    "PIXELFERRY_MAKE_VERSION",
    "PIXELFERRY_SHARED",
    "PIXELFERRY_VERSION_MAJOR",
    "PIXELFERRY_VERSION_MINOR",
    "PIXELFERRY_VERSION_NUMBER",
    "PIXELFERRY_VERSION_PATCH",
];

fn header() -> String {
    fs::read_to_string(root().join("include/pixelferry.h")).unwrap()
}

/// The header without its comments.
fn code() -> String {
    let header = header();
    let mut pieces = header.split("/*");
    let first = pieces.next().unwrap().to_owned();
    pieces.fold(first, |code, piece| code + piece.split_once("*/").unwrap().1)
}

/// Names of macros and of enum constants, as the header defines them.
fn defined(code: &str) -> BTreeSet<String> {
    let macros = code.lines().filter_map(|line| line.trim_start().strip_prefix("#define "));
    let enums = code.split("enum {").skip(1).filter_map(|piece| piece.split_once('}')).map(|(body, _)| body);
    let constants = enums.flat_map(|body| body.split(','));
    macros.chain(constants).filter_map(|text| words(text).next().map(str::to_owned)).collect()
}

/// Definitions that lack the prefix, or the group behind it: `PIXELFERRY_KEEP` would be one.
fn without_group(code: &str) -> Vec<String> {
    let groups: BTreeSet<&str> = [
        "ACCESS",
        "ALPHA",
        "API",
        "ARG",
        "AUDIT",
        "BACKGROUND",
        "BUDGET",
        "ENCODING",
        "ERROR",
        "FILTER",
        "FIT",
        "FORMAT",
        "LOAD",
        "LOG",
        "MODE",
        "NEXT",
        "OBJECT",
        "ONE_CHANNEL",
        "OUTLET_ROWS",
        "ROWS",
        "SHOWED",
        "TARGET",
        "TONE_MAP",
        "VERSION",
        "VULKAN",
    ]
    .into();
    let alone = ["EXPORT", "H", "MAKE_VERSION", "OK", "SHARED"];
    let is_fine = |name: &str| {
        name.strip_prefix("PIXELFERRY_").is_some_and(|rest| {
            alone.contains(&rest)
                || groups.iter().any(|group| rest.strip_prefix(group).is_some_and(|name| name.starts_with('_')))
        })
    };
    defined(code).into_iter().filter(|name| !is_fine(name)).collect()
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// Functions that the header declares.
fn functions() -> BTreeSet<String> {
    let code = code();
    let declarations = code.split("PIXELFERRY_EXPORT ").filter_map(|piece| piece.split_once(';'));
    let named = declarations.filter_map(|(declaration, _)| declaration.split_once('('));
    named
        .filter_map(|(before, _)| words(before).last().map(str::to_owned))
        .filter(|name| name.starts_with("pf_"))
        .collect()
}

#[test]
fn the_header_and_the_library_say_the_same() {
    let said = said();
    assert_eq!(functions(), said.functions);
    let code = code();
    assert_eq!(without_group(&code), Vec::<String>::new());
    let constants: BTreeSet<_> = defined(&code).into_iter().filter(|name| !MACROS.contains(&name.as_str())).collect();
    assert_eq!(constants, said.constants);
    let types: BTreeSet<_> = words(&code)
        .filter(|word| word.starts_with("pf_") && !said.functions.contains(*word))
        .map(str::to_owned)
        .collect();
    assert_eq!(types, said.types);
    // Every function is there to be linked; the compiler refuses a declaration that differs from the header's.
    let all: String = said.functions.iter().map(|name| format!("    (any){name},\n")).collect();
    let version = env!("CARGO_PKG_VERSION");
    let parts = version.replace('.', ", ");
    let text = format!(
        "#include <pixelferry.h>\n#include <pixelferry.h>\n#include <string.h>\n{}\n\
         #if PIXELFERRY_VERSION_NUMBER != PIXELFERRY_MAKE_VERSION({parts})\n#error this is another version\n#endif\n\
         typedef void (*any)(void);\nstatic const any ALL[] = {{\n{all}}};\nint main(void) {{\n    return ALL[0] == 0 || \
         strcmp(pf_version(), \"{version}\") != 0 || pf_version_number() != PIXELFERRY_VERSION_NUMBER;\n}}\n",
        said.text,
    );
    let file = scratch("abi.c");
    fs::write(&file, text).unwrap();
    let Some(program) = build(Language::C, &file, &[]) else { return };
    done(&mut run(program));
}

#[test]
fn a_constant_without_prefix_or_group_is_refused() {
    let code = code();
    for (from, to) in [
        ("PIXELFERRY_ERROR_OTHER = 19", "PIXELFERRY_ERROR_OTHER = 19, PF_ERROR_MORE = 20"),
        ("PIXELFERRY_LOAD_CLEAR = 1", "PIXELFERRY_CLEAR = 1"),
        ("enum { PIXELFERRY_FILTER_NEAREST = 0", "enum { NEAREST = 0"),
        ("#define PIXELFERRY_BUDGET_NONE", "#define PF_NO_BUDGET"),
    ] {
        assert!(code.contains(from), "{from}");
        assert_eq!(without_group(&code.replace(from, to)).len(), 1, "{to}");
    }
}

/// A header that says something else does not pass: each of these changes is found.
#[test]
fn a_header_that_differs_is_refused() {
    let changes = [
        ("uint32_t width;  /* pixels */", "int32_t width;"),
        ("PIXELFERRY_FIT_COVER = 2,", "PF_FIT_COVER = 2,"),
        ("PIXELFERRY_ERROR_BUSY = 4,", "PIXELFERRY_ERROR_BUSY = 40,"),
        (
            "pf_link_resize(pf_link *link, const pf_surface *surface)",
            "pf_link_resize(pf_link *link, pf_surface *surface)",
        ),
        ("pf_frame_finish(pf_frame *frame)", "pf_frame_finish(pf_shown *frame)"),
        ("const char *prefer;", "const char *second;"),
        ("typedef int32_t (*pf_map_function)(void *user", "typedef int64_t (*pf_map_function)(void *user"),
    ];
    let folder = scratch("differs");
    fs::create_dir_all(&folder).unwrap();
    let file = folder.join("abi.c");
    fs::write(&file, format!("#include \"pixelferry.h\"\n{}\n", said().text)).unwrap();
    for change in std::iter::once(None).chain(changes.map(Some)) {
        let (mut text, mut expected) = (header(), true);
        if let Some((from, to)) = change {
            assert!(text.contains(from), "{from}");
            text = text.replace(from, to);
            expected = false;
        }
        fs::write(folder.join("pixelferry.h"), text).unwrap();
        let Some(mut compiler) = compiler(Language::C) else { return };
        let output = compiler.arg("-fsyntax-only").arg(&file).output().unwrap();
        assert_eq!(output.status.success(), expected, "{change:?}: {}", String::from_utf8_lossy(&output.stderr));
    }
}
