//! The questions, one module each: what is asked of a session, and the record that answers it.

pub(crate) mod across;
pub(crate) mod advise;
pub(crate) mod after_work;
pub(crate) mod bounds;
pub(crate) mod check;
pub(crate) mod clocksource;
pub(crate) mod compare;
pub(crate) mod gaps;
pub(crate) mod info;
pub(crate) mod list;
pub(crate) mod measure;
pub(crate) mod rate;
pub(crate) mod recording;
pub(crate) mod shootout;
pub(crate) mod sleep;
pub(crate) mod steps;
