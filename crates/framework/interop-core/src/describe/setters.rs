//! The macro for methods that set one field. Types that may grow need them, because code outside the crate cannot write
//! them as literals.

/// `setters!(Policy { /// Takes this path or fails. with_force(force: impl Into<Option<PathId>>); });`
macro_rules! setters {
    ($type:ty { $($(#[$doc:meta])+ $name:ident($field:ident: $param:ty);)+ }) => {
        impl $type {$(
            $(#[$doc])+
            #[must_use]
            pub fn $name(mut self, $field: $param) -> Self {
                self.$field = $field.into();
                self
            }
        )+}
    };
}
pub(crate) use setters;
