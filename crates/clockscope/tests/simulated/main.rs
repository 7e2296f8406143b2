//! The library's clock in simulated worlds: everything that counters, OS clocks and other threads can
//! do to it.

mod bounded;
mod daemons;
mod holders;
mod os_clock;
mod places;
mod scripts;
mod wall;
mod world;
mod worlds;
