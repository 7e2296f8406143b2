//! The two clocks that a disciplined clock is made of, as traits.

pub(super) mod first_reading;
pub(super) mod sources;
