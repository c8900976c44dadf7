//! CPU compute of pixelferry.
