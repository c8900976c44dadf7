//! Methods that change one field of a value, for types that grow: programs outside cannot write those as literals.

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
