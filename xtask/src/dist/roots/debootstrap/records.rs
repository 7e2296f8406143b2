//! The service that keeps records, and the age at which they go.

use std::fs;
use std::time::{Duration, SystemTime};

use anyhow::{Context, Result, ensure};

use super::super::super::trial::{Place, Trial};
use super::system::{System, UNITS};

/// Folder that systemd makes for the service.
const FOLDER: &str = "/var/lib/clockscope/records";

/// The number of a start, by systemd.
const START: &str = "0d3c8ee08a4f4b6d9f2f3d0f0f9f4c12";

/// Runs the service's command as systemd does, and lets systemd remove an old record. The new one
/// stays for the purge.
pub(super) fn check(place: &Place, system: &System, emulator: &[&str], trials: &mut Vec<Trial>) -> Result<()> {
    let file = format!("{UNITS}/clockscope-records.service");
    let service = fs::read_to_string(system.path(&file)).with_context(|| format!("the package lacks {file}"))?;
    let line = command(&service)?;
    let records = system.path(FOLDER);
    fs::create_dir_all(&records).with_context(|| format!("cannot make {FOLDER}"))?;
    let emulated = [emulator, &["/usr/bin/clockscope "]].concat().join(" ");
    let line_here = line.replace("/usr/bin/clockscope ", &emulated);
    let variables = [format!("STATE_DIRECTORY={FOLDER}"), format!("INVOCATION_ID={START}")];
    let start = ["env", &variables[0], &variables[1], "/bin/sh", "-c", &line_here];
    place.run(&mut system.command(&start), &line, trials)?;
    let made = names(system)?;
    ensure!(
        matches!(&made[..], [name] if name.ends_with(&format!("Z-{START}.ndjson"))),
        "{line}: expected one record, found {made:?}"
    );
    let old = fs::File::create(records.join("old")).with_context(|| format!("cannot write to {FOLDER}"))?;
    old.set_modified(SystemTime::now() - Duration::from_secs(15 * 86_400))?;
    let clean = ["systemd-tmpfiles", "--clean", "clockscope.conf"];
    place.run(&mut system.command(&clean), &clean.join(" "), trials)?;
    let left = names(system)?;
    ensure!(left == made, "{}: expected {made:?}, found {left:?}", clean.join(" "));
    Ok(())
}

/// Names of the records.
fn names(system: &System) -> Result<Vec<String>> {
    let entries = fs::read_dir(system.path(FOLDER)).with_context(|| format!("cannot read {FOLDER}"))?;
    let names: std::io::Result<Vec<String>> =
        entries.map(|entry| Ok(entry?.file_name().to_string_lossy().into_owned())).collect();
    Ok(names?)
}

/// The service's command, as systemd hands it to the shell.
fn command(service: &str) -> Result<String> {
    let mut lines = service.lines().filter_map(|line| line.strip_prefix("ExecStart=/bin/sh -c '")?.strip_suffix('\''));
    let line = lines.next().filter(|_| lines.next().is_none());
    Ok(line.context("the service of records does not have one command of a shell")?.replace("%%", "%"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run;

    #[test]
    fn the_command_is_read_as_systemd_reads_it() {
        let text = fs::read_to_string(run::root().join("packaging/systemd/clockscope-records.service")).unwrap();
        let line = command(&text).unwrap();
        assert!(line.starts_with("exec /usr/bin/clockscope check ") && line.contains("date -u +%Y%m%dT"), "{line}");
        let folder = FOLDER.strip_prefix("/var/lib/").unwrap();
        assert!(text.contains(&format!("\nStateDirectory={folder}\n")));
        assert!(command("[Service]\nExecStart=a\n").is_err());
    }
}
