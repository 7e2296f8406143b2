//! Installation by `cargo xtask install`: programs find it by pkg-config, CMake and Meson.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::toolchain::{built_folder, command_succeeds, has};
use clockscope_testing::skip;

const PREFIX: &str = "opt/clockscope";
/// Folders of libraries, below the prefix.
const LIB: &str = "lib";
const DEEP: &str = "lib/multi";
/// The name by which a program that links the shared library has it loaded.
const SONAME: &[u8] = b"libclockscope.so.0\0";

/// An installation below a folder of its own, as packages are made.
struct Installed {
    folder: tempfile::TempDir,
    libdir: &'static str,
}

impl Installed {
    fn new(libdir: &'static str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut command = Command::new(env!("CARGO"));
        command.current_dir(examples().join("../.."));
        command.args(["run", "--quiet", "--package", "xtask", "--", "install", "--prefix"]);
        command.arg(format!("/{PREFIX}")).args(["--libdir", libdir, "--destdir"]).arg(folder.path());
        command.arg("--built").arg(built_folder());
        command_succeeds(&mut command);
        Self { folder, libdir }
    }

    fn prefix(&self) -> PathBuf {
        self.folder.path().join(PREFIX)
    }

    fn libraries(&self) -> PathBuf {
        self.prefix().join(self.libdir)
    }

    /// A program that asks pkg-config for what is installed here.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PKG_CONFIG_SYSROOT_DIR", self.folder.path());
        command.env("PKG_CONFIG_PATH", self.libraries().join("pkgconfig"));
        command
    }

    /// Runs a program that was linked with the shared library, or with the static one.
    fn run(&self, program: &Path, is_static: bool) {
        let holds_name = fs::read(program).expect("the program").windows(SONAME.len()).any(|bytes| bytes == SONAME);
        assert_eq!(holds_name, !is_static, "{}", program.display());
        let printed = command_succeeds(Command::new(program).env("LD_LIBRARY_PATH", self.libraries()));
        assert!(printed.starts_with("usleep(1000), 200 times: median "), "{printed}");
    }
}

/// The folder of the examples.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

/// Returns true if all of these programs are installed; skips the test if not.
fn have(programs: &[&str]) -> bool {
    let missing: Vec<&&str> = programs.iter().filter(|program| !has(program)).collect();
    if !missing.is_empty() {
        skip(&format!("{missing:?} is not installed"));
    }
    missing.is_empty()
}

#[test]
#[ignore = "needs pkg-config"]
fn pkg_config_finds_the_library() {
    if !have(&["gcc", "pkg-config"]) {
        return;
    }
    let installed = Installed::new(DEEP);
    for is_static in [false, true] {
        let kind: &[&str] = if is_static { &["--static"] } else { &[] };
        let mut flags = installed.command("pkg-config");
        let flags = command_succeeds(flags.args(kind).args(["--cflags", "--libs", "clockscope"]));
        let program = installed.folder.path().join("usleep");
        let mut compile = Command::new("gcc");
        compile.args(["-std=c99", "-O2"]).arg(examples().join("usleep.c")).arg("-o").arg(&program);
        // All of it static, the C library as well.
        compile.args(is_static.then_some("-static")).args(flags.split_whitespace());
        command_succeeds(&mut compile);
        installed.run(&program, is_static);
    }
    let mut version = installed.command("pkg-config");
    assert_eq!(command_succeeds(version.args(["--modversion", "clockscope"])).trim(), env!("CARGO_PKG_VERSION"));
}

#[test]
#[ignore = "needs CMake"]
fn cmake_finds_the_library() {
    if !have(&["cmake", "make", "gcc"]) {
        return;
    }
    for (is_static, libdir) in [(false, LIB), (true, DEEP)] {
        let installed = Installed::new(libdir);
        let build = installed.folder.path().join("build");
        let mut configure = Command::new("cmake");
        configure.arg("-S").arg(examples()).arg("-B").arg(&build);
        // CMake knows which folders of libraries a prefix has; ours of several levels is not one.
        configure.arg(match libdir {
            LIB => format!("-DCMAKE_PREFIX_PATH={}", installed.prefix().display()),
            _ => format!("-Dclockscope_DIR={}", installed.libraries().join("cmake/clockscope").display()),
        });
        configure.arg(format!("-DSTATIC={}", if is_static { "ON" } else { "OFF" }));
        command_succeeds(&mut configure);
        command_succeeds(Command::new("cmake").arg("--build").arg(&build));
        installed.run(&build.join("usleep"), is_static);
        assert!(build.join("calibrate").exists());
    }
}

