//! Metrics of records.
