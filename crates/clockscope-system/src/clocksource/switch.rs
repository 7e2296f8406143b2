//! Switching the kernel's clocksource for a while, and putting it back.
//!
//! Who switches holds a lock on a marker, in which stands what was in use before. It goes when that
//! is in use again; one that nobody holds is what a killed process has left.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clockscope_core::Errno;
use clockscope_records::{ErrorCause, LeftBehind, SwitchedBy};

use crate::failure::cause;
use crate::pseudo_files;

/// Places of the clocksource's files and of the marker, which is in memory, so that a reboot, which
/// resets the clocksource, takes it away.
const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
const MARKER: &str = "/run/clockscope-clocksource";

/// Number of tries of the lock before it counts as held, and the pause between them.
const TRIES: u32 = 5;
const BETWEEN_TRIES: Duration = Duration::from_millis(20);

/// Longest marker that is read: longer ones are not ours.
const MAX_MARKER_BYTES: u64 = 256;

/// Reason why the clocksource was not switched, or not put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// The kernel does not show its clocksources.
    #[error("the kernel does not show its clocksources: {path}: {error}; is /sys mounted?")]
    Unread {
        /// The file that was read.
        path: PathBuf,
        /// Reason why it could not be.
        error: io::Error,
    },
    /// There is no such clocksource.
    #[error("the kernel does not offer the clocksource \"{name}\": expected one of {available}")]
    NotAvailable {
        /// The name that was asked for.
        name: String,
        /// Those that there are.
        available: String,
    },
    /// This process may not switch.
    #[error(
        "the clocksource cannot be switched by this process: {path}: {error}; it takes root, outside of a container"
    )]
    NotPermitted {
        /// The file that was opened.
        path: PathBuf,
        /// Reason why it could not be.
        error: io::Error,
    },
    /// The marker cannot be made.
    #[error("the clocksource in use cannot be saved, to restore it later: {path}: {error}")]
    Marker {
        /// The marker.
        path: PathBuf,
        /// Reason why it could not be written.
        error: io::Error,
    },
    /// Another run has it switched.
    #[error("{0}")]
    AlreadySwitched(SwitchedBy),
    /// A process has left it switched.
    #[error(
        "process {pid} ended without restoring the clocksource: {was} was in use before; restore it with `clockscope clocksource --restore`"
    )]
    LeftBehind {
        /// That process.
        pid: u32,
        /// The clocksource that was in use before.
        was: String,
    },
    /// The clocksource that was in use before is not there any more.
    #[error("cannot restore {was}: the kernel no longer offers it, and uses {is}; `clockscope clocksource` shows why")]
    Gone {
        /// The clocksource that was in use before.
        was: String,
        /// The clocksource that is in use now.
        is: String,
    },
    /// The kernel refused.
    #[error("cannot switch the clocksource to {name}: {reason}")]
    Refused {
        /// The clocksource that was asked for.
        name: String,
        /// The kernel's answer, or what it did instead.
        reason: String,
    },
}

fn refused(name: &str, reason: String) -> SwitchError {
    SwitchError::Refused { name: name.to_owned(), reason }
}

/// The right to switch, held by this process alone. Dropping it puts the clocksource back.
#[derive(Debug)]
pub struct Right {
    paths: SwitchPaths,
    marker: Option<File>,
    was: String,
}

/// Result of a restoration.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Restoration {
    /// In use until now.
    pub from: String,
    /// In use from now on.
    pub to: String,
}

/// The right to switch to these clocksources, before anything is switched.
///
/// # Errors
/// There is no such clocksource, this process may not switch, or another process is switching or
/// has left it switched.
pub fn right(names: &[String]) -> Result<Right, SwitchError> {
    SwitchPaths::default().right(names)
}

/// Returns what a killed process has left switched.
///
/// # Errors
/// Another run has it switched just now.
pub fn left_behind() -> Result<Option<LeftBehind>, SwitchedBy> {
    SwitchPaths::default().left_behind()
}

