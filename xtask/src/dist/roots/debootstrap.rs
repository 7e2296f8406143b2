//! A fresh Debian, made by debootstrap: the .deb is installed, used and purged there.

mod records;
mod system;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail, ensure};

use super::super::archive::file_name;
use super::super::trial::{Place, Trial};
use crate::needs;
pub(in crate::dist) use system::needs_root;
use system::{System, UNITS};

const ROOT: &str = "a fresh Debian 12";

/// The processor's programs run there by qemu-user, which is put into the root.
const ROOT_OF_OTHERS: &str = "a fresh Debian 12, the program by qemu-aarch64";

pub(in crate::dist) const NEEDS: &str = "debootstrap lintian unshare dpkg-deb";

/// For packages of arm64.
pub(in crate::dist) const NEEDS_OF_OTHERS: &str = "qemu-aarch64-static";

/// The largest exposure, in tenths.
const EXPOSURE: &str = "--threshold=30";

/// Installs a package for Debian in a fresh one, uses all that it holds, and purges it.
pub(in crate::dist) fn check(package: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    needs::require("trials in a fresh Debian", NEEDS)?;
    let name = file_name(package)?;
    let is_foreign = is_foreign(name)?;
    if is_foreign {
        needs::require("trials of packages for arm64", NEEDS_OF_OTHERS)?;
    }
    let place = Place { artifact: name, root: if is_foreign { ROOT_OF_OTHERS } else { ROOT } };
    lint(name, package, trials)?;
    let system = System::fresh()?;
    if is_foreign {
        system.permit("arm64", "/usr/bin/qemu-aarch64-static")?;
    }
    let copy = system.path(name);
    fs::copy(package, &copy).with_context(|| format!("cannot copy {name}"))?;
    let before = system.paths()?;

    let install = ["dpkg", "--install", &format!("/{name}")];
    place.run(&mut system.command(&install), &format!("dpkg --install {name}"), trials)?;
    let emulator: &[&str] = if is_foreign { &["/usr/bin/qemu-aarch64-static"] } else { &[] };
    let program = [emulator, &["/usr/bin/clockscope"]].concat();
    place.ask("clockscope", |question| system.command(&[&program[..], question].concat()), trials)?;
    let man = ["man", "--pager=cat", "clockscope"];
    let manual = place.run(&mut system.command(&man), "man clockscope", trials)?;
    ensure!(manual.contains("\nSYNOPSIS\n"), "man clockscope shows no manual: {manual}");

    let service = Service::read(&system)?;
    for name in ["clockscope-textfile", "clockscope-records"] {
        let [unit, timer] = ["service", "timer"].map(|ending| format!("{name}.{ending}"));
        verify(&place, &system, &["verify", &unit, &timer], trials)?;
        for words in
            [&["systemd-analyze", "security", "--offline=true", EXPOSURE, &unit][..], &["systemctl", "enable", &timer]]
        {
            place.run(&mut system.command(words), &words.join(" "), trials)?;
        }
    }
    let line: Vec<&str> = service.line.split_whitespace().collect();
    place.run(&mut system.command(&[emulator, &line[..]].concat()), &service.line, trials)?;
    service.check_output(&system)?;
    records::check(&place, &system, emulator, trials)?;

    let purge = ["dpkg", "--purge", "clockscope"];
    place.run(&mut system.command(&purge), &purge.join(" "), trials)?;
    leaves_nothing(&before, &system.paths()?).with_context(|| place.named("dpkg --purge clockscope"))?;
    system.remove()
}

/// Returns true if a package is for arm64, by its name, and false if it is for this machine.
fn is_foreign(name: &str) -> Result<bool> {
    match name.strip_suffix(".deb").and_then(|stem| stem.rsplit_once('_')) {
        Some((_, "amd64")) => Ok(false),
        Some((_, "arm64")) => Ok(true),
        _ => bail!("{name} names no architecture: expected clockscope_VERSION_amd64.deb or _arm64.deb"),
    }
}

