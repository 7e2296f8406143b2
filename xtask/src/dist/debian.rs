//! The package for Debian and its derivatives: the static program, its manual, completions, units
//! and alerts.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use super::archive;
use super::origin::Origin;
use crate::{install, run};

/// Files of the archive's folder, and where they belong.
const FILES: [(&str, &str, u32); 12] = [
    ("clockscope", "usr/bin/clockscope", archive::PROGRAM),
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

/// The folder of the command's manual pages, which Debian has compressed.
const MANUAL: &str = "usr/share/man/man1";

/// Files that Debian has compressed.
const COMPRESSED: [&str; 2] = ["usr/share/doc/clockscope/changelog", "usr/share/doc/clockscope/changelog.Debian"];

/// Folder of the package's own files, the same for all targets.
const OWN: &str = "packaging/debian";
/// Its files with what `@NAME@` stands for, and where they belong. dpkg runs the programs.
const TEMPLATES: [(&str, &str, u32); 7] = [
    ("changelog", "usr/share/doc/clockscope/changelog.Debian", archive::TEXT),
    ("control", "DEBIAN/control", archive::TEXT),
    ("copyright", "usr/share/doc/clockscope/copyright", archive::TEXT),
    ("lintian-overrides", "usr/share/lintian/overrides/clockscope", archive::TEXT),
    ("postinst", "DEBIAN/postinst", archive::PROGRAM),
    ("postrm", "DEBIAN/postrm", archive::PROGRAM),
    ("prerm", "DEBIAN/prerm", archive::PROGRAM),
];

/// Variable with the maintainer's name and address, as `NAME <ADDRESS>`.
const MAINTAINER: &str = "CLOCKSCOPE_MAINTAINER";
/// Stands in the packages of those who state none. Its exceptions for lintian are in [`OWN`].
const LOCAL_BUILD: &str = "local build <root@localhost>";

/// Makes the package of an archive's folder; returns its name.
pub(super) fn package(out: &Path, folder: &Path, architecture: &str, origin: &Origin) -> Result<String> {
    let root = out.join("debian");
    for (from, to, mode) in FILES {
        archive::copy(&folder.join(from), &archive::in_folder(&root, to)?, mode)?;
    }
    let variables = [
        ("@VERSION@", origin.debian_version()),
        ("@ARCHITECTURE@", architecture.to_owned()),
        ("@MAINTAINER@", maintainer()?),
        ("@DATE@", origin.date()?),
    ];
    for (from, to, mode) in TEMPLATES {
        let text = install::filled(&run::root().join(OWN).join(from), &variables)?;
        archive::write(&archive::in_folder(&root, to)?, &text, mode)?;
    }
    for page in fs::read_dir(folder.join("man"))? {
        let page = page?;
        let packed = archive::in_folder(&root, &format!("{MANUAL}/{}", page.file_name().to_string_lossy()))?;
        archive::copy(&page.path(), &packed, archive::TEXT)?;
        archive::gzip(&packed)?;
    }
    for file in COMPRESSED {
        archive::gzip(&root.join(file))?;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_copyright_file_has_the_notice_and_the_whole_license() {
        let license = fs::read_to_string(run::root().join("LICENSE-MIT")).unwrap();
        let text = fs::read_to_string(run::root().join(OWN).join("copyright")).unwrap();
        let (notice, terms) = license.trim_end().split_once("\n\nPermission").unwrap();
        let notice = notice.lines().find_map(|line| line.strip_prefix("Copyright ")).unwrap();
        assert!(text.contains(&format!("\nCopyright: {notice}\n")), "{text}");
        // An empty line ends a paragraph.
        let terms = format!("Permission{terms}").replace("\n\n", "\n.\n").replace('\n', "\n ");
        assert!(text.contains(&format!("\nLicense: Expat\n {terms}\n\n")), "{text}");
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
            fs::create_dir(folder.join("man")).unwrap();
            fs::write(folder.join("man/clockscope-check.1"), "page").unwrap();
            let name = package(out.path(), &folder, "amd64", &origin).unwrap();
            let path = out.path().join(&name).to_string_lossy().into_owned();
            let fields = run::output("dpkg-deb", &["--field", &path, "Package", "Version", "Architecture"]).unwrap();
            assert_eq!(fields, "Package: clockscope\nVersion: 0.1.0-1\nArchitecture: amd64\n");
            let listed = run::output_with(&[("TZ", "UTC")], "dpkg-deb", &["--contents", &path]).unwrap();
            let program = listed.lines().find(|line| line.ends_with(" 2001-09-09 01:46 ./usr/bin/clockscope"));
            assert!(program.is_some_and(|line| line.starts_with("-rwxr-xr-x root/root ")), "{listed}");
            assert!(listed.contains("./usr/share/man/man1/clockscope-check.1.gz\n"), "{listed}");
            let control = run::output("dpkg-deb", &["--info", &path]).unwrap();
            assert!(control.contains("\n Maintainer: ") && !control.contains(" @"), "{control}");
            fs::read(path).unwrap()
        };
        assert!(packed() == packed(), "two packages of the same files differ");
    }
}
