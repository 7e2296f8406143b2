//! *Sleep*.
