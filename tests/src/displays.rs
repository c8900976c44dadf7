//! Every display of the facade's table, where the machine has what it needs.

use pixelferry::{DisplayChoice, HeadlessDisplay, Result, command::ApiChoice as _, open_headless};
use pixelferry_testing::{Need, given, need};

/// Returns what was opened of a display, which the machine must have as the rows of `pixelferry_testing` say.
pub fn need_display<T>(choice: DisplayChoice, opened: Result<T>) -> Option<T> {
    match choice {
        DisplayChoice::Gl => need(Need::Egl, opened),
        DisplayChoice::Compute => need(given(), opened),
        DisplayChoice::Vulkan | DisplayChoice::Wgpu => need(Need::Lavapipe, opened),
        DisplayChoice::Auto | DisplayChoice::Memory => match opened {
            Ok(opened) => Some(opened),
            Err(error) => panic!("{choice:?} needs no driver: {error}"),
        },
        other => panic!("what does {other:?} need?"),
    }
}

/// Every display without a window, with its choice.
pub fn displays() -> impl Iterator<Item = (DisplayChoice, HeadlessDisplay)> {
    let named = DisplayChoice::all().map(|row| row.choice).filter(|choice| *choice != DisplayChoice::Auto);
    named.filter_map(|choice| Some((choice, need_display(choice, open_headless(choice))?)))
}
