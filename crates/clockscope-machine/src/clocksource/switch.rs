//! Switching the kernel's clocksource for a while, and putting it back.
//!
//! Who switches holds a lock on a marker, in which stands what was in use before. It goes when that is in use again; one that
//! nobody holds is what a killed process has left.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::PathBuf;

use clockscope_records::LeftBehind;

use crate::kernel;

/// Where the kernel is asked and told, and where the marker is: in memory, so that a reboot, which resets the clocksource,
/// takes it away.
const FOLDER: &str = "/sys/devices/system/clocksource/clocksource0";
const MARKER: &str = "/run/clockscope-clocksource";

/// Longest marker that is read: longer ones are not ours.
const LONGEST: u64 = 256;

/// Why the clocksource was not switched, or not put back.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SwitchError {
    /// The kernel does not tell its clocksources.
    #[error("the kernel does not tell its clocksources: {path}: {error}; is /sys mounted?")]
    Untold {
        /// The file that was read.
        path: PathBuf,
        /// Why it could not be.
        error: io::Error,
    },
    /// There is no such clocksource.
    #[error("the kernel has no clocksource \"{name}\" to switch to: it offers {available}")]
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
        /// Why it could not be.
        error: io::Error,
    },
    /// The marker cannot be made.
    #[error("what is in use now cannot be noted down, for putting it back: {path}: {error}")]
    Marker {
        /// The marker.
        path: PathBuf,
        /// Why it could not be written.
        error: io::Error,
    },
    /// Somebody else is switching.
    #[error("process {pid} is switching the clocksource just now, and will put {was} back: wait until it has ended")]
    Held {
        /// Who.
        pid: u32,
        /// What was in use before.
        was: String,
    },
    /// Somebody has left it switched.
    #[error(
        "process {pid} was killed while it had switched the clocksource: {was} was in use before; put it back with `clockscope clocksource --restore`"
    )]
    LeftBehind {
        /// Who.
        pid: u32,
        /// What was in use before.
        was: String,
    },
    /// The kernel refused.
    #[error("the kernel did not take {name}: {reason}")]
    Refused {
        /// What it was told.
        name: String,
        /// What it said, or did instead.
        reason: String,
    },
}

/// The right to switch, held by this process alone. Dropping it puts the clocksource back.
#[derive(Debug)]
pub struct Right {
    places: Places,
    marker: Option<File>,
    was: String,
}

/// What a restoration has found and done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Switched {
    /// In use until now.
    pub from: String,
    /// In use from now on.
    pub to: String,
}

/// The right to switch to these clocksources, before anything is switched.
///
/// # Errors
/// There is no such clocksource, this process may not switch, or somebody else is switching or has left it switched.
pub fn right(names: &[String]) -> Result<Right, SwitchError> {
    Places::default().right(names)
}

/// What a killed process has left switched. Also tells who is switching just now, by the error [`SwitchError::Held`].
///
/// # Errors
/// Somebody is switching.
pub fn left_behind() -> Result<Option<LeftBehind>, SwitchError> {
    Places::default().left_behind()
}

/// Puts back what a killed process has left switched; `None` if there is nothing to be put back.
///
/// # Errors
/// Somebody is switching, this process may not, or the kernel refuses.
pub fn restore() -> Result<Option<Switched>, SwitchError> {
    Places::default().restore()
}

/// Where everything is; a test has places of its own.
#[derive(Clone, Debug)]
struct Places {
    folder: PathBuf,
    marker: PathBuf,
}

impl Default for Places {
    fn default() -> Self {
        Self { folder: FOLDER.into(), marker: MARKER.into() }
    }
}

/// What a marker says.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Note {
    pid: u32,
    was: String,
}

impl Places {
    fn right(&self, names: &[String]) -> Result<Right, SwitchError> {
        let available = self.told("available_clocksource")?;
        for name in names {
            if !available.split_ascii_whitespace().any(|known| known == name) {
                return Err(SwitchError::NotAvailable { name: name.clone(), available: available.trim().to_owned() });
            }
        }
        let was = self.current()?;
        self.switch_file()?;
        let marker = self.lock()?;
        let right = Right { places: self.clone(), marker: Some(marker), was };
        right.note()?;
        Ok(right)
    }

    fn left_behind(&self) -> Result<Option<LeftBehind>, SwitchError> {
        let Ok(file) = File::open(&self.marker) else { return Ok(None) };
        let Some(note) = read_note(&file) else { return Ok(None) };
        match file.try_lock_shared() {
            Err(TryLockError::WouldBlock) => Err(SwitchError::Held { pid: note.pid, was: note.was }),
            // A file system without locks: a marker is a marker.
            Ok(()) | Err(TryLockError::Error(_)) => {
                Ok(Some(LeftBehind { pid: note.pid, was: note.was, is: self.current().ok() }))
            }
        }
    }

