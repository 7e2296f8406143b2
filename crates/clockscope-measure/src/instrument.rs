//! The parts that measure a clock, whatever the question: a [`session`] on a machine, its
//! [`timer`], the [`catalog`] of its clocks, the timed loop ([`sampler`]), and what a measured
//! clock has shown ([`measured_clock`], [`record`]).
//!
//! No code here calls a question; [`error`] has the errors of all of them. Loops of two threads
//! that read one clock are in [`pair`].

pub(crate) mod bench;
pub(crate) mod bracket;
pub(crate) mod catalog;
pub(crate) mod context;
pub(crate) mod default_clocks;
pub(crate) mod distribution;
pub(crate) mod error;
pub(crate) mod measured_clock;
pub(crate) mod missing_clock;
pub(crate) mod pair;
pub(crate) mod record;
pub(crate) mod sampler;
pub(crate) mod session;
pub(crate) mod stall_limit;
pub(crate) mod step;
pub(crate) mod tick_record;
pub(crate) mod timer;
