//! Systems whose clocks the catalog lists.

/// A system that has clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum System {
    /// Linux.
    Linux,
    /// Android, whose kernel is Linux.
    Android,
    /// Windows.
    Windows,
    /// macOS and Apple's other systems.
    MacOs,
    /// FreeBSD.
    FreeBsd,
    /// NetBSD.
    NetBsd,
    /// OpenBSD.
    OpenBsd,
    /// illumos and Solaris.
    Illumos,
    /// WASI preview 1.
    Wasi,
    /// Web browsers and Node.js.
    Browser,
}

use System::{Android, Browser, FreeBsd, Illumos, Linux, MacOs, NetBsd, OpenBsd, Wasi, Windows};

impl System {
    /// All of them.
    pub const ALL: [Self; 10] = [Linux, Android, Windows, MacOs, FreeBsd, NetBsd, OpenBsd, Illumos, Wasi, Browser];

    /// The one that this program is compiled for; `None` for one that is not listed.
    pub const HERE: Option<Self> = if cfg!(target_os = "linux") {
        Some(Linux)
    } else if cfg!(target_os = "android") {
        Some(Android)
    } else if cfg!(windows) {
        Some(Windows)
    } else if cfg!(target_vendor = "apple") {
        Some(MacOs)
    } else if cfg!(target_os = "freebsd") {
        Some(FreeBsd)
    } else if cfg!(target_os = "netbsd") {
        Some(NetBsd)
    } else if cfg!(target_os = "openbsd") {
        Some(OpenBsd)
    } else if cfg!(any(target_os = "illumos", target_os = "solaris")) {
        Some(Illumos)
    } else if cfg!(target_os = "wasi") {
        Some(Wasi)
    } else {
        None
    };

    /// Returns its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Linux => "Linux",
            Android => "Android",
            Windows => "Windows",
            MacOs => "macOS",
            FreeBsd => "FreeBSD",
            NetBsd => "NetBSD",
            OpenBsd => "OpenBSD",
            Illumos => "illumos",
            Wasi => "WASI",
            Browser => "browsers",
        }
    }
}
