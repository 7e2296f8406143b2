//! A Debian in a folder.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::super::folder_of;
use crate::{folder, run};

/// Name of the release.
const RELEASE: &str = "bookworm";

/// Packages beside the smallest system: a reader of manuals, systemd, and what takes the metrics.
const PACKAGES: &str = "--include=man-db,systemd,prometheus-node-exporter";

/// Folder of the units of packages.
pub(super) const UNITS: &str = "usr/lib/systemd/system";

/// Debian's own address.
const MIRROR: &str = "http://deb.debian.org/debian";

/// Kernel's file systems, which every machine has, in a namespace of mounts of their own.
const MOUNT: &str = "mount -t sysfs -o ro sysfs /sys && mount -t tmpfs tmpfs /run && exec \"$@\"";

/// A Debian of its own.
pub(super) struct System {
    root: PathBuf,
}

impl System {
    /// Copies the one that debootstrap made, or makes it.
    pub(super) fn fresh() -> Result<Self> {
        needs_root()?;
        let made = folder_of(RELEASE)?;
        if !made.exists() {
            make(&made)?;
        }
        let root = folder_of("debian")?;
        folder::remove(&root)?;
        let [from, to] = [&made, &root].map(|path| path.to_string_lossy());
        run::with(&[], "cp", &["--archive", "--reflink=auto", &from, &to])?;
        Ok(Self { root })
    }

    /// A file of it.
    pub(super) fn path(&self, name: &str) -> PathBuf {
        self.root.join(name.trim_start_matches('/'))
    }

    /// A command there, in the environment of a service.
    pub(super) fn command(&self, words: &[&str]) -> Command {
        let mut command = Command::new("unshare");
        command.args(["--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "--wd=/"]);
        command.arg(format!("--root={}", self.root.display()));
        command.args(["sh", "-c", MOUNT, "sh"]).args(words).env_clear();
        command.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        command.env("LANG", "C.UTF-8").env("DEBIAN_FRONTEND", "noninteractive");
        command
    }

    /// Lets packages of another architecture be installed, and puts the emulator there that runs
    /// their programs.
    pub(super) fn permit(&self, architecture: &str, emulator: &str) -> Result<()> {
        let status = self.command(&["dpkg", "--add-architecture", architecture]).status()?;
        ensure!(status.success(), "dpkg --add-architecture {architecture}: {status}");
        let found = run::output("sh", &["-c", "command -v \"$1\"", "sh", name_of(emulator)])?;
        fs::copy(found.trim(), self.path(emulator)).with_context(|| format!("cannot copy {emulator}")).map(drop)
    }

    /// Sorted paths of all files and folders, apart from caches.
    pub(super) fn paths(&self) -> Result<Vec<String>> {
        let root = self.root.to_string_lossy();
        let listed = run::output("find", &[&root, "-xdev", "-printf", "%P\\n"])?;
        // dpkg keeps former lists, and man-db the pages that were read.
        let is_packages = |path: &&str| !path.ends_with("-old") && !path.starts_with("var/cache/man/");
        let mut paths: Vec<String> = listed.lines().filter(is_packages).map(str::to_owned).collect();
        paths.sort_unstable();
        Ok(paths)
    }

    pub(super) fn remove(&self) -> Result<()> {
        folder::remove(&self.root)
    }
}

/// Fails for a user who cannot make a Debian.
pub(in crate::dist) fn needs_root() -> Result<()> {
    let user = run::output("id", &["--user"])?;
    ensure!(user.trim() == "0", "debootstrap makes a Debian for root alone: run it as root");
    Ok(())
}

fn name_of(program: &str) -> &str {
    program.rsplit_once('/').map_or(program, |(_, name)| name)
}

/// Makes it under another name first: one that was interrupted is not taken for a whole one.
fn make(root: &Path) -> Result<()> {
    let new = root.with_extension("new");
    folder::empty(&new)?;
    println!("   debootstrap of {RELEASE} to {}", root.display());
    let log = root.with_extension("log");
    let file = fs::File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut command = Command::new("debootstrap");
    command.args(["--variant=minbase", PACKAGES, RELEASE]).arg(&new).arg(mirror());
    let status = command.stdout(file.try_clone()?).stderr(file).status().context("cannot run debootstrap")?;
    ensure!(status.success(), "debootstrap: {status}: its output is kept in {}", log.display());
    fs::rename(&new, root).with_context(|| format!("cannot rename {}", new.display()))
}

/// The mirror from which this machine has its own packages, if it is of the same release.
fn mirror() -> String {
    let targets = ["indextargets", "--format", "$(REPO_URI)", &format!("Codename: {RELEASE}")];
    let found = run::output("apt-get", &targets).unwrap_or_default();
    found.lines().next().unwrap_or(MIRROR).trim_end_matches('/').to_owned()
}
