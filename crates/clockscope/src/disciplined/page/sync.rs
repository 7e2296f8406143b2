//! Atomics and fences: the processor's, or loom's when the protocol is being checked.

#[cfg(not(clockscope_models))]
pub(crate) use clockscope_core::atomic::AtomicU64;
#[cfg(not(clockscope_models))]
pub(crate) use core::sync::atomic::{Ordering, fence};
#[cfg(clockscope_models)]
pub(crate) use loom::sync::atomic::{AtomicU64, Ordering, fence};

#[cfg(not(clockscope_models))]
pub(crate) use clockscope_core::counter::memory_order::{load_after_reading, stored_before_reading};

/// Loom's clocks are atomics, which fences order.
#[cfg(clockscope_models)]
pub(crate) fn load_after_reading(word: &AtomicU64, _: u64) -> u64 {
    fence(Ordering::SeqCst);
    word.load(Ordering::Relaxed)
}

/// As above.
#[cfg(clockscope_models)]
pub(crate) fn stored_before_reading() {
    fence(Ordering::SeqCst);
}

/// Declares a function that is `const`, but not under loom, which makes atomics at run time.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $visibility:vis fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty $body:block) => {
        $(#[$attribute])*
        #[cfg(not(clockscope_models))]
        $visibility const fn $name($($argument: $type),*) -> $result $body

        $(#[$attribute])*
        #[cfg(clockscope_models)]
        $visibility fn $name($($argument: $type),*) -> $result $body
    };
}

/// An array of one initial value. Loom makes each of its atomics.
macro_rules! array_of {
    ($value:expr; $length:expr) => {{
        #[cfg(not(clockscope_models))]
        let array = [const { $value }; $length];
        #[cfg(clockscope_models)]
        let array = core::array::from_fn::<_, { $length }, _>(|_| $value);
        array
    }};
}

pub(crate) use {array_of, const_fn};
