//! Values of options that are given by their names.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use pixelferry::{Error, command::ApiChoice};
use std::str::FromStr;

/// Parses a choice by its name; help lists the names with their meaning.
pub fn choices<T: ApiChoice>() -> impl TypedValueParser<Value = T> {
    let shown = T::all().map(|row| PossibleValue::new(row.name).aliases(row.aliases).help(row.about));
    PossibleValuesParser::new(shown).try_map(|text| T::parse(&text))
}

/// Parses one of these names.
pub fn one_of<T>(names: impl IntoIterator<Item = &'static str>) -> impl TypedValueParser<Value = T>
where
    T: FromStr<Err = Error> + Clone + Send + Sync + 'static,
{
    PossibleValuesParser::new(names).try_map(|name| name.parse())
}
