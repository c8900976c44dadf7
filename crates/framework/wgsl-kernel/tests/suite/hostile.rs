//! Texts of which nobody knows who wrote them: each is taken or refused, and none ends the process.

use pixelferry_testing::by_level;
use proptest::prelude::*;
use wgsl_kernel::{Dialect, TextError, TextLimit, glsl};

/// The stack of a thread that somebody else started.
const CALLERS: usize = 2 << 20;

/// Reads a text on a thread as callers have it. A text that overflows a stack ends this process.
fn taken(text: String) -> Result<String, TextError> {
    let thread = std::thread::Builder::new().stack_size(CALLERS).spawn(move || glsl(&text, "k", Dialect::Desktop));
    thread.unwrap().join().unwrap()
}

fn kernel(before: &str, body: &str) -> String {
    let entry = "@compute @workgroup_size(8) fn k(@builtin(global_invocation_id) id: vec3<u32>)";
    format!("{MEMORY}{before}\n{entry} {{ {body} }}")
}

const MEMORY: &str = "@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n";

/// The limit that a text is beyond.
#[track_caller]
fn limit(text: String) -> TextLimit {
    match taken(text) {
        Err(TextError::Beyond { limit, found }) => {
            assert!(found > limit.most(), "{limit:?}: {found}");
            limit
        }
        other => panic!("{other:?}"),
    }
}

/// Functions that each call the one before `times` times.
fn calls(functions: usize, times: usize, body: &str) -> String {
    let mut text = format!("fn g_0(x: u32) -> u32 {{ {body} }}\n");
    for at in 1..functions {
        let sum = vec![format!("g_{}(x)", at - 1); times].join(" + ");
        text += &format!("fn g_{at}(x: u32) -> u32 {{ return {sum}; }}\n");
    }
    kernel(&text, &format!("out[id.x] = g_{}(id.x);", functions - 1))
}

#[test]
fn texts_that_ended_the_process_or_kept_a_driver_busy_are_refused() {
    let expression = |deep: String| kernel("", &format!("out[id.x] = {deep};"));
    let array = |space: &str, before: &str, words: usize| {
        let declared = format!("var{space} a: array<u32, {words}>;");
        let used = format!("a[id.x % {words}u] += id.x; out[id.x] = a[id.x * 31u % {words}u];");
        if before.is_empty() { kernel("", &(declared + &used)) } else { kernel(&declared, &used) }
    };
    for (text, expected) in [
        (expression("~".repeat(4000) + "id.x"), TextLimit::Depth),
        (expression("id.x + ".repeat(2000) + "1u"), TextLimit::Depth),
        (expression(format!("{}1u{}", "(".repeat(10_000), ")".repeat(10_000))), TextLimit::Depth),
        (kernel("", &format!("if id.x == 0u {{}} {}", "else if id.x == 1u {} ".repeat(2000))), TextLimit::Depth),
        (calls(30, 2, "return x * 3u + 1u;"), TextLimit::Work),
        (calls(5, 8, "var a: array<u32, 64>; a[x % 64u] = x; return a[x * 7u % 64u];"), TextLimit::Private),
        (calls(2, 100, "var a = x; for (var i = 0u; i < x; i++) { a *= 3u; } return a;"), TextLimit::Work),
        (array("", "", 20_000), TextLimit::Private),
        (array("<private>", "module", 20_000), TextLimit::Private),
        (array("<workgroup>", "module", 20_000), TextLimit::Workgroup),
        (
            kernel("", &format!("{}{}", "for (var i = 0u; i < id.x; i++) { ".repeat(20), "}".repeat(20))),
            TextLimit::Loops,
        ),
        (kernel("", &"out[id.x] = 1u;\n".repeat(20_000)), TextLimit::Bytes),
        // 20 s to 90 s of a driver's.
        (kernel("", &format!("var s = id.x; {}", "s = s / 7u % 1000u + id.z;".repeat(1000))), TextLimit::Work),
        (kernel("var<workgroup> a: array<u32, 16>;", &"a[id.x & 15u] += a[id.y & 15u];".repeat(600)), TextLimit::Work),
        (
            kernel("", &format!("var a: array<u32, 16>; {}", "a[id.x & 15u] += a[id.y & 15u];".repeat(600))),
            TextLimit::Work,
        ),
    ] {
        let start: String = text.chars().take(200).collect();
        assert_eq!(limit(text), expected, "{start}");
    }
}

