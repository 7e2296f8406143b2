//! The package for Debian and its derivatives: the static program, its manual, completions, units
//! and alerts.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::archive;
use super::origin::Origin;
use crate::run;

/// Files of the archive's folder, and where they belong.
const FILES: [(&str, &str, u32); 13] = [
    ("clockscope", "usr/bin/clockscope", archive::PROGRAM),
    ("man/clockscope.1", "usr/share/man/man1/clockscope.1", archive::TEXT),
    ("completions/clockscope.bash", "usr/share/bash-completion/completions/clockscope", archive::TEXT),
    ("completions/_clockscope", "usr/share/zsh/vendor-completions/_clockscope", archive::TEXT),
    ("completions/clockscope.fish", "usr/share/fish/vendor_completions.d/clockscope.fish", archive::TEXT),
    ("systemd/clockscope-records.service", "usr/lib/systemd/system/clockscope-records.service", archive::TEXT),
    ("systemd/clockscope-records.timer", "usr/lib/systemd/system/clockscope-records.timer", archive::TEXT),
    ("systemd/clockscope-records.tmpfiles", "usr/lib/tmpfiles.d/clockscope.conf", archive::TEXT),
    ("systemd/clockscope-textfile.service", "usr/lib/systemd/system/clockscope-textfile.service", archive::TEXT),
    ("systemd/clockscope-textfile.timer", "usr/lib/systemd/system/clockscope-textfile.timer", archive::TEXT),
    ("prometheus/clockscope.rules.yml", "usr/share/doc/clockscope/examples/clockscope.rules.yml", archive::TEXT),
    ("README.md", "usr/share/doc/clockscope/README.md", archive::TEXT),
    ("CHANGELOG.md", "usr/share/doc/clockscope/changelog", archive::TEXT),
];

/// Files that Debian has compressed.
const COMPRESSED: [&str; 3] = [
    "usr/share/man/man1/clockscope.1",
    "usr/share/doc/clockscope/changelog",
    "usr/share/doc/clockscope/changelog.Debian",
];

/// Folder of what the package has of its own.
const OWN: &str = "packaging/debian";
/// Scripts that dpkg runs.
const SCRIPTS: [&str; 3] = ["postinst", "prerm", "postrm"];

/// Variable with the maintainer's name and address, as `NAME <ADDRESS>`.
const MAINTAINER: &str = "CLOCKSCOPE_MAINTAINER";
/// Stands in the packages of those who state none, and what Debian's checks would refuse of it.
const LOCAL_BUILD: &str = "local build <root@localhost>";
const OVERRIDES_OF_LOCAL_BUILD: &str = "# Nobody has stated an address.\n\
    clockscope: bogus-mail-host Maintainer root@localhost\n\
    clockscope: bogus-mail-host-in-debian-changelog *\n\
    clockscope: root-in-contact Maintainer *\n";

/// Makes the package of an archive's folder; returns its name.
pub(super) fn package(out: &Path, folder: &Path, architecture: &str, origin: &Origin) -> Result<String> {
    let root = out.join("debian");
    for (from, to, mode) in FILES {
        let to = root.join(to);
        fs::create_dir_all(to.parent().unwrap_or(&root))?;
        archive::copy(&folder.join(from), &to, mode)?;
    }
    let maintainer = maintainer()?;
    archive::write(
        &root.join("usr/share/doc/clockscope/changelog.Debian"),
        &changelog(&origin.debian_version(), &maintainer, &origin.date()?),
    )?;
    fs::create_dir_all(root.join("usr/share/lintian/overrides"))?;
    let of_local_build = if maintainer == LOCAL_BUILD { OVERRIDES_OF_LOCAL_BUILD } else { "" };
    let overrides = run::root().join(OWN).join("lintian-overrides");
    let overrides = fs::read_to_string(&overrides).with_context(|| format!("cannot read {}", overrides.display()))?;
    archive::write(&root.join("usr/share/lintian/overrides/clockscope"), &format!("{overrides}{of_local_build}"))?;
    for file in COMPRESSED {
        archive::gzip(&root.join(file))?;
    }
    let license = fs::read_to_string(folder.join("LICENSE-MIT")).context("cannot read LICENSE-MIT")?;
    archive::write(&root.join("usr/share/doc/clockscope/copyright"), &copyright(&license))?;
    fs::create_dir_all(root.join("DEBIAN"))?;
    for script in SCRIPTS {
        archive::copy(&run::root().join(OWN).join(script), &root.join("DEBIAN").join(script), archive::PROGRAM)?;
    }
    archive::write(&root.join("DEBIAN/control"), &control(&origin.debian_version(), architecture, &maintainer))?;
    let name = format!("clockscope_{}-1_{architecture}.deb", origin.debian_version());
    let (from, to) = (root.to_string_lossy().into_owned(), out.join(&name).to_string_lossy().into_owned());
    // It takes the time of all files from the variable, and xz of one thread gives the same bytes.
    let arguments = ["--build", "--root-owner-group", "-Zxz", "--threads-max=1", &from, &to];
    run::output_with(&[("SOURCE_DATE_EPOCH", origin.epoch.as_str())], "dpkg-deb", &arguments)?;
    fs::remove_dir_all(&root)?;
    Ok(name)
}