/// Puts back what a killed process has left switched; `None` if there is nothing to be put back.
///
/// # Errors
/// Another process is switching, this process may not, or the kernel refuses.
pub fn restore() -> Result<Option<Restoration>, SwitchError> {
    SwitchPaths::default().restore()
}

impl From<SwitchedBy> for SwitchError {
    fn from(switched_by: SwitchedBy) -> Self {
        Self::AlreadySwitched(switched_by)
    }
}

/// Places of everything; a test has places of its own.
#[derive(Clone, Debug)]
struct SwitchPaths {
    folder: PathBuf,
    marker: PathBuf,
}

impl Default for SwitchPaths {
    fn default() -> Self {
        Self { folder: FOLDER.into(), marker: MARKER.into() }
    }
}

/// Contents of a marker.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note {
    pid: u32,
    was: String,
}

impl SwitchPaths {
    fn right(&self, names: &[String]) -> Result<Right, SwitchError> {
        let available = self.text("available_clocksource")?;
        if let Some(name) = names.iter().find(|name| !offers(&available, name)) {
            return Err(SwitchError::NotAvailable { name: name.clone(), available: available.trim().to_owned() });
        }
        self.switch_file()?;
        let marker = self.lock()?;
        // Nobody else switches from here on.
        let is = self.current()?;
        if let Some(Note { pid, was }) = read_note(&marker).filter(|note| note.was != is) {
            return Err(SwitchError::LeftBehind { pid, was });
        }
        let right = Right { paths: self.clone(), was: is, marker: Some(marker) };
        right.note()?;
        Ok(right)
    }

    /// Nothing, where a user has put it back by hand.
    fn left_behind(&self) -> Result<Option<LeftBehind>, SwitchedBy> {
        if !fs::metadata(&self.marker).is_ok_and(|found| found.is_file()) {
            return Ok(None);
        }
        let file = match File::open(&self.marker) {
            Ok(file) => file,
            Err(error) if cause(Errno::from(&error)) == ErrorCause::Denied => {
                return Err(SwitchedBy::OtherUser { marker: self.marker.display().to_string() });
            }
            Err(_) => return Ok(None),
        };
        if let Err(TryLockError::WouldBlock) = file.try_lock_shared() {
            return Err(SwitchedBy::Process { pid: read_note(&file).map(|note| note.pid) });
        }
        let Some(Note { pid, was }) = read_note(&file) else { return Ok(None) };
        let is = self.current().ok();
        if is.as_ref() == Some(&was) { Ok(None) } else { Ok(Some(LeftBehind { pid, was, is })) }
    }

    fn restore(&self) -> Result<Option<Restoration>, SwitchError> {
        if self.left_behind()?.is_none() {
            return Ok(None);
        }
        self.switch_file()?;
        let marker = self.lock()?;
        // Another process may have restored it meanwhile.
        let Some(note) = read_note(&marker) else { return Ok(None) };
        let from = self.current()?;
        let right = Right { paths: self.clone(), marker: Some(marker), was: note.was.clone() };
        right.put_back()?;
        Ok(Some(Restoration { from, to: note.was }))
    }