#[test]
fn a_refusal_says_the_limit_and_what_was_found_and_what_to_do() {
    let error = taken(kernel("", &format!("out[id.x] = {}id.x;", "~".repeat(400)))).unwrap_err().to_string();
    assert!(
        error.contains("40") && error.contains("at most 250 are supported") && error.contains("by 'let'"),
        "{error}"
    );
}

#[test]
fn texts_just_within_the_limits_are_taken_on_a_callers_stack() {
    let deep = TextLimit::Depth.most() as usize - 8;
    for text in [
        kernel("", &format!("out[id.x] = {}id.x;", "~".repeat(deep))),
        kernel("", &format!("out[id.x] = {}1u;", "id.x + ".repeat(deep / 2))),
        kernel("", &format!("out[id.x] = {}id.x{};", "max(1u, ".repeat(120), ")".repeat(120))),
        kernel("", &format!("if id.x == 0u {{}} {}", "else if id.x == 1u {} ".repeat(deep / 4))),
        kernel("", &format!("{}{}", "for (var i = 0u; i < id.x; i++) { ".repeat(12), "}".repeat(12))),
        calls(200, 1, "return x;"),
        kernel("", "var a: array<u32, 512>; a[id.x % 512u] += id.x; out[id.x] = a[id.y];"),
    ] {
        let start: String = text.chars().take(300).collect();
        assert!(taken(text).is_ok(), "{start}");
    }
}

/// Texts whose constants are large, by any of the ways in which WGSL has a length and a type.
fn large() -> Vec<String> {
    let doubled = |keyword: &str| {
        let step = |text: String, at| format!("{text} {keyword} x_{} = array(x_{at}, x_{at});", at + 1);
        (0..28).fold(format!("{keyword} x_0 = array(1, 2);"), step)
    };
    let structs = |text: String, at| format!("struct S_{} {{ a: S_{at}, b: S_{at} }} {text}", at + 1);
    let mut all: Vec<_> = [
        "const x = -array<u32, 500000000>();",
        "const x = array<u32, 500000000>();",
        "const x = - /* ) */ array /* // */ < // >\n u32 , 0x1dcd6500u >\n( );",
        "const x = -array<array<array<i32, 1000>, 1000>, 500>();",
        "const x = -array<array<i32, 1 << 14>, (1 << 15)>();",
        "const x = -array<i32, 1 << 29>();",
        "const x = -array<i32, 32768 * 16384 - 1 + 2 / 1>();",
        "const x = -array<i32, (1 << 30 >> 1) % 0x7fffffff>();",
        "const x = -array<i32, TILE * TILE>(); const TILE = SIDE + 4i; const SIDE: i32 = 20000;",
        "const x = -array<i32, select(1, 500000000, true)>();",
        "const x = -array<i32, u32(5e8)>();",
        "const x = -array<i32, 0 - -500000000>();",
        "const x = -array<i32, max(500000000, 1)>();",
        "alias A = array<u32, 500000000>; const x = -A();",
        "const x = -C(); alias C = B; alias B = A; alias A = array<u32, 500000000>;",
        "alias A = array<u32, 500000000>; const x = (A() + 1u)[1];",
        "alias a\u{301} = array<u32, 500000000>; const x = -a\u{301}();",
        "struct S { a: u32, @align(16) b: array<vec4<f32>, 200000000>, } const x = -S();",
        "struct S { a: array<u32, 500000000> } alias A = array<S, 1>; const x = A()[0] == A()[0];",
        "const x = array<f32, 200000000>(array<u32, 200000000>());",
        "const x = -vec2<f32>(array<vec4<f32>, 500000000>()[0].xy);",
        "const x = array<u32, 4096>(); const y = array(x, x, x, x, x, x, x, x); const z = array(y, y, y, y, y, y, y, y, y);",
    ]
    .iter()
    .map(|text| kernel(text, "out[id.x] = 1u;"))
    .collect();
    all.push(kernel(&(doubled("const") + " const y = -x_28;"), ""));
    all.push(kernel("", &(doubled("let") + " let y = -x_28;")));
    all.push(kernel("", &format!("{} let y = -x_28; }}", doubled("{ const"))));
    all.push(kernel(&(0..28).fold("struct S_0 { a: u32 } const x = -S_28();".to_owned(), structs), ""));
    all.push(kernel("const N = 4;", "const N = 500000000; let x = -array<u32, N>();"));
    all.push(kernel(&format!("const x = {}array<i32, 4000>();", "-".repeat(200)), ""));
    all.push(kernel("const x = -array<i32, 4000>();", &"_=x;".repeat(15_000)));
    all.push(kernel("", &"_=-array<u32,999>();".repeat(3000)));
    let nested = format!("{}u32{}", "array<".repeat(100), ", 1>".repeat(100));
    all.push(kernel(&format!("const x = -array<{nested}, 20000>();"), ""));
    all
}

