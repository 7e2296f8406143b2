//! An empty root: the program of an archive, and nothing else. There is no /proc, no /sys, no /dev,
//! no library and no environment.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::super::archive::file_name;
use super::super::trial::{self, Place, QUESTIONS, Trial};
use super::artifact::{Archive, unpack};
use super::empty_folder;
use crate::{folder, needs, run};

const ROOT: &str = "an empty root";

pub(in crate::dist) const NEEDS: &str = "unshare tar";

/// Unpacks an archive for Linux into an empty folder, which becomes the program's root.
pub(in crate::dist) fn check(archive: &Path, trials: &mut Vec<Trial>) -> Result<()> {
    needs::require("trials in an empty root", NEEDS)?;
    let name = file_name(archive)?;
    let place = Place { artifact: name, root: ROOT };
    let root = empty_folder("empty")?;
    unpack(archive, &root)?;
    let command = |arguments: &[&str]| command(&root, arguments);
    let printed = place.run(&mut command(&["--version", "--verbose"]), "/clockscope --version --verbose", trials)?;
    Archive::from_name(name)?.check_version(&printed)?;
    place.ask("/clockscope", command, trials)?;

    let page = [QUESTIONS[2], &["-o", "/page.html"]].concat();
    let words = format!("/clockscope {}", page.join(" "));
    place.run(&mut command(&page), &words, trials)?;
    let written = fs::read_to_string(root.join("page.html")).with_context(|| place.named(&words))?;
    trial::judge(&page, &written).with_context(|| place.named(&words))?;

    let printed = place.run(&mut command(&["info", "--json"]), "/clockscope info --json", trials)?;
    reports_unknowns(&printed).with_context(|| place.named("/clockscope info --json"))?;
    folder::remove(&root)
}

/// The command in that root, in an empty environment. A user may make a root of a folder in a
/// namespace of its own, where the machine permits that; otherwise root may.
fn command(root: &Path, arguments: &[&str]) -> Command {
    let namespace: &[&str] = &["--user", "--map-root-user"];
    let permitted = run::output("unshare", &[namespace, &["true"]].concat()).is_ok();
    let mut command = Command::new("unshare");
    command.args(if permitted { namespace } else { &[] });
    command.arg(format!("--root={}", root.display())).args(["--wd=/", "/clockscope"]).args(arguments).env_clear();
    command
}

/// Fails unless every unknown fact about the machine has a reason. Two facts are in /sys alone.
fn reports_unknowns(printed: &str) -> Result<()> {
    let info: Value = serde_json::from_str(printed).context("info prints no JSON")?;
    let environment = &info["environment"];
    let mut unknown = Vec::new();
    nulls(environment, "", &mut unknown);
    for name in ["clocksource", "governor"] {
        let reason = environment["unknown"][name]["text"].as_str().unwrap_or("missing");
        ensure!(reason.starts_with("/sys/"), "{name} is {}, and the reason is {reason}", environment[name]);
    }
    let without = unknown.iter().filter(|name| environment["unknown"][name.as_str()]["text"].is_null());
    let without: Vec<&str> = without.map(String::as_str).collect();
    ensure!(without.is_empty(), "no reason is given for {}", without.join(", "));
    Ok(())
}

/// Collects the names of what is null, with those of the objects around them: `cpu.online`.
fn nulls(value: &Value, prefix: &str, found: &mut Vec<String>) {
    for (name, value) in value.as_object().into_iter().flatten() {
        let name = format!("{prefix}{name}");
        nulls(value, &format!("{name}."), found);
        if value.is_null() {
            found.push(name);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_fact_needs_a_reason() {
        let sound = r#"{ "environment": { "clocksource": null, "cpu": { "online": null }, "governor": null, "unknown": {
            "clocksource": { "text": "/sys/a" }, "cpu.online": { "text": "b" }, "governor": { "text": "/sys/c" } } } }"#;
        assert!(reports_unknowns(sound).is_ok());
        let error = reports_unknowns(&sound.replace("cpu.online", "cpu.model")).unwrap_err().to_string();
        assert_eq!(error, "no reason is given for cpu.online");
        let error = reports_unknowns(&sound.replace("/sys/c", "no cpufreq")).unwrap_err().to_string();
        assert_eq!(error, "governor is null, and the reason is no cpufreq");
    }
}
