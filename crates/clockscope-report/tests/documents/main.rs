//! Recorded documents in every format.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test may panic")]

mod damage;
mod exposition;
mod figures;
mod formats;
mod pages;
mod prometheus;
mod schema;
mod support;
mod views;