/// Returns the maintainer that the variable states, or a local build.
pub(super) fn maintainer() -> Result<String> {
    let stated = std::env::var(MAINTAINER).unwrap_or_default();
    if stated.is_empty() {
        return Ok(LOCAL_BUILD.to_owned());
    }
    ensure!(is_maintainer(&stated), "{MAINTAINER} is {stated:?}: expected NAME <ADDRESS>");
    Ok(stated)
}

/// Returns true for `NAME <ADDRESS>` on one line.
fn is_maintainer(stated: &str) -> bool {
    let parts = stated.strip_suffix('>').and_then(|stated| stated.split_once(" <"));
    let is_plain = |text: &str| !text.trim().is_empty() && !text.contains(['<', '>', '\n']);
    parts.is_some_and(|(name, address)| is_plain(name) && is_plain(address) && address.contains('@'))
}

fn control(version: &str, architecture: &str, maintainer: &str) -> String {
    format!(
        "Package: clockscope\n\
         Version: {version}-1\n\
         Architecture: {architecture}\n\
         Maintainer: {maintainer}\n\
         Section: utils\n\
         Priority: optional\n\
         Homepage: https://github.com/clockscope/clockscope\n\
         Description: measures clocks and reports which ones can be trusted\n \
         clockscope measures every clock of a machine: the cost of a read, the\n \
         resolution, and errors such as jumps and backward steps. It reports which\n \
         clocks can be trusted, with the evidence for and against each.\n"
    )
}

/// Returns Debian's list of changes of the package: there is one.
fn changelog(version: &str, maintainer: &str, date: &str) -> String {
    format!(
        "clockscope ({version}-1) unstable; urgency=medium\n\n  \
         * {version}: changelog.gz has what is new.\n\n -- {maintainer}  {date}\n"
    )
}

/// Returns Debian's file about the licenses. Debian has the text of the Apache license itself.
fn copyright(mit: &str) -> String {
    let (notice, terms) = mit.split_once("\n\nPermission").unwrap_or(("", ""));
    let notice = notice.lines().find_map(|line| line.strip_prefix("Copyright ")).unwrap_or("the clockscope project");
    let terms = format!("Permission{terms}");
    let indented: Vec<String> = terms
        .trim_end()
        .lines()
        .map(|line| if line.is_empty() { " .".to_owned() } else { format!(" {line}") })
        .collect();
    format!(
        "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n\
         Upstream-Name: clockscope\n\
         Source: https://github.com/clockscope/clockscope\n\n\
         Files: *\n\
         Copyright: {notice}\n\
         License: Expat or Apache-2.0\n\n\
         License: Expat\n{}\n\n\
         License: Apache-2.0\n On Debian systems, the text is in /usr/share/common-licenses/Apache-2.0.\n",
        indented.join("\n")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copyright_file_has_the_notice_and_the_whole_license() {
        let license = fs::read_to_string(run::root().join("LICENSE-MIT")).unwrap();
        let text = copyright(&license);
        let notice = license.lines().find_map(|line| line.strip_prefix("Copyright ")).unwrap();
        assert!(text.contains(&format!("\nCopyright: {notice}\n")), "{text}");
        let last = license.trim_end().lines().last().unwrap();
        assert!(text.contains(&format!("\n {last}\n")), "{text}");
        // An empty line ends a paragraph.
        let firsts: Vec<&str> = text.split("\n\n").filter_map(|part| part.split(':').next()).collect();
        assert_eq!(firsts, ["Format", "Files", "License", "License"]);
    }

    #[test]
    fn a_maintainer_has_a_name_and_an_address() {
        assert!(is_maintainer("A B <a@b.example>") && is_maintainer(LOCAL_BUILD));
        for wrong in ["", "A B", "<a@b.example>", "A <a>", "A <a@b>x", "A\nB <a@b>", "A <a@b"] {
            assert!(!is_maintainer(wrong), "{wrong}");
        }
    }

    #[test]
    fn two_packages_of_the_same_files_are_equal() {
        let origin = Origin {
            version: "0.1.0".to_owned(),
            commit: "c0ffee".to_owned(),
            epoch: "1000000000".to_owned(),
            time: "2001-09-09T01:46:40Z".to_owned(),
        };
        let packed = || {
            let out = tempfile::tempdir().unwrap();
            let folder = out.path().join("staged");
            for (file, ..) in FILES {
                fs::create_dir_all(folder.join(file).parent().unwrap()).unwrap();
                fs::write(folder.join(file), file).unwrap();
            }
            fs::copy(run::root().join("LICENSE-MIT"), folder.join("LICENSE-MIT")).unwrap();
            let name = package(out.path(), &folder, "amd64", &origin).unwrap();
            let path = out.path().join(&name).to_string_lossy().into_owned();
            let fields = run::output("dpkg-deb", &["--field", &path, "Package", "Version", "Architecture"]).unwrap();
            assert_eq!(fields, "Package: clockscope\nVersion: 0.1.0-1\nArchitecture: amd64\n");
            let listed = run::output_with(&[("TZ", "UTC")], "dpkg-deb", &["--contents", &path]).unwrap();
            let program = listed.lines().find(|line| line.ends_with(" 2001-09-09 01:46 ./usr/bin/clockscope"));
            assert!(program.is_some_and(|line| line.starts_with("-rwxr-xr-x root/root ")), "{listed}");
            fs::read(path).unwrap()
        };
        assert!(packed() == packed(), "two packages of the same files differ");
    }
}