    fn restore(&self) -> Result<Option<Switched>, SwitchError> {
        let Some(left) = self.left_behind()? else { return Ok(None) };
        self.switch_file()?;
        let marker = self.open_and_lock()?;
        let from = self.current()?;
        let right = Right { places: self.clone(), marker: Some(marker), was: left.was.clone() };
        right.put_back()?;
        Ok(Some(Switched { from, to: left.was }))
    }

    fn told(&self, name: &str) -> Result<String, SwitchError> {
        let path = self.folder.join(name);
        fs::read_to_string(&path).map_err(|error| SwitchError::Untold { path, error })
    }

    fn current(&self) -> Result<String, SwitchError> {
        Ok(self.told("current_clocksource")?.trim().to_owned())
    }

    /// The file by which the kernel is told, opened.
    fn switch_file(&self) -> Result<File, SwitchError> {
        let path = self.folder.join("current_clocksource");
        OpenOptions::new().write(true).open(&path).map_err(|error| SwitchError::NotPermitted { path, error })
    }

    /// Tells the kernel, and looks whether it did what it was told.
    fn tell(&self, name: &str) -> Result<(), SwitchError> {
        let refused = |reason: String| SwitchError::Refused { name: name.to_owned(), reason };
        self.switch_file()?.write_all(name.as_bytes()).map_err(|error| refused(error.to_string()))?;
        let is = self.current()?;
        if is == name { Ok(()) } else { Err(refused(format!("it uses {is}"))) }
    }

    /// The marker, locked and empty.
    fn lock(&self) -> Result<File, SwitchError> {
        let file = self.open_and_lock()?;
        match read_note(&file) {
            Some(Note { pid, was }) => Err(SwitchError::LeftBehind { pid, was }),
            None => Ok(file),
        }
    }

    /// The marker, locked, and still the one of that name: who had it before may have taken it away meanwhile.
    fn open_and_lock(&self) -> Result<File, SwitchError> {
        let wrong = |error| SwitchError::Marker { path: self.marker.clone(), error };
        loop {
            let mut options = OpenOptions::new();
            let file = options.read(true).write(true).create(true).truncate(false).open(&self.marker).map_err(wrong)?;
            match file.try_lock() {
                Ok(()) if self.is_marker(&file) => return Ok(file),
                Ok(()) => {}
                Err(TryLockError::Error(error)) => return Err(wrong(error)),
                Err(TryLockError::WouldBlock) => {
                    // Between taking the lock and noting down there is nothing in it.
                    let Note { pid, was } =
                        read_note(&file).unwrap_or(Note { pid: 0, was: "what was in use before".to_owned() });
                    return Err(SwitchError::Held { pid, was });
                }
            }
        }
    }

    #[cfg(unix)]
    fn is_marker(&self, file: &File) -> bool {
        use std::os::unix::fs::MetadataExt;
        let number = |found: io::Result<fs::Metadata>| found.ok().map(|found| (found.dev(), found.ino()));
        number(file.metadata()) == number(fs::metadata(&self.marker))
    }

    #[cfg(not(unix))]
    fn is_marker(&self, _: &File) -> bool {
        true
    }
}

/// What stands in a marker; `None` if it is empty or not ours.
fn read_note(mut file: &File) -> Option<Note> {
    let mut text = String::new();
    file.rewind().ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    parse(&text)
}

/// `PID NAME` in one line.
fn parse(text: &str) -> Option<Note> {
    let mut words = text.strip_suffix('\n')?.split(' ');
    let (pid, was) = (words.next()?.parse().ok()?, words.next()?);
    (kernel::is_name(was) && words.next().is_none()).then(|| Note { pid, was: was.to_owned() })
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
        self.places.tell(name)
    }

    /// Puts back what was in use before, and tells whether that succeeded, which dropping cannot. If it did not, the marker
    /// stays.
    ///
    /// # Errors
    /// The kernel refused.
    pub fn put_back(mut self) -> Result<(), SwitchError> {
        self.finish()
    }

    fn finish(&mut self) -> Result<(), SwitchError> {
        let Some(marker) = self.marker.take() else { return Ok(()) };
        let is_there = self.places.current().is_ok_and(|is| is == self.was);
        if !is_there {
            self.places.tell(&self.was)?;
        }
        // The name goes before the lock does.
        let removed = fs::remove_file(&self.places.marker);
        drop(marker);
        removed.map_err(|error| SwitchError::Marker { path: self.places.marker.clone(), error })
    }

    fn note(&self) -> Result<(), SwitchError> {
        let wrong = |error| SwitchError::Marker { path: self.places.marker.clone(), error };
        let Some(mut marker) = self.marker.as_ref() else { return Ok(()) };
        marker.set_len(0).map_err(wrong)?;
        marker.rewind().map_err(wrong)?;
        writeln!(marker, "{} {}", std::process::id(), self.was).map_err(wrong)
    }
}

