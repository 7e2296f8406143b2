//! Options that several commands have.

pub(crate) mod clocks;
mod output;

pub(crate) use clocks::{ClockArgs, PairArgs, RequestedTimer, TimerArgs, selected};
pub(crate) use output::{ColorArg, ColumnsArg, OutputArgs, formats_of};