    fn text(&self, name: &str) -> Result<String, SwitchError> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(|error| SwitchError::Unread { path, error })
    }

    fn current(&self) -> Result<String, SwitchError> {
        Ok(self.text("current_clocksource")?.trim().to_owned())
    }

    /// The file that sets the clocksource, opened.
    fn switch_file(&self) -> Result<File, SwitchError> {
        let path = self.folder.join("current_clocksource");
        OpenOptions::new().write(true).open(&path).map_err(|error| SwitchError::NotPermitted { path, error })
    }

    /// Sets the clocksource, and checks that the kernel uses it.
    fn write_current(&self, name: &str) -> Result<(), SwitchError> {
        let opened = OpenOptions::new().write(true).truncate(true).open(self.folder.join("current_clocksource"));
        opened
            .and_then(|mut file| file.write_all(name.as_bytes()))
            .map_err(|error| refused(name, error.to_string()))?;
        let is = self.current()?;
        if is == name { Ok(()) } else { Err(refused(name, format!("it uses {is}"))) }
    }

    fn marker_error(&self, error: io::Error) -> SwitchError {
        SwitchError::Marker { path: self.marker.clone(), error }
    }

    /// The marker, locked, and still the one of that name: who had it before may have taken it away
    /// meanwhile.
    fn lock(&self) -> Result<File, SwitchError> {
        let mut tries = 0;
        loop {
            let mut options = OpenOptions::new();
            options.read(true).write(true).create(true).truncate(false);
            // Nobody else may hold it.
            #[cfg(unix)]
            std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
            let file = options.open(&self.marker).map_err(|error| self.marker_error(error))?;
            match file.try_lock() {
                Ok(()) if self.is_marker(&file).map_err(|error| self.marker_error(error))? => return Ok(file),
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(self.marker_error(error)),
                // Who only looks at it holds it for microseconds.
                Err(TryLockError::WouldBlock) if tries < TRIES => {
                    tries += 1;
                    thread::sleep(BETWEEN_TRIES);
                }
                Err(TryLockError::WouldBlock) => {
                    return Err(SwitchedBy::Process { pid: read_note(&file).map(|note| note.pid) }.into());
                }
            }
        }
    }

    /// Returns true if the marker's name still leads to this file.
    #[cfg(unix)]
    fn is_marker(&self, file: &File) -> io::Result<bool> {
        is_one_file(file.metadata(), fs::metadata(&self.marker))
    }

    #[cfg(not(unix))]
    fn is_marker(&self, _: &File) -> io::Result<bool> {
        Ok(true)
    }
}

/// Returns true if an open file and the file of a name, if there is one, are the same.
#[cfg(unix)]
fn is_one_file(open: io::Result<fs::Metadata>, named: io::Result<fs::Metadata>) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let open = open?;
    match named {
        Ok(named) => Ok((open.dev(), open.ino()) == (named.dev(), named.ino())),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Returns true if a list of clocksources names this one.
fn offers(available: &str, name: &str) -> bool {
    available.split_ascii_whitespace().any(|known| known == name)
}

/// Contents of a marker; `None` if it is empty or not ours.
fn read_note(mut file: &File) -> Option<Note> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(MAX_MARKER_BYTES).read_to_string(&mut text).ok()?;
    parse(&text)
}

/// `PID NAME` in one line.
fn parse(text: &str) -> Option<Note> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let (pid, was) = (words.next()?.parse().ok()?, words.next()?);
    (pseudo_files::is_name(was) && words.next().is_none()).then(|| Note { pid, was: was.to_owned() })
}

/// A marker is only taken for one of ours if it is written as ours are (fuzz/).
#[cfg(fuzzing)]
pub(crate) fn fuzz(text: &str) {
    if let Some(note) = parse(text) {
        assert_eq!(parse(&format!("{} {}\n", note.pid, note.was)).map(|note| note.was), Some(note.was));
    }
}

impl Right {
    /// The clocksource that is put back in the end.
    #[must_use]
    pub fn was(&self) -> &str {
        &self.was
    }

    /// Switches.
    ///
    /// # Errors
    /// The kernel refused. What was in use before is put back when the right is dropped.
    pub fn switch(&self, name: &str) -> Result<(), SwitchError> {
        self.paths.write_current(name)
    }

