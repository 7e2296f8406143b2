//! Emulated machines: packs their initial file systems, from what was fetched and built, and has
//! the tests of machines/programs boot them.

mod build;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use serde::Deserialize;

use crate::plan::NotInstalled;
use crate::tally::Tally;
use crate::{cross, folder, needs, run, structure};

/// Scripts of the machines, which run below the same folder there.
const GUEST: &str = "machines";

/// Machines for arm64.
const ARM: [&str; 2] = ["arm64", "census"];

/// Tests of machines that boot only if they are named: they take long, or need another program.
const UNUSUAL: [&str; 4] = ["booted::arm64", "booted::census", "booted::installed", "booted::monotone"];

/// A processor that is emulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Architecture {
    X86,
    Arm,
}

/// Output of a command in a machine, and its exit code.
#[derive(Deserialize)]
pub(crate) struct Frame {
    pub(crate) code: i32,
    pub(crate) text: String,
}

/// The outputs of a machine's commands by name; a command's standard error has its name with
/// `.stderr`.
pub(crate) type Frames = BTreeMap<String, Frame>;

/// Boots the usual machines for x86-64.
pub(crate) fn check(tally: &mut Tally) -> Result<()> {
    Architecture::X86.prepare()?;
    let skipped = UNUSUAL.iter().flat_map(|name| ["--skip", *name]);
    boot(tally, &[], &["booted::"].into_iter().chain(skipped).collect::<Vec<_>>())
}

/// Boots the machines of these names, or the usual ones for x86-64 if none is named.
pub(crate) fn measure(names: &[String]) -> Result<()> {
    let mut tally = Tally::default();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let checked = if names.is_empty() { check(&mut tally) } else { check_named(&mut tally, &names) };
    tally.print();
    checked
}

/// Boots the machines of these names.
pub(crate) fn check_named(tally: &mut Tally, names: &[&str]) -> Result<()> {
    for name in names {
        ensure!(
            Path::new(&format!("{GUEST}/{name}.sh")).exists(),
            "there is no machine {name}: see machines/README.md"
        );
    }
    for architecture in [Architecture::X86, Architecture::Arm] {
        if names.iter().any(|name| ARM.contains(name) == (architecture == Architecture::Arm)) {
            architecture.prepare()?;
        }
    }
    let tests: Vec<String> = names.iter().map(|name| format!("booted::{}", name.replace('-', "_"))).collect();
    let tests = tests.iter().map(String::as_str);
    boot(tally, &[], &["--exact"].into_iter().chain(tests).collect::<Vec<_>>())
}

/// Boots a machine that holds busybox and this program, as `clockscope`, and runs the script
/// `installed` there. Returns the outputs of its commands. The initial file system and the console
/// are kept in `folder`.
pub(crate) fn run_installed(architecture: &str, program: &Path, folder: &Path) -> Result<Frames> {
    let processor = Architecture::named(architecture);
    processor.pack(folder, &[("clockscope", program.to_owned())])?;
    let kernel = folder.join(architecture).join("kernel");
    symlink(std::path::absolute(processor.fetched("kernel"))?, &kernel)
        .with_context(|| format!("cannot link {}", kernel.display()))?;
    let images = absolute(folder)?;
    let variables = [("CLOCKSCOPE_ARCHITECTURE", architecture), (IMAGES, &images)];
    boot(&mut Tally::default(), &variables, &["--exact", "booted::installed"])?;
    Ok(serde_json::from_slice(&fs::read(folder.join("frames.json"))?)?)
}

/// Fails if something is missing to run a program by [`run_installed`].
pub(crate) fn require_to_install(architecture: &str) -> Result<()> {
    Architecture::named(architecture).require()
}

/// The variable that names the folder of kernels, initial file systems and consoles.
const IMAGES: &str = "CLOCKSCOPE_IMAGES";

/// Runs the tests that these arguments choose: two machines of one CPU at a time.
fn boot(tally: &mut Tally, variables: &[(&str, &str)], chosen: &[&str]) -> Result<()> {
    let images = absolute(&folder())?;
    let usual = [(IMAGES, images.as_str())];
    let arguments = ["--package", "clockscope-emulated", "--test", "machines", "--", "--ignored", "--nocapture"];
    let arguments = [&arguments[..], &["--test-threads", "2"], chosen].concat();
    let before = tally.run_count();
    tally.cargo_test(&[&usual[..], variables].concat(), &arguments)?;
    ensure!(tally.run_count() > before, "no test is called {}: see machines/README.md", chosen.join(" "));
    Ok(())
}

fn absolute(folder: &Path) -> Result<String> {
    Ok(std::path::absolute(folder)?.to_string_lossy().into_owned())
}

/// Folder to which kernels are fetched, and in which consoles are kept.
fn folder() -> PathBuf {
    PathBuf::from(run::built("machines"))
}

impl Architecture {
    fn named(name: &str) -> Self {
        if name == "arm64" { Self::Arm } else { Self::X86 }
    }

    /// Debian's name of it.
    const fn name(self) -> &'static str {
        match self {
            Self::X86 => "amd64",
            Self::Arm => "arm64",
        }
    }

    /// A file that `machines/fetch.sh` gets.
    fn fetched(self, file: &str) -> PathBuf {
        folder().join(self.name()).join(file)
    }

    /// Fails if something is missing to pack and to boot its machines.
    fn require(self) -> Result<()> {
        let programs = match self {
            Self::X86 => "cpio qemu-system-x86_64",
            Self::Arm => "cpio qemu-system-aarch64",
        };
        needs::require("emulated machines", programs)?;
        if !self.fetched("kernel").exists() {
            let (folder, name) = (folder(), self.name());
            bail!(NotInstalled(format!("emulated machines need machines/fetch.sh {} {name}", folder.display())));
        }
        Ok(())
    }

    /// Builds the programs and packs them.
    fn prepare(self) -> Result<()> {
        if self == Self::Arm {
            cross::require()?;
        }
        self.require()?;
        self.pack(&folder(), &build::programs(self)?)
    }

    /// Packs an initial file system with these programs below a folder.
    fn pack(self, folder: &Path, programs: &[(&str, PathBuf)]) -> Result<()> {
        let root = folder.join(self.name()).join("root");
        folder::remove(&root)?;
        for folder in ["bin", "dev", "machines", "proc", "run", "sys", "tmp"] {
            fs::create_dir_all(root.join(folder))?;
        }
        copy(&self.fetched("busybox"), &root.join("bin/busybox"))?;
        // The kernel starts /init before anything else is there.
        symlink("busybox", root.join("bin/sh"))?;
        for (name, program) in programs {
            copy(program, &root.join("bin").join(name))?;
        }
        copy(&Path::new(GUEST).join("init.sh"), &root.join("init"))?;
        for script in structure::names_in(GUEST, ".sh")? {
            let script = format!("{GUEST}/{script}.sh");
            copy(Path::new(&script), &root.join(&script))?;
        }
        // The same bytes on every computer: the machine whose time is the number of instructions
        // unpacks them.
        let script = "cd \"$1\" && find . -exec touch --no-dereference --date=@1767225600 {} + && find . | LC_ALL=C sort | \
                      cpio --quiet --create --reproducible --format newc --owner 0:0 >../initrd";
        run::with(&[], "sh", &["-c", script, "sh", &root.to_string_lossy()])
    }
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to).map(drop).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))
}
