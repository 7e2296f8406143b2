//! Recorded documents in every format.

mod exposition;
mod figures;
mod formats;
mod pages;
mod prometheus;
mod support;
mod versions;
mod views;