    /// Puts back what was in use before, and returns whether that succeeded, which dropping cannot.
    /// If the kernel refused, the marker stays.
    ///
    /// # Errors
    /// The kernel refused, or does not have it any more.
    pub fn put_back(mut self) -> Result<(), SwitchError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), SwitchError> {
        let Some(marker) = self.marker.take() else { return Ok(()) };
        let (was, is) = (&self.was, self.paths.current()?);
        let is_gone = is != *was && !offers(&self.paths.text("available_clocksource")?, was);
        if is != *was && !is_gone {
            self.paths.write_current(was)?;
        }
        // The name goes before the lock does.
        let removed = fs::remove_file(&self.paths.marker);
        drop(marker);
        removed.map_err(|error| self.paths.marker_error(error))?;
        if is_gone { Err(SwitchError::Gone { was: was.clone(), is }) } else { Ok(()) }
    }

    fn note(&self) -> Result<(), SwitchError> {
        let Some(mut marker) = self.marker.as_ref() else { return Ok(()) };
        let emptied = marker.set_len(0).and_then(|()| marker.rewind());
        let noted = emptied.and_then(|()| writeln!(marker, "{} {}", std::process::id(), self.was));
        noted.map_err(|error| self.paths.marker_error(error))
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        // No caller is left; the marker that stays says so to the next run.
        let _ = self.finish();
    }
}

