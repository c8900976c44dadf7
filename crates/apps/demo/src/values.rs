//! Values that help lists although a custom parser reads them.

use clap::builder::{PossibleValue, TypedValueParser};
use std::ffi::OsStr;

/// A parser with the values that help and completion show.
#[derive(Clone)]
pub struct ListedValues<P> {
    parser: P,
    values: Vec<&'static str>,
}

/// Lists `values` in help for what `parser` reads.
pub fn listed<P: TypedValueParser>(parser: P, values: impl Into<Vec<&'static str>>) -> ListedValues<P> {
    ListedValues { parser, values: values.into() }
}

impl<P: TypedValueParser> TypedValueParser for ListedValues<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        argument: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.parser.parse_ref(command, argument, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.values.iter().map(PossibleValue::new)))
    }
}
