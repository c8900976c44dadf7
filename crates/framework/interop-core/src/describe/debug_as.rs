//! The macro for `Debug` of types with parts that have none: the fields that tell one object from another.

/// `debug_as!(GlDevice, |this| device = &this.inner.identity);` shows `GlDevice { device: .., .. }`.
#[doc(hidden)]
#[macro_export]
macro_rules! debug_as {
    ($type:ident $(<$parameter:ident>)? $(, |$this:ident| $($field:ident = $value:expr),+)?) => {
        impl$(<$parameter>)? std::fmt::Debug for $type$(<$parameter>)? {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                $(let $this = self;)?
                f.debug_struct(stringify!($type))$($(.field(stringify!($field), $value))+)?.finish_non_exhaustive()
            }
        }
    };
}
