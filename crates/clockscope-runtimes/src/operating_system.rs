//! The operating systems for which something is known of runtimes.

/// An operating system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum System {
    /// Linux and Android.
    Linux,
    Macos,
    Windows,
    /// Any other.
    Other,
}

impl System {
    /// This one.
    pub(crate) const HERE: Self = if cfg!(any(target_os = "linux", target_os = "android")) {
        Self::Linux
    } else if cfg!(target_os = "macos") {
        Self::Macos
    } else if cfg!(windows) {
        Self::Windows
    } else {
        Self::Other
    };
}
