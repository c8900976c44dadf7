//! Misuse that must not compile.

#[test]
fn misuse_does_not_compile() {
    let cases = trybuild::TestCases::new();
    cases.compile_fail("compile_fail/*.rs");
    cases.pass("compile_fail/right/*.rs");
}