#[test]
#[ignore = "run by the test below, in a process of its own"]
fn child_reads_large_constants() {
    for text in large() {
        assert_eq!(limit(text.clone()), TextLimit::Constants, "{text:.400}");
    }
    #[cfg(target_os = "linux")]
    assert!(pixelferry_testing::peak().unwrap() < 128 << 20, "{} bytes", pixelferry_testing::peak().unwrap());
}

#[test]
fn no_constant_takes_memory_before_it_is_refused() {
    pixelferry_testing::Child::of("suite::hostile::child_reads_large_constants").unwrap().run().unwrap().passed();
}

#[test]
fn constants_as_kernels_have_them_are_taken() {
    let table = |words: usize| {
        let rows: Vec<_> = (0..words).map(|at| format!("{at}u")).collect();
        format!("const TABLE = array<u32, {words}>({});", rows.join(", "))
    };
    let looked_up =
        "let a = TABLE[id.x & 255u]; let b = TABLE[(a + id.y) & 255u]; out[id.x] = TABLE[b] + a * b + TABLE[a];";
    for (before, body) in [
        ("const TILE = 32; var<workgroup> t: array<array<f32, TILE + 1>, TILE * 2 / 1>;", "t[id.x][0] = 1.0;"),
        ("override N = 64u; const M = 6 << 4u; var<workgroup> t: array<u32, M>;", "t[id.x] = N;"),
        (&table(512), &format!("{{ {looked_up} }} {{ {looked_up} }} for (var i = 0; i < 9; i++) {{ {looked_up} }}")),
        (
            "",
            "const N = 16u; var a = array<u32, N>(); let b = a; out[id.x] = b[id.y % N] + array(1u, 2u, 3u)[id.x % 3u];",
        ),
        (
            "struct Many { a: array<vec4<f32>, 1000000> } @group(1) @binding(0) var<storage> many: Many;
             alias Huge = array<u32, 100000000>; @group(1) @binding(1) var<storage> huge: Huge;",
            "out[id.x] = u32(many.a[id.x].x) + huge[id.y];",
        ),
        (
            "struct S { m: mat4x4<f32>, v: vec3f, } alias P = array<S, (1 << 2) + 1>;",
            "var p = P(); p[1].v += p[2].v; out[0] = u32(p[0].v.x);",
        ),
    ] {
        if let Err(error) = taken(kernel(before, body)) {
            panic!("{before} {body}: {error}");
        }
    }
}

