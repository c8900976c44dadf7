//! How a double passes on its calls.

/// Methods of a trait that go to `self.inner`, with the step that may fail before it or after it:
/// `& name() -> T;`, `Step before &mut name(n: u64) -> T;`, `Step after & name() -> T;`. The borrow is that of `self`.
#[doc(hidden)]
#[macro_export]
macro_rules! forward {
    () => {};
    (& $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?; $($rest:tt)*) => {
        fn $name(&self, $($arg: $type),*) $(-> $out)? { self.inner.$name($($arg),*) }
        $crate::forward! { $($rest)* }
    };
    (&mut $name:ident($($arg:ident: $type:ty),*) $(-> $out:ty)?; $($rest:tt)*) => {
        fn $name(&mut self, $($arg: $type),*) $(-> $out)? { self.inner.$name($($arg),*) }
        $crate::forward! { $($rest)* }
    };
    ($step:ident before & $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&self, $($arg: $type),*) -> $out {
            self.faults.check($crate::Step::$step)?;
            self.inner.$name($($arg),*)
        }
        $crate::forward! { $($rest)* }
    };
    ($step:ident before &mut $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&mut self, $($arg: $type),*) -> $out {
            self.faults.check($crate::Step::$step)?;
            self.inner.$name($($arg),*)
        }
        $crate::forward! { $($rest)* }
    };
    ($step:ident after & $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&self, $($arg: $type),*) -> $out {
            self.inner.$name($($arg),*)?;
            self.faults.check($crate::Step::$step)
        }
        $crate::forward! { $($rest)* }
    };
    ($step:ident after &mut $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&mut self, $($arg: $type),*) -> $out {
            self.inner.$name($($arg),*)?;
            self.faults.check($crate::Step::$step)
        }
        $crate::forward! { $($rest)* }
    };
}
