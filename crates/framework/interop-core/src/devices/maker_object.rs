//! Objects that only their maker accepts: recovered from trait objects by type and maker, or rejected.

use super::identity::DeviceIdentity;
use crate::describe::error::{Error, Result};
use std::any::Any;
use std::ptr;

/// State that all objects of one backend or display share.
pub trait Maker: 'static {
    /// Name of the device in messages.
    fn name(&self) -> String;
}

/// An object that calls receive as a trait object, possibly from another maker.
pub trait MakerObject: Any {
    /// Type of the backend or display that makes the objects.
    type Maker: Maker;

    /// Name of the kind of object in messages, e.g. `memory`.
    const OBJECT: &'static str;

    /// Returns the maker of this object.
    fn maker(&self) -> &Self::Maker;
}

/// Implements [`MakerObject`]: `owned!(Block: Device, "block", |block| &block.device);`. For a generic type, `, D: Driver`
/// follows.
#[macro_export]
macro_rules! owned {
    ($type:ty: $maker:ty, $object:literal, |$this:ident| $of:expr $(, $parameter:ident: $bound:path)?) => {
        impl$(<$parameter: $bound>)? $crate::devices::maker_object::MakerObject for $type {
            type Maker = $maker;

            const OBJECT: &'static str = $object;

            fn maker(&self) -> &$maker {
                let $this = self;
                $of
            }
        }
    };
}

/// Returns the object as its own type, if this very maker made it.
pub fn find<'a, T: MakerObject>(object: &'a dyn Any, maker: &T::Maker) -> Option<&'a T> {
    object.downcast_ref::<T>().filter(|object| ptr::eq(object.maker(), maker))
}

/// Like [`find`], with an error instead of `None`.
///
/// # Errors
/// [`Error::Foreign`] for another type, and for an object of another maker.
pub fn own<'a, T: MakerObject>(object: &'a dyn Any, maker: &T::Maker) -> Result<&'a T> {
    find(object, maker).ok_or_else(|| foreign::<T>(maker))
}

/// Like [`own`], for mutable access.
///
/// # Errors
/// Those of [`own`].
pub fn own_mut<'a, T: MakerObject>(object: &'a mut dyn Any, maker: &T::Maker) -> Result<&'a mut T> {
    let found = object.downcast_mut::<T>().filter(|object| ptr::eq(object.maker(), maker));
    found.ok_or_else(|| foreign::<T>(maker))
}

/// The error for another maker's object.
pub fn foreign<T: MakerObject>(maker: &T::Maker) -> Error {
    Error::Foreign { operation: "", object: T::OBJECT, device: maker.name() }
}

impl Maker for DeviceIdentity {
    fn name(&self) -> String {
        self.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    struct Device(&'static str);

    impl Maker for Device {
        fn name(&self) -> String {
            self.0.into()
        }
    }

    struct Block(Arc<Device>);

    crate::owned!(Block: Device, "block", |block| &block.0);

    #[test]
    fn only_its_maker_takes_an_object_back() {
        let (one, other) = (Arc::new(Device("one")), Arc::new(Device("one")));
        let mut block = Block(Arc::clone(&one));
        assert!(own::<Block>(&block, &one).is_ok() && own_mut::<Block>(&mut block, &one).is_ok());
        assert!(find::<Block>(&block, &other).is_none());
        let text = own::<Block>(&block, &other).err().unwrap().to_string();
        assert!(text.contains("block") && text.contains("one"), "{text}");
        assert!(own::<Block>(&7, &one).is_err() && own_mut::<Block>(&mut 7, &one).is_err());
    }
}