/// Names are followed to a depth that every caller's stack holds; beyond it an array counts as the longest.
#[test]
fn names_in_one_another_are_followed_so_far() {
    // The last comes first, so that each is looked up inside of the one before.
    let chain = |names: usize| {
        let aliases: Vec<_> = (0..names).rev().map(|at| format!("alias A{} = A{at};", at + 1)).collect();
        kernel(
            &format!("{} alias A0 = u32;", aliases.join("\n")),
            &format!("var a = array<A{names}, 4>(); out[0] = a[id.x];"),
        )
    };
    taken(chain(240)).unwrap();
    limit(chain(260));
}

/// A driver compiles what it is given, so it is not given a zero for each word.
#[test]
fn zeroes_of_a_group_take_no_more_text_for_more_words() {
    let written = |words| {
        let text = format!("var<workgroup> t: array<u32, {words}>;");
        taken(kernel(&text, "out[id.x] = t[id.x]; t[id.y] = 1u;")).unwrap().len()
    };
    assert!(written(TextLimit::Workgroup.most()) < written(16) + 200);
}

/// A production that holds itself: before and behind what it holds.
const NESTS: &[(&str, &str)] = &[
    ("(", ")"),
    ("~", ""),
    ("-", ""),
    ("!", ""),
    ("*&", ""),
    ("id.x + ", ""),
    ("", " + id.x"),
    ("", " * 3u - id.y"),
    ("", " && true"),
    ("true || ", ""),
    ("1u << ", ""),
    ("", " < 3"),
    ("max(1u, ", ")"),
    ("max(", ", 1u)"),
    ("vec2<u32>(", ", 1u).x"),
    ("array<array<u32, 2>, 2>(", ")"),
    ("array<", ", 1>()"),
    ("array<u32, ", ">()"),
    ("vec4<", ">(1)"),
    ("a[", "]"),
    ("", "[0]"),
    ("", ".x"),
    ("", ".xy"),
    ("bitcast<u32>(", ")"),
    ("select(1u, ", ", id.x > 2u)"),
    ("/* /* ( */", "*/ + 1"),
    ("// (((\n", ""),
];

/// Nests statements.
const BLOCKS: &[(&str, &str)] = &[
    ("{", "}"),
    ("if id.x > 1u {", "}"),
    ("if id.x > 1u {} else {", "}"),
    ("if id.x > 1u {} else if id.y > 1u {} else if id.z > 3u {", "}"),
    ("loop { if id.x > 1u { break; }", "}"),
    ("loop { continuing {", "break if true; } }"),
    ("for (var i = 0; i < 3; i++) {", "}"),
    ("while id.x > 3u {", "}"),
    ("switch id.x { case 1u, 2u: {", "} default: {} }"),
    ("switch id.x { default {", "} }"),
    ("@diagnostic(off, derivative_uniformity) {", "}"),
    ("/* { */ {", "// }\n }"),
];

fn nested(productions: &'static [(&'static str, &'static str)], inner: String) -> impl Strategy<Value = String> {
    // Runs of one production, some of them far too long.
    let run = (prop::sample::select(productions), prop_oneof![4 => 0..12_usize, 2 => 0..250_usize, 1 => 0..4000_usize]);
    prop::collection::vec(run, 1..6).prop_map(move |runs| {
        runs.iter().fold(inner.clone(), |text, ((before, behind), count)| {
            format!("{}{text}{}", before.repeat(*count), behind.repeat(*count))
        })
    })
}

