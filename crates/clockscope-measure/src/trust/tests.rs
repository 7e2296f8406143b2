//! Verdicts on records.
