//! Forwarding of a double's calls.

/// Methods of a trait that go to `self.inner`, with the step that may fail, as [`crate::faults::Faults::before`], [`crate::faults::Faults::after`] or
/// [`crate::faults::Faults::ends`] says: `& name() -> T;`, `FaultStep before &mut name(n: u64) -> T;`. The borrow is that of `self`.
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
    ($step:ident $when:ident & $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&self, $($arg: $type),*) -> $out {
            self.faults.$when($crate::faults::FaultStep::$step, || self.inner.$name($($arg),*))
        }
        $crate::forward! { $($rest)* }
    };
    ($step:ident $when:ident &mut $name:ident($($arg:ident: $type:ty),*) -> $out:ty; $($rest:tt)*) => {
        fn $name(&mut self, $($arg: $type),*) -> $out {
            self.faults.$when($crate::faults::FaultStep::$step, || self.inner.$name($($arg),*))
        }
        $crate::forward! { $($rest)* }
    };
}
