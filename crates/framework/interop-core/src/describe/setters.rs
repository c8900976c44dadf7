//! The macro for methods that set one field. Types that may grow need them, because code outside the crate cannot write
//! them as literals.

/// `setters!(Policy { /// Takes this path or fails. with_force(force: impl Into<Option<PathId>>); });` The parameter has
/// the field's name. A field that is made from it in another way than by `into()` says how: `=> Some(Box::new(force))`.
#[doc(hidden)]
#[macro_export]
macro_rules! setters {
    (@value $field:ident) => { $field.into() };
    (@value $field:ident => $value:expr) => { $value };
    ($type:ty { $($(#[$doc:meta])+ $name:ident($field:ident: $param:ty $(=> $value:expr)?);)+ }) => {
        impl $type {$(
            $(#[$doc])+
            #[must_use]
            pub fn $name(mut self, $field: $param) -> Self {
                self.$field = $crate::setters!(@value $field $(=> $value)?);
                self
            }
        )+}
    };
}