/// Has Debian's own check of packages find no error.
fn lint(name: &str, package: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    let place = Place { artifact: name, root: "this machine" };
    let mut command = std::process::Command::new("lintian");
    command.args(["--allow-root", "--fail-on", "error"]).arg(package);
    place.run(&mut command, &format!("lintian --fail-on error {name}"), trials).map(drop)
}

/// Has systemd find nothing to say about units; it warns and succeeds.
fn verify(place: &Place, system: &System, arguments: &[&str], trials: &mut Vec<Trial>) -> Result<()> {
    let words = format!("systemd-analyze {}", arguments.join(" "));
    let script = ["sh", "-c", "systemd-analyze \"$@\" 2>&1", "sh"];
    let printed = place.run(&mut system.command(&[&script[..], arguments].concat()), &words, trials)?;
    ensure!(printed.is_empty(), "{}: {printed}", place.named(&words));
    Ok(())
}

/// The service of a package, as it is installed.
struct Service {
    /// Command of the service.
    line: String,
    /// Folder without which systemd does not start it.
    folder: String,
}

impl Service {
    fn read(system: &System) -> Result<Self> {
        let file = format!("{UNITS}/clockscope-textfile.service");
        let text = fs::read_to_string(system.path(&file)).with_context(|| format!("the package lacks {file}"))?;
        Self::parse(&text)
    }

    fn parse(text: &str) -> Result<Self> {
        let value = |key: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(key)?.strip_prefix('='));
            let value = lines.next().filter(|_| lines.next().is_none());
            value.map(str::to_owned).with_context(|| format!("the service does not have one {key}"))
        };
        Ok(Self { line: value("ExecStart")?, folder: value("ConditionPathIsDirectory")? })
    }

    /// Fails unless the command wrote metrics into the folder of the condition.
    fn check_output(&self, system: &System) -> Result<()> {
        let file = format!("{}/clockscope.prom", self.folder);
        let metrics =
            fs::read_to_string(system.path(&file)).with_context(|| format!("{} wrote no {file}", self.line))?;
        ensure!(
            metrics.contains("\nclockscope_last_success_timestamp_seconds "),
            "{file} has no time of success: {metrics}"
        );
        Ok(())
    }
}

/// Fails if files came or went.
fn leaves_nothing(before: &[String], after: &[String]) -> Result<()> {
    let only = |these: &[String], others: &[String]| -> Vec<String> {
        these.iter().filter(|path| others.binary_search(path).is_err()).cloned().collect()
    };
    let (left, gone) = (only(after, before), only(before, after));
    ensure!(left.is_empty(), "it left {}", left.join(" "));
    ensure!(gone.is_empty(), "it removed {}", gone.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    #[test]
    fn a_package_without_an_architecture_is_refused() {
        assert!(!is_foreign("clockscope_0.1.0-1_amd64.deb").unwrap());
        assert!(is_foreign("clockscope_0.1.0-1_arm64.deb").unwrap());
        assert!(is_foreign("clockscope_0.1.0-1_all.deb").is_err());
        assert!(is_foreign("clockscope.deb").is_err());
    }

    #[test]
    fn the_service_is_read_as_systemd_reads_it() {
        let unit = run::root().join("packaging/systemd/clockscope-textfile.service");
        let text = fs::read_to_string(unit).unwrap();
        let service = Service::parse(&text).unwrap();
        assert!(service.line.starts_with("/usr/bin/clockscope check "), "{}", service.line);
        assert!(service.line.ends_with(&format!(" {}/clockscope.prom", service.folder)), "{}", service.line);
        assert!(Service::parse("[Service]\nExecStart=a\n").is_err());
        assert!(Service::parse(&format!("{text}ExecStart=b\n")).is_err());
    }

    #[test]
    fn a_file_that_stays_or_goes_is_found() {
        let paths = |names: [&str; 2]| names.map(str::to_owned);
        assert!(leaves_nothing(&paths(["a", "b"]), &paths(["a", "b"])).is_ok());
        let error = leaves_nothing(&paths(["a", "b"]), &paths(["b", "c"])).unwrap_err().to_string();
        assert_eq!(error, "it left c");
        let error = leaves_nothing(&paths(["a", "b"]), &paths(["a", "a"])).unwrap_err().to_string();
        assert_eq!(error, "it removed b");
    }
}