#[cfg(unix)]
#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A kernel that is two files. It takes whatever is written.
    fn simulated_paths(folder: &Path) -> SwitchPaths {
        fs::write(folder.join("current_clocksource"), "tsc\n").unwrap();
        fs::write(folder.join("available_clocksource"), "tsc hpet acpi_pm \n").unwrap();
        SwitchPaths { folder: folder.to_owned(), marker: folder.join("marker") }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn is(paths: &SwitchPaths, name: &str) -> bool {
        paths.current().unwrap() == name
    }

    #[test]
    fn what_was_in_use_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let right = paths.right(&names(&["hpet", "acpi_pm"])).unwrap();
        assert_eq!(fs::read_to_string(&paths.marker).unwrap(), format!("{} tsc\n", std::process::id()));
        for name in ["hpet", "acpi_pm"] {
            right.switch(name).unwrap();
            assert!(is(&paths, name));
        }
        right.put_back().unwrap();
        assert!(is(&paths, "tsc") && !paths.marker.exists());
    }

    #[cfg(unix)]
    #[test]
    fn files_that_cannot_be_examined_are_not_one() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let file = File::create(&paths.marker).unwrap();
        assert!(paths.is_marker(&file).unwrap());
        fs::rename(&paths.marker, folder.path().join("before")).unwrap();
        assert!(!paths.is_marker(&file).unwrap());
        File::create(&paths.marker).unwrap();
        assert!(!paths.is_marker(&file).unwrap());
        let [open, named] = [io::ErrorKind::PermissionDenied; 2].map(|kind| Err(kind.into()));
        assert!(is_one_file(open, named).is_err());
    }

    #[test]
    fn a_panic_puts_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let within = paths.clone();
        let ended = std::thread::spawn(move || {
            let right = within.right(&[]).unwrap();
            right.switch("hpet").unwrap();
            panic!("as planned");
        });
        assert!(ended.join().is_err());
        assert!(is(&paths, "tsc") && !paths.marker.exists());
    }

    #[test]
    fn only_one_switches_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let first = paths.right(&[]).unwrap();
        first.switch("hpet").unwrap();
        let own = SwitchedBy::Process { pid: Some(std::process::id()) };
        let is_own =
            |error: &SwitchError| matches!(error, SwitchError::AlreadySwitched(switched_by) if *switched_by == own);
        assert!(is_own(&paths.right(&[]).unwrap_err()));
        assert_eq!(paths.left_behind().unwrap_err(), own);
        assert!(is_own(&paths.restore().unwrap_err()));
        // What the first one has switched to for a while is nobody's to be put back.
        drop(first);
        assert_eq!(paths.right(&[]).unwrap().was(), "tsc");
        // Locked, and nothing is noted down yet.
        let _marker = paths.lock().unwrap();
        assert_eq!(paths.left_behind().unwrap_err(), SwitchedBy::Process { pid: None });
        let unknown = paths.restore().unwrap_err();
        assert!(matches!(&unknown, SwitchError::AlreadySwitched(SwitchedBy::Process { pid: None })), "{unknown}");
    }

    #[test]
    fn what_a_killed_run_left_is_reported_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        fs::write(paths.folder.join("current_clocksource"), "hpet\n").unwrap();
        fs::write(&paths.marker, "4711 tsc\n").unwrap();
        let left = LeftBehind { pid: 4711, was: "tsc".to_owned(), is: Some("hpet".to_owned()) };
        assert_eq!(paths.left_behind().unwrap(), Some(left));
        assert!(matches!(paths.right(&[]), Err(SwitchError::LeftBehind { pid: 4711, .. })));
        let switched = Restoration { from: "hpet".to_owned(), to: "tsc".to_owned() };
        assert_eq!(paths.restore().unwrap(), Some(switched));
        assert!(is(&paths, "tsc") && !paths.marker.exists());
        assert_eq!(paths.restore().unwrap(), None);
        // A user has put it back by hand.
        fs::write(&paths.marker, "4711 tsc\n").unwrap();
        assert_eq!(paths.left_behind().unwrap(), None);
        assert_eq!(paths.right(&[]).unwrap().was(), "tsc");
        assert!(!paths.marker.exists());
    }

    #[test]
    fn a_kernel_that_refuses_is_reported_and_the_marker_stays() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let right = paths.right(&names(&["hpet"])).unwrap();
        // It takes what is written, and uses nothing.
        fs::remove_file(paths.folder.join("current_clocksource")).unwrap();
        std::os::unix::fs::symlink("/dev/null", paths.folder.join("current_clocksource")).unwrap();
        assert!(matches!(right.switch("hpet"), Err(SwitchError::Refused { .. })));
        assert!(matches!(right.put_back(), Err(SwitchError::Refused { .. })));
        assert!(paths.marker.exists());
    }

    /// The kernel may find the counter bad while it is not in use.
    #[test]
    fn what_is_no_longer_offered_cannot_be_put_back_and_nobody_has_to() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let right = paths.right(&names(&["hpet"])).unwrap();
        right.switch("hpet").unwrap();
        fs::write(paths.folder.join("available_clocksource"), "hpet acpi_pm\n").unwrap();
        let error = right.put_back().unwrap_err().to_string();
        assert!(error.contains("cannot restore tsc"), "{error}");
        assert!(is(&paths, "hpet") && !paths.marker.exists());
        fs::write(&paths.marker, "4711 tsc\n").unwrap();
        assert!(matches!(paths.restore(), Err(SwitchError::Gone { .. })));
        assert!(!paths.marker.exists());
    }

    #[test]
    fn what_cannot_be_switched_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        let paths = simulated_paths(folder.path());
        let error = paths.right(&names(&["hpet", "sundial"])).unwrap_err().to_string();
        assert!(error.contains("sundial") && error.contains("tsc hpet acpi_pm"), "{error}");
        assert!(!paths.marker.exists());
        let nowhere = SwitchPaths { folder: folder.path().join("none"), ..paths.clone() };
        assert!(matches!(nowhere.right(&[]), Err(SwitchError::Unread { .. })));
        let unmarked = SwitchPaths { marker: folder.path().join("none/marker"), ..paths };
        assert!(matches!(unmarked.right(&[]), Err(SwitchError::Marker { .. })));
    }

    #[test]
    fn markers_are_ours_or_nothing() {
        assert_eq!(parse("12 kvm-clock\n"), Some(Note { pid: 12, was: "kvm-clock".to_owned() }));
        for text in ["", "\n", "12", "12 tsc", "x tsc\n", "12 \n", "12 a/b\n", "12 tsc more\n", "-1 tsc\n"] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_marker_or_none(text in ".*") {
            if let Some(Note { pid, was }) = parse(&text) {
                proptest::prop_assert_eq!(parse(&format!("{pid} {was}\n")), Some(Note { pid, was }));
            }
        }
    }
}
