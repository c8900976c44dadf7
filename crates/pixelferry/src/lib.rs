//! Facade of pixelferry.
