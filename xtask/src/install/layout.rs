//! Files that are installed, their places, and their content.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::{folder, manual, run};

/// The crate whose files these are.
const CRATE: &str = "crates/clockscope-capi";
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// The number in the SONAME, which the crate's build.rs sets.
const SOVERSION: &str = "0";

/// Content of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Content {
    Copy(PathBuf),
    Text(String),
    /// A link to a file of the same folder.
    Link(String),
}

/// A file, below the prefix.
#[derive(Clone, Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) content: Content,
    pub(super) mode: u32,
}

/// All files.
#[derive(Debug)]
pub(super) struct Layout {
    pub(super) files: Vec<File>,
}

impl Layout {
    /// Lists the files, with the libraries of this folder.
    pub(super) fn new(prefix: &Path, libdir: &Path, built: &Path) -> Result<Self> {
        let mut layout = Self { files: Vec::new() };
        layout.headers()?;
        layout.libraries(libdir, built);
        layout.templates(prefix, libdir)?;
        layout.manual()?;
        layout.command(built)?;
        Ok(layout)
    }

    fn add(&mut self, path: impl Into<PathBuf>, content: Content) {
        self.files.push(File { path: path.into(), content, mode: 0o644 });
    }

    /// The folder of rdtsc.h has another name than here, because all libraries share the folder.
    fn headers(&mut self) -> Result<()> {
        for header in folder::files(&Path::new(CRATE).join("include"), |_| false)? {
            let path = header.strip_prefix(CRATE)?.to_string_lossy().replace("/compat/", "/clockscope-compat/");
            self.add(path, Content::Copy(header));
        }
        Ok(())
    }

    fn libraries(&mut self, libdir: &Path, built: &Path) {
        let full = format!("libclockscope.so.{VERSION}");
        self.add(libdir.join("libclockscope.a"), Content::Copy(built.join("libclockscope_c.a")));
        let library = Content::Copy(built.join("libclockscope_c.so"));
        self.files.push(File { path: libdir.join(&full), content: library, mode: 0o755 });
        self.add(libdir.join(format!("libclockscope.so.{SOVERSION}")), Content::Link(full.clone()));
        self.add(libdir.join("libclockscope.so"), Content::Link(full));
    }

    /// Adds the files that pkg-config and CMake look for.
    fn templates(&mut self, prefix: &Path, libdir: &Path) -> Result<()> {
        let packaging = Path::new(CRATE).join("packaging");
        let cmake = libdir.join("cmake/clockscope");
        let templates = [
            ("clockscope.pc", libdir.join("pkgconfig")),
            ("clockscope-rdtsc.pc", libdir.join("pkgconfig")),
            ("clockscopeConfig.cmake", cmake.clone()),
            ("clockscopeConfigVersion.cmake", cmake),
        ];
        for (name, folder) in templates {
            let text = filled(&packaging.join(format!("{name}.in")), &variables(prefix, libdir))?;
            self.add(folder.join(name), Content::Text(text));
        }
        Ok(())
    }

    /// The page, and for each function one that leads there.
    fn manual(&mut self) -> Result<()> {
        let folder = Path::new("share/man/man3");
        let page = Path::new(CRATE).join("packaging/libclockscope.3");
        let text = fs::read_to_string(&page).with_context(|| format!("cannot read {}", page.display()))?;
        for function in functions(&text) {
            let lead = ".so man3/libclockscope.3\n".to_owned();
            self.add(folder.join(format!("{function}.3")), Content::Text(lead));
        }
        self.add(folder.join("libclockscope.3"), Content::Text(text));
        Ok(())
    }

    /// The instrument and its pages, which it prints itself, where it was built beside the library.
    fn command(&mut self, built: &Path) -> Result<()> {
        let command = built.join("clockscope");
        if !command.is_file() {
            return Ok(());
        }
        let program = command.to_string_lossy().into_owned();
        for (name, text) in manual::pages(|arguments| run::output(&program, arguments))? {
            self.add(Path::new("share/man/man1").join(name), Content::Text(text));
        }
        self.files.push(File { path: "bin/clockscope".into(), content: Content::Copy(command), mode: 0o755 });
        Ok(())
    }
}

/// The functions that a page's synopsis names.
fn functions(page: &str) -> impl Iterator<Item = &str> {
    let synopsis = page.split_once("\n.Sh SYNOPSIS\n").map_or("", |(_, tail)| tail);
    let synopsis = synopsis.split_once("\n.Sh ").map_or(synopsis, |(synopsis, _)| synopsis);
    synopsis.lines().filter_map(|line| line.strip_prefix(".Fn ")?.split(' ').next())
}

/// Returns a template with the values of its variables.
pub(crate) fn filled(template: &Path, variables: &[(&str, String)]) -> Result<String> {
    let text = fs::read_to_string(template).with_context(|| format!("cannot read {}", template.display()))?;
    Ok(variables.iter().fold(text, |text, (name, value)| text.replace(name, value)))
}

