//! Tables of functions.

/// A struct of functions, by their keys; `load` gives `None` where one is missing.
macro_rules! function_table {
    ($(#[$doc:meta])* $vis:vis struct $struct:ident by $key:ty { $($field:ident = $name:literal ($($kind:ty),*) $(-> $result:ty)?;)* }) => {
        $(#[$doc])*
        $vis struct $struct {
            $(pub $field: unsafe extern "C" fn($($kind),*) $(-> $result)?,)*
        }

        impl $struct {
            /// # Safety
            /// `address` gives null or the function of that key, whose type is the one written here.
            $vis unsafe fn load(address: impl Fn($key) -> *const std::ffi::c_void) -> Option<Self> {
                Some(Self {
                    $($field: {
                        let address = address($name);
                        if address.is_null() {
                            $crate::explain::say(format_args!("missing function {}", $name));
                            return None;
                        }
                        // SAFETY: the caller's promise.
                        unsafe {
                            std::mem::transmute::<*const std::ffi::c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(address)
                        }
                    },)*
                })
            }
        }
    };
}
pub(crate) use function_table;