impl Drop for Right {
    fn drop(&mut self) {
        // Nobody is left to be told; the marker that stays says so to the next run.
        let _ = self.finish();
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// A kernel that is two files. It takes whatever it is told.
    fn places(folder: &Path) -> Places {
        fs::write(folder.join("current_clocksource"), "tsc\n").unwrap();
        fs::write(folder.join("available_clocksource"), "tsc hpet acpi_pm \n").unwrap();
        Places { folder: folder.to_owned(), marker: folder.join("marker") }
    }

    fn names(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    /// The files keep what was longer; the kernel does not.
    fn is(places: &Places, name: &str) -> bool {
        places.current().unwrap().starts_with(name)
    }

    #[test]
    fn what_was_in_use_is_put_back() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let right = places.right(&names(&["hpet"])).unwrap();
        assert_eq!(fs::read_to_string(&places.marker).unwrap(), format!("{} tsc\n", std::process::id()));
        fs::write(places.folder.join("current_clocksource"), "").unwrap();
        right.switch("hpet").unwrap();
        assert!(is(&places, "hpet"));
        fs::write(places.folder.join("current_clocksource"), "").unwrap();
        right.put_back().unwrap();
        assert!(is(&places, "tsc") && !places.marker.exists());
    }

    #[test]
    fn a_panic_puts_it_back() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let within = places.clone();
        let ended = std::thread::spawn(move || {
            let _right = within.right(&[]).unwrap();
            fs::write(within.folder.join("current_clocksource"), "").unwrap();
            panic!("as planned");
        });
        assert!(ended.join().is_err());
        assert!(is(&places, "tsc") && !places.marker.exists());
    }

    #[test]
    fn only_one_switches_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let first = places.right(&[]).unwrap();
        let held = |error: &SwitchError| matches!(error, SwitchError::Held { pid, was } if *pid == std::process::id() && was == "tsc");
        assert!(held(&places.right(&[]).unwrap_err()));
        assert!(held(&places.left_behind().unwrap_err()));
        assert!(held(&places.restore().unwrap_err()));
        drop(first);
        assert!(places.right(&[]).is_ok());
    }

    #[test]
    fn what_a_killed_run_left_is_told_and_restored() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        fs::write(places.folder.join("current_clocksource"), "hpet\n").unwrap();
        fs::write(&places.marker, "4711 tsc\n").unwrap();
        let left = LeftBehind { pid: 4711, was: "tsc".to_owned(), is: Some("hpet".to_owned()) };
        assert_eq!(places.left_behind().unwrap(), Some(left));
        assert!(matches!(places.right(&[]), Err(SwitchError::LeftBehind { pid: 4711, .. })));
        fs::write(places.folder.join("current_clocksource"), "acpi").unwrap();
        // The file becomes "tsci": the kernel did not take it, and the marker stays.
        assert!(matches!(places.restore(), Err(SwitchError::Refused { .. })));
        assert!(places.marker.exists());
        fs::write(places.folder.join("current_clocksource"), "hp").unwrap();
        let switched = Switched { from: "hp".to_owned(), to: "tsc".to_owned() };
        assert_eq!(places.restore().unwrap(), Some(switched));
        assert!(!places.marker.exists());
        assert_eq!(places.restore().unwrap(), None);
    }

    #[test]
    fn what_cannot_be_switched_is_said_before() {
        let folder = tempfile::tempdir().unwrap();
        let places = places(folder.path());
        let error = places.right(&names(&["hpet", "sundial"])).unwrap_err().to_string();
        assert!(error.contains("sundial") && error.contains("tsc hpet acpi_pm"), "{error}");
        assert!(!places.marker.exists());
        let nowhere = Places { folder: folder.path().join("none"), ..places.clone() };
        assert!(matches!(nowhere.right(&[]), Err(SwitchError::Untold { .. })));
        let unmarked = Places { marker: folder.path().join("none/marker"), ..places };
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