fn variables(prefix: &Path, libdir: &Path) -> [(&'static str, String); 7] {
    let minor = VERSION.rsplit_once('.').map_or(VERSION, |(minor, _)| minor);
    // From the folder of libraries back to the prefix.
    let up: Vec<&str> = libdir.components().map(|_| "..").collect();
    [
        ("@PREFIX@", prefix.display().to_string()),
        ("@LIBDIR@", libdir.display().to_string()),
        ("@UP@", up.join("/")),
        ("@VERSION@", VERSION.to_owned()),
        ("@MINOR@", minor.to_owned()),
        ("@SOVERSION@", SOVERSION.to_owned()),
        ("@POINTER@", size_of::<usize>().to_string()),
    ]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::os::unix::fs::symlink;

    use super::*;

    fn layout() -> Layout {
        std::env::set_current_dir(run::root()).unwrap();
        Layout::new(Path::new("/usr"), Path::new("lib/x86_64-linux-gnu"), Path::new("built")).unwrap()
    }

    #[test]
    fn every_variable_of_a_template_is_filled() {
        for file in layout().files {
            let Content::Text(text) = &file.content else { continue };
            assert!(!text.contains('@'), "{}: {text}", file.path.display());
        }
    }

    /// A link leads to an installed file, and a copy is made of a file that exists.
    #[test]
    fn links_lead_to_installed_files_and_copies_are_there() {
        let layout = layout();
        let paths: BTreeSet<&Path> = layout.files.iter().map(|file| file.path.as_path()).collect();
        assert_eq!(paths.len(), layout.files.len());
        for file in &layout.files {
            match &file.content {
                Content::Link(target) => assert!(paths.contains(file.path.with_file_name(target).as_path())),
                Content::Copy(source) => assert!(source.starts_with("built") || source.exists(), "{source:?}"),
                Content::Text(_) => {}
            }
        }
    }

    /// No header is left out.
    #[test]
    fn all_headers_are_installed() {
        let mut here = vec![];
        for folder in ["include", "include/compat"] {
            for entry in fs::read_dir(run::root().join(CRATE).join(folder)).unwrap() {
                here.push(entry.unwrap().path());
            }
        }
        let here = here.iter().filter(|path| path.is_file()).count();
        let layout = layout();
        let installed: Vec<_> = layout.files.iter().filter(|file| file.path.starts_with("include")).collect();
        assert_eq!(installed.len(), here);
        for name in ["clockscope.h", "clockscope-compat/rdtsc.h"] {
            assert!(installed.iter().any(|file| file.path.ends_with(name)), "{name}");
        }
    }

    /// The manual has every function of the committed list.
    #[test]
    fn every_exported_function_has_a_page() {
        let layout = layout();
        let symbols = fs::read_to_string(Path::new(CRATE).join("tests/symbols.txt")).unwrap();
        let page = layout.files.iter().find(|file| file.path.ends_with("libclockscope.3")).unwrap();
        let Content::Text(page) = &page.content else { panic!("a text") };
        for symbol in symbols.lines() {
            assert!(page.lines().any(|line| line.starts_with(&format!(".Nm {symbol}"))), "{symbol} has no .Nm");
            assert!(page.contains(&format!("Fn {symbol}")), "{symbol} is not described");
        }
    }

    /// A command that is not there is left out; one that is prints its page.
    #[test]
    fn the_command_is_installed_with_its_page() {
        std::env::set_current_dir(run::root()).unwrap();
        let built = tempfile::tempdir().unwrap();
        let of_command = || {
            let layout = Layout::new(Path::new("/usr"), Path::new("lib"), built.path()).unwrap();
            let is_of_command = |file: &File| file.path.starts_with("bin") || file.path.starts_with("share/man/man1");
            layout.files.into_iter().filter(is_of_command).collect::<Vec<_>>()
        };
        assert_eq!(of_command().len(), 0);
        let command = built.path().join("clockscope");
        // A program that is written here cannot be run while the child that another test has just
        // forked has it open.
        symlink("/bin/echo", &command).unwrap();
        let [page, command] = &of_command()[..] else { panic!("two files") };
        assert_eq!(page.content, Content::Text("man\n".to_owned()));
        assert_eq!((command.path.as_path(), command.mode), (Path::new("bin/clockscope"), 0o755));
    }

    #[test]
    fn the_way_back_to_the_prefix_is_as_long_as_the_folder() {
        for (libdir, expected) in [("lib/a", "../.."), ("lib", "..")] {
            let variables = variables(Path::new("/"), Path::new(libdir));
            assert!(variables.contains(&("@UP@", expected.to_owned())), "{variables:?}");
        }
    }
}