/// A program that asks for another minor version, or a later one, does not get this one.
#[test]
#[ignore = "needs CMake"]
fn cmake_refuses_other_versions() {
    if !have(&["cmake", "make", "gcc"]) {
        return;
    }
    let installed = Installed::new(DEEP);
    let [major, minor, patch] = ["MAJOR", "MINOR", "PATCH"].map(|part| {
        let number = std::env::var(format!("CARGO_PKG_VERSION_{part}")).unwrap();
        number.parse::<u32>().unwrap()
    });
    let expected = [
        (format!("{major}.{minor}"), true),
        (format!("{major}.{minor}.{patch}"), true),
        (format!("{major}.{minor}.{}", patch + 1), false),
        (format!("{major}.{}", minor + 1), false),
        (format!("{}.{minor}", major + 1), false),
        (format!("{major}.0"), minor == 0),
    ];
    let versions: String = expected.iter().map(|(version, _)| format!(" {version}")).collect();
    let project = installed.folder.path().join("asks");
    let folder = installed.libraries().join("cmake/clockscope").display().to_string();
    fs::create_dir(&project).unwrap();
    // A package that was not found is forgotten.
    let text = format!(
        "cmake_minimum_required(VERSION 3.13)\nproject(asks C)\nforeach(version{versions})\n\
         set(clockscope_DIR \"{folder}\" CACHE PATH \"\" FORCE)\n\
         find_package(clockscope ${{version}} QUIET)\n\
         message(STATUS \"asked ${{version}}: ${{clockscope_FOUND}}\")\nendforeach()\n"
    );
    fs::write(project.join("CMakeLists.txt"), text).unwrap();
    let mut configure = Command::new("cmake");
    configure.arg("-S").arg(&project).arg("-B").arg(project.join("build"));
    let printed = command_succeeds(&mut configure);
    for (version, is_found) in expected {
        let line = format!("asked {version}: {}\n", u8::from(is_found));
        assert!(printed.contains(&line), "{line}{printed}");
    }
}

#[test]
#[ignore = "needs Meson"]
fn meson_finds_the_library() {
    if !have(&["meson", "ninja", "gcc", "pkg-config"]) {
        return;
    }
    let installed = Installed::new(DEEP);
    for is_static in [false, true] {
        let build = installed.folder.path().join(format!("build-{is_static}"));
        let mut setup = installed.command("meson");
        setup.arg("setup").arg(format!("-Dprefer_static={is_static}")).arg(&build).arg(examples());
        command_succeeds(&mut setup);
        command_succeeds(Command::new("meson").args(["compile", "-C"]).arg(&build));
        installed.run(&build.join("usleep"), is_static);
        assert!(build.join("calibrate").exists());
    }
}

/// The manual has no error that its formatters report, and each function leads to it.
#[test]
#[ignore = "needs man and mandoc"]
fn the_manual_is_clean() {
    let installed = Installed::new(DEEP);
    let manual = installed.prefix().join("share/man");
    let page = manual.join("man3/libclockscope.3");
    assert_eq!(fs::read_to_string(manual.join("man3/clockscope_now.3")).unwrap(), ".so man3/libclockscope.3\n");
    if have(&["man"]) {
        let mut read = Command::new("man");
        let output = read.args(["--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z"]).arg(&page).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
    // It has no option that prints a version, and fails for unknown ones.
    if Command::new("mandoc").arg("-T").arg("lint").arg("/dev/null").output().is_err() {
        return skip("mandoc is not installed");
    }
    let printed = Command::new("mandoc").args(["-T", "lint", "-W", "warning"]).arg(&page).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&printed.stdout), "");
}
