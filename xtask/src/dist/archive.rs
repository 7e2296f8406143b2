//! Archives whose bytes depend on nothing but what they hold and the commit's time.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, UNIX_EPOCH};

use anyhow::{Context, Result, ensure};

use super::origin::Origin;
use crate::{folder, run};

/// Mode of a program, and of folders.
pub(super) const PROGRAM: u32 = 0o755;
/// Mode of all other files.
pub(super) const TEXT: u32 = 0o644;

/// Name of an artifact's file.
pub(super) fn file_name(artifact: &Path) -> Result<&str> {
    let name = artifact.file_name().and_then(|name| name.to_str());
    name.with_context(|| format!("{} has no name", artifact.display()))
}

/// Copies a file, with this mode.
pub(super) fn copy(from: &Path, to: &Path, mode: u32) -> Result<()> {
    fs::copy(from, to).with_context(|| format!("cannot copy {} to {}", from.display(), to.display()))?;
    fs::set_permissions(to, Permissions::from_mode(mode)).with_context(|| format!("cannot set {}", to.display()))
}

/// Writes a text, with this mode.
pub(super) fn write(to: &Path, text: &str, mode: u32) -> Result<()> {
    fs::write(to, text).with_context(|| format!("cannot write {}", to.display()))?;
    fs::set_permissions(to, Permissions::from_mode(mode)).with_context(|| format!("cannot set {}", to.display()))
}

/// Returns the path of a file below a root, whose folder it makes.
pub(super) fn in_folder(root: &Path, file: &str) -> Result<PathBuf> {
    let path = root.join(file);
    fs::create_dir_all(path.parent().unwrap_or(root))?;
    Ok(path)
}

/// Packs a folder of `out` into NAME.tar.gz beside it; returns the archive's name.
pub(super) fn tar(out: &Path, name: &str, origin: &Origin) -> Result<String> {
    let archive = format!("{name}.tar.gz");
    let (tar, folder) = (format!("{name}.tar"), out.to_string_lossy().into_owned());
    let time = format!("--mtime=@{}", origin.epoch);
    // Folders have the mode that this process's mask gives them, but for this.
    let same = ["--sort=name", "--format=ustar", "--owner=0", "--group=0", "--numeric-owner", "--mode=go-w,u+w,a+rX"];
    let path = out.join(&tar).to_string_lossy().into_owned();
    let files = [time.as_str(), "--create", "--file", &path, "--directory", &folder, name];
    run::with(&[], "tar", &[&same[..], &files].concat())?;
    gzip(&out.join(&tar))?;
    Ok(archive)
}

/// Packs a folder of `out` into NAME.zip beside it; returns the archive's name.
pub(super) fn zip(out: &Path, name: &str, origin: &Origin) -> Result<String> {
    let archive = format!("{name}.zip");
    let time = UNIX_EPOCH + Duration::from_secs(origin.epoch.parse().context("the commit's time is not a number")?);
    let files = folder::files(&out.join(name), |_| false)?;
    for file in &files {
        File::open(file)?.set_modified(time).with_context(|| format!("cannot set {}", file.display()))?;
    }
    // Its times are local ones, without a zone; -X leaves those of the file system out.
    let words = ["-q", "-9", "-X", "-D", &archive];
    let mut command = Command::new("zip");
    command.args(words).args(files.iter().filter_map(|file| file.strip_prefix(out).ok()));
    let status = command.current_dir(out).env("TZ", "UTC").status();
    let status = status.context("cannot run zip")?;
    ensure!(status.success(), "zip: {status}");
    Ok(archive)
}

/// Compresses a file in its place, without its name and time.
pub(super) fn gzip(path: &Path) -> Result<()> {
    run::with(&[], "gzip", &["--no-name", "--best", &path.to_string_lossy()])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bytes of both archives.
    fn packed(at: &str, first: &str, second: &str) -> [Vec<u8>; 2] {
        let origin = Origin {
            version: String::new(),
            commit: String::new(),
            epoch: at.to_owned(),
            time: "1970-01-01T00:00:00Z".to_owned(),
        };
        let out = tempfile::tempdir().unwrap();
        let folder = out.path().join("name");
        fs::create_dir_all(folder.join("man")).unwrap();
        for file in [first, second] {
            write(&folder.join(file), &format!("{}\n", file.len()), TEXT).unwrap();
        }
        let mode = if first < second { 0o700 } else { 0o775 };
        fs::set_permissions(folder.join("man"), Permissions::from_mode(mode)).unwrap();
        let archive = tar(out.path(), "name", &origin).unwrap();
        let listed = Command::new("tar").arg("tzf").arg(out.path().join(&archive)).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&listed.stdout), "name/\nname/a\nname/bb\nname/man/\n");
        let bytes = fs::read(out.path().join(archive)).unwrap();
        // gzip's flags, of which one is that there is a name, and its time.
        assert_eq!(bytes[3..8], [0; 5]);
        if !run::exists("zip") {
            clockscope_testing::skip("zip is missing");
            return [bytes, at.as_bytes().to_vec()];
        }
        let zipped = fs::read(out.path().join(zip(out.path(), "name", &origin).unwrap())).unwrap();
        [bytes, zipped]
    }

    #[test]
    fn an_archive_does_not_depend_on_when_where_and_in_which_order_it_was_made() {
        let once = packed("1000000000", "a", "bb");
        // File systems keep times by the ns, so the second is later.
        assert!(once == packed("1000000000", "bb", "a"), "two archives of the same files differ");
        // A zip's times are of two seconds.
        let later = packed("1000000002", "a", "bb");
        assert!(once[0] != later[0] && once[1] != later[1], "the commit's time is not in the archive");
    }
}
