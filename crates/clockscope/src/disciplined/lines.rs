//! The lock's content: judgments of brackets, errors of lines, ends of generations.

pub(super) mod agreement;
pub(super) mod carried;
pub(super) mod errors;
pub(super) mod generation;
pub(super) mod os_speed;
pub(super) mod state;
pub(super) mod time_hold;