/// Arrays of any length and in any number of others, declared in any order, and constants that are computed of them.
fn constants() -> impl Strategy<Value = String> {
    let length = prop_oneof![
        Just("N"),
        Just("4"),
        Just("N * M"),
        Just("1 << N"),
        Just("(M - 1)"),
        Just("0x3fffffff"),
        Just("2147483647 / N"),
        Just("M % 7u"),
        Just("min(N, M)"),
        Just("999999999"),
        Just("-1"),
        Just("0 - -M"),
        Just("u32(M)"),
        Just("")
    ];
    let ty = prop_oneof![Just("u32"), Just("vec4<f32>"), Just("A"), Just("B"), Just("S"), Just("mat4x4f")];
    let ty = (ty, prop::collection::vec(length, 0..4)).prop_map(|(inner, lengths)| {
        lengths.iter().fold(inner.to_owned(), |inner, length| format!("array<{inner}, {length}>"))
    });
    let value = prop_oneof![
        ty.clone().prop_map(|ty| format!("-{ty}()")),
        ty.clone().prop_map(|ty| format!("({ty}() + 1)[2]")),
        ty.clone().prop_map(|ty| format!("array({ty}(), {ty}())")),
        prop::sample::select(
            &["x", "~x", "array(x, y)", "y[1]", "array(x, x)[0] - x", "S(x, y)", "A(x)", "- - -y", "z == z"][..]
        )
        .prop_map(str::to_owned),
    ];
    let number = prop_oneof![0..20_u32, any::<u32>()];
    (number.clone(), number, prop::array::uniform3(ty), prop::array::uniform3(value), any::<bool>()).prop_map(
        |(n, m, [a, b, s], [x, y, z], turned)| {
            let mut all = [
                format!("const N = {n};"),
                format!("const M = {m}u;"),
                format!("alias A = {a};"),
                format!("alias B = {b};"),
                format!("struct S {{ a: u32, b: {s}, }}"),
                format!("const x = {x};"),
                format!("const y = {y};"),
                format!("const z = {z};"),
            ];
            if turned {
                all.reverse();
            }
            all.join("\n")
        },
    )
}

fn hostile() -> impl Strategy<Value = String> {
    let expression = || nested(NESTS, "id.x".into());
    let statement = (expression(), expression()).prop_flat_map(|(left, right)| {
        nested(BLOCKS, format!("out[{left}] = {right}; let p = &out; var a = array<u32, 4>(); a[{left}] += {right};"))
    });
    let types = (0..3000_usize, 0..4_usize).prop_map(|(count, kind)| match kind {
        0 => format!("alias A = {}u32{};", "array<".repeat(count), ", 1>".repeat(count)),
        1 => (0..count.min(900)).fold("struct S_0 { a: u32 }".into(), |text, at| {
            format!("{text} struct S_{} {{ a: S_{at}, b: S_{at} }}", at + 1)
        }),
        2 => (0..count)
            .rev()
            .fold("const c_0 = 1;".into(), |text, at| format!("const c_{} = c_{at} + 1; {text}", at + 1)),
        _ => format!("var<private> v: {}u32{};", "vec2<".repeat(count), ">".repeat(count)),
    });
    let attributes = (0..3000_usize).prop_map(|count| format!("{} const z = 1;", "@align(1) ".repeat(count)));
    let before = prop_oneof![3 => Just(String::new()), 1 => types, 1 => attributes, 2 => constants()];
    // Bytes of a text cut and doubled at any place.
    let cut = (any::<prop::sample::Index>(), any::<prop::sample::Index>(), prop::bool::weighted(0.3));
    (before, prop_oneof![statement, expression().prop_map(|e| format!("let e = {e};"))], cut).prop_map(
        |(before, body, (from, to, cuts))| {
            let text = kernel(&before, &body);
            let at = |index: &prop::sample::Index| {
                (0..=index.index(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
            };
            if cuts { format!("{}{}", &text[..at(&from)], &text[at(&to)..]) } else { text }
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: by_level(24, 96, 96), failure_persistence: None, max_shrink_iters: 64, ..ProptestConfig::default() })]

    #[test]
    fn no_text_ends_the_process(text in hostile()) {
        let _ = taken(text);
    }
}
