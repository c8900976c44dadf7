//! The macro for functions of OpenGL that glow does not wrap.

/// Declares functions as a struct of pointers of one context.
///
/// `functions!(all TextureFns { get = c"glGetTextureParameteriv", fn(texture: u32, parameter: u32, value: *mut i32); });`
/// gets a `load` that returns all functions or none. With `each` instead of `all`, every function is an `Option` of its
/// own. A name can come from a parameter of `load`: `all IndexedFns(names: [&CStr; 5]) { pub enable = names[0], .. }`.
macro_rules! functions {
    (@found $load:ident, $name:expr, $kind:ty) => {
        // SAFETY: null becomes `None`; another address is a function of this signature by the caller's promise.
        unsafe { std::mem::transmute::<*const std::ffi::c_void, Option<$kind>>($load($name)) }
    };
    ($(#[$meta:meta])* all $table:ident $(($given:ident: $of:ty))? {
        $($visible:vis $field:ident = $name:expr, fn($($arg:tt)*) $(-> $result:ty)?;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy)]
        pub(crate) struct $table {
            $($visible $field: unsafe extern "system" fn($($arg)*) $(-> $result)?,)+
        }

        impl $table {
            /// Loads the functions: all or none.
            ///
            /// # Safety
            /// `load` returns null or the address of the GL function of that name for the current context.
            pub(crate) unsafe fn load(
                load: &mut dyn FnMut(&std::ffi::CStr) -> *const std::ffi::c_void,
                $($given: $of,)?
            ) -> Option<Self> {
                Some(Self {$(
                    $field: functions!(@found load, $name, unsafe extern "system" fn($($arg)*) $(-> $result)?)?,
                )+})
            }
        }
    };
    ($(#[$meta:meta])* each $table:ident {
        $($(#[$doc:meta])* $visible:vis $field:ident = $name:expr, fn($($arg:tt)*) $(-> $result:ty)?;)+
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Default)]
        pub(crate) struct $table {
            $($(#[$doc])* $visible $field: Option<unsafe extern "system" fn($($arg)*) $(-> $result)?>,)+
        }

        impl $table {
            /// Loads the functions.
            ///
            /// # Safety
            /// `load` returns null or the address of the GL function of that name for the current context.
            pub(crate) unsafe fn load(load: &mut dyn FnMut(&std::ffi::CStr) -> *const std::ffi::c_void) -> Self {
                Self {$(
                    $field: functions!(@found load, $name, unsafe extern "system" fn($($arg)*) $(-> $result)?),
                )+}
            }
        }
    };
}
pub(crate) use functions;
