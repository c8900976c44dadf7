//! Tests that count the descriptors of their process, in one that runs nothing beside them.

use pixelferry_testing::Child;

const TESTS: [&str; 8] = [
    "suite::external::bad_descriptors_are_errors_and_nothing_leaks",
    "suite::external::impossible_sizes_and_wrong_handles_are_refused",
    "suite::external::gl_reads_what_the_other_api_writes",
    "suite::external::many_frames_round_a_ring",
    "suite::external_images::a_texture_shows_what_the_other_api_writes",
    "suite::external_images::wrong_sizes_and_formats_are_refused_and_nothing_leaks",
    "suite::external_images::exported_textures_and_descriptors_do_not_leak",
    "suite::semaphores::semaphores_and_descriptors_do_not_leak",
];

#[test]
fn descriptors_stay_as_many() {
    // Mesa opens a file for each shader that it keeps, on a thread of its own.
    let child = Child::of_each(&TESTS).unwrap().env("MESA_SHADER_CACHE_DISABLE", "true");
    println!("{}", child.run().unwrap().passed());
}
