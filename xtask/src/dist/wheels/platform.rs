//! Platforms of wheels: processors, C libraries, and the tags that an index accepts.

use anyhow::{Result, ensure};

/// C library of a platform.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Libc {
    Gnu,
    Musl,
}

/// A platform of a wheel.
#[derive(Debug)]
pub(super) struct Platform {
    pub(super) processor: &'static str,
    pub(super) libc: Libc,
    /// Machine of its ELF files, as readelf names it.
    machine: &'static str,
    /// Command that runs its programs; nothing where this machine does.
    pub(super) runner: Option<&'static str>,
    /// The root of its trials by pip's `--target`.
    pub(super) root: &'static str,
}

const X86_64: Platform = Platform {
    processor: "x86_64",
    libc: Libc::Gnu,
    machine: "Advanced Micro Devices X86-64",
    runner: None,
    root: "target folder",
};

const AARCH64: Platform = Platform {
    processor: "aarch64",
    libc: Libc::Gnu,
    machine: "AArch64",
    runner: Some("qemu-aarch64"),
    root: "target folder, emulated",
};

pub(super) const PLATFORMS: [Platform; 4] =
    [X86_64, Platform { libc: Libc::Musl, ..X86_64 }, AARCH64, Platform { libc: Libc::Musl, ..AARCH64 }];

impl Platform {
    /// Target of the extension module.
    pub(super) fn module_target(&self) -> String {
        let libc = match self.libc {
            Libc::Gnu => "gnu",
            Libc::Musl => "musl",
        };
        format!("{}-unknown-linux-{libc}", self.processor)
    }

    /// Target of the command, which is static and so has none but this.
    pub(super) fn command_target(&self) -> String {
        format!("{}-unknown-linux-musl", self.processor)
    }

    /// The oldest C library, as maturin and pip name it: a baseline of PEP 600 or PEP 656.
    pub(super) fn baseline(&self) -> &'static str {
        match self.libc {
            // The oldest that Rust supports.
            Libc::Gnu => "manylinux2014",
            // Alpine 3.13 and later.
            Libc::Musl => "musllinux_1_2",
        }
    }

    /// Name of the wheel's file.
    pub(super) fn file(&self, version: &str) -> String {
        let processor = self.processor;
        let tags = match self.libc {
            Libc::Gnu => format!("manylinux2014_{processor}.manylinux_2_17_{processor}"),
            Libc::Musl => format!("musllinux_1_2_{processor}"),
        };
        format!("clockscope-{version}-cp310-abi3-{tags}.whl")
    }

    /// Fails unless a module is for this processor and needs the C library alone, by what
    /// `readelf --file-header --dynamic` printed.
    pub(super) fn judge(&self, printed: &str) -> Result<()> {
        let machine = printed.lines().find_map(|line| line.trim().strip_prefix("Machine:")).unwrap_or_default().trim();
        ensure!(machine == self.machine, "a module for {machine:?}, expected {}", self.machine);
        let needed = needed(printed);
        let foreign: Vec<&&str> = needed.iter().filter(|library| !self.is_own(library)).collect();
        ensure!(foreign.is_empty(), "a module that needs {foreign:?}, expected the C library alone");
        ensure!(!needed.is_empty(), "a module that needs no library, expected the C library");
        Ok(())
    }

    /// Returns true for libraries of the platform's C library.
    fn is_own(&self, library: &str) -> bool {
        match self.libc {
            Libc::Gnu => {
                ["libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1"].contains(&library)
                    || library.starts_with("ld-linux-")
            }
            // musl's loader takes the short name for itself, too.
            Libc::Musl => library == "libc.so" || library == format!("libc.musl-{}.so.1", self.processor),
        }
    }
}

/// The libraries that an ELF file needs.
fn needed(printed: &str) -> Vec<&str> {
    let libraries = printed.lines().filter(|line| line.contains("(NEEDED)"));
    libraries.filter_map(|line| Some(line.split_once('[')?.1.split_once(']')?.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODULE: &str = "  Class:                             ELF64\n\
        \x20 Machine:                           AArch64\n\
        \x20 0x0000000000000001 (NEEDED)             Shared library: [libc.so]\n\
        \x20 0x000000000000000e (SONAME)             Library soname: [libx.so]\n";

    #[test]
    fn files_bear_the_tags_of_an_index() {
        let files = PLATFORMS.map(|platform| platform.file("1.2.3"));
        assert_eq!(files[0], "clockscope-1.2.3-cp310-abi3-manylinux2014_x86_64.manylinux_2_17_x86_64.whl");
        assert_eq!(files[3], "clockscope-1.2.3-cp310-abi3-musllinux_1_2_aarch64.whl");
    }

    #[test]
    fn a_module_needs_its_c_library_and_nothing_else() {
        let [_, x86_musl, gnu, musl] = PLATFORMS;
        assert!(musl.judge(MODULE).is_ok());
        assert!(musl.judge(&MODULE.replace("libc.so", "libc.musl-aarch64.so.1")).is_ok());
        assert!(gnu.judge(&MODULE.replace("libc.so", "libc.so.6")).is_ok());
        let error = |platform: &Platform, printed: &str| platform.judge(printed).unwrap_err().to_string();
        assert_eq!(error(&x86_musl, MODULE), "a module for \"AArch64\", expected Advanced Micro Devices X86-64");
        assert_eq!(error(&gnu, MODULE), "a module that needs [\"libc.so\"], expected the C library alone");
        assert_eq!(
            error(&musl, &MODULE.replace("libc.so", "libgcc_s.so.1")),
            "a module that needs [\"libgcc_s.so.1\"], expected the C library alone"
        );
        assert_eq!(
            error(&musl, &MODULE.replace("NEEDED", "RPATH")),
            "a module that needs no library, expected the C library"
        );
    }
}
