//! The runtimes: a row each. `probes/README.md` (*Adding a language*) lists the steps that add one.

use crate::operating_system::System;

/// A runtime, and how a probe is started in it.
///
/// In arguments and variables stand for what is known only when it is started: `{program}`,
/// `{compiler}` (the paths that were found), `{source}` (the probe), `{built}` (what is built of
/// it), `{folder}` (a temporary one of the probe's own), `{cache}` (a folder that may be kept),
/// `{milliseconds}`, `{url}` (the page). A word with one of these is left out where there is no
/// such thing: `{unsandboxed}` (`--no-sandbox`, for root alone), `{framework}` (the folder of
/// .NET's own assemblies).
#[derive(Debug)]
pub struct Runtime {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name as people write it.
    pub title: &'static str,
    /// Instructions for getting it.
    get: Get,
    /// Systems on which it is measured: Windows, and others.
    pub(crate) windows: OnWindows,
    /// Programs that start it; the first that is found is taken. `{windir}` is the folder of
    /// Windows.
    pub(crate) programs: &'static [&'static str],
    /// Arguments with which it prints its version, and ends.
    pub(crate) version: &'static [&'static str],
    /// Programs that compile for it, where that is not the runtime itself.
    pub(crate) compilers: &'static [&'static str],
    /// The probe; what else it takes to build or run it comes after it.
    pub(crate) sources: &'static [SourceFile],
    /// Commands that build it, if it is built. The first that succeeds is taken.
    pub(crate) builds: &'static [Build],
    /// Command that runs it: a whole one.
    pub(crate) run: &'static [&'static str],
    /// Variables of the environment for both.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

/// Instructions for getting a runtime, by system.
#[derive(Clone, Copy, Debug, Default)]
struct Get {
    linux: &'static str,
    macos: &'static str,
    /// Empty where it is not measured there.
    windows: &'static str,
    /// Anywhere: the project's page.
    page: &'static str,
}

impl Get {
    /// Returns the words for a system.
    const fn on(&self, system: System) -> &'static str {
        match system {
            System::Linux => self.linux,
            System::Macos => self.macos,
            System::Windows => self.windows,
            System::Other => self.page,
        }
    }
}

/// Measurement of a runtime on Windows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnWindows {
    /// It is, as on other systems.
    Yes,
    /// It is not: the probe states the clocks of other systems.
    NotYet,
    /// It is, and other systems do not have the runtime.
    Alone,
}

/// A probe: a file's name, as its language wants it, and its text.
#[derive(Debug)]
pub(crate) struct SourceFile {
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
}

/// A way to build.
#[derive(Debug)]
pub(crate) struct Build {
    /// A whole command, which writes `{built}`.
    pub(crate) command: &'static [&'static str],
    /// Name of that in the probe's folder.
    pub(crate) product: &'static str,
}

macro_rules! sources {
    ($($file:literal),+) => {
        &[$(SourceFile { file: $file, text: include_str!(concat!("../probes/", $file)) }),+]
    };
}

macro_rules! build {
    ($($word:literal),+) => {
        &[Build { command: &[$($word),+], product: PRODUCT }]
    };
}

/// Product of a build, in the probe's folder: compilers for Windows append this ending if it is
/// missing.
const PRODUCT: &str = "built.exe";

impl Runtime {
    /// The probe.
    pub(crate) fn probe(&self) -> &'static SourceFile {
        const NONE: &SourceFile = &SourceFile { file: "", text: "" };
        self.sources.first().unwrap_or(NONE)
    }

    /// Returns how to get it; nothing where that would not help.
    pub(crate) fn get(&self) -> &'static str {
        if self.unsupported().is_some() { "" } else { self.get.on(System::HERE) }
    }

    /// Returns true if this system may have it.
    pub(crate) fn is_of_this_system(&self) -> bool {
        self.windows != OnWindows::Alone || cfg!(windows)
    }

    /// Reason why it is not measured on this system, whatever is installed.
    pub(crate) fn unsupported(&self) -> Option<&'static str> {
        match self.windows {
            OnWindows::NotYet if cfg!(windows) => Some("its probe does not know the clocks of Windows yet"),
            OnWindows::Alone if !cfg!(windows) => Some("it runs on Windows alone"),
            _ => None,
        }
    }

    /// Returns true if it is a browser, which is sent to a page instead of being given a file.
    pub(crate) fn is_browser(&self) -> bool {
        self.run.contains(&"{url}")
    }
}

/// Default values of a row.
const BASE: Runtime = Runtime {
    name: "",
    title: "",
    get: Get { linux: "", macos: "", windows: "", page: "" },
    windows: OnWindows::NotYet,
    programs: &[],
    version: &["--version"],
    compilers: &[],
    sources: &[],
    builds: &[],
    run: &["{program}", "{source}", "{milliseconds}"],
    variables: &[],
};

/// Command of what is built, which runs by itself.
const BUILT: &[&str] = &["{built}", "{milliseconds}"];

/// All of them, in the order in which they are measured.
pub(crate) const RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "c",
        title: "C",
        get: Get {
            linux: "apt install gcc libc6-dev, dnf install gcc",
            macos: "xcode-select --install",
            windows: "",
            page: "https://gcc.gnu.org",
        },
        programs: &["cc", "gcc", "clang"],
        sources: sources!("probe.c"),
        builds: build!("{program}", "-O2", "-o", "{built}", "{source}"),
        run: BUILT,
        ..BASE
    },
    Runtime {
        name: "c++",
        title: "C++",
        get: Get {
            linux: "apt install g++, dnf install gcc-c++",
            macos: "xcode-select --install",
            windows: "",
            page: "https://gcc.gnu.org",
        },
        programs: &["c++", "g++", "clang++"],
        sources: sources!("probe.cpp"),
        builds: build!("{program}", "-std=c++17", "-O2", "-o", "{built}", "{source}"),
        run: BUILT,
        ..BASE
    },
    Runtime {
        name: "rust",
        title: "Rust",
        get: Get {
            linux: "https://rustup.rs, apt install rustc",
            macos: "https://rustup.rs, brew install rustup",
            windows: "https://rustup.rs, winget install Rustlang.Rustup",
            page: "https://rustup.rs",
        },
        windows: OnWindows::Yes,
        programs: &["rustc"],
        sources: sources!("probe.rs"),
        builds: build!("{program}", "--edition", "2021", "-O", "-C", "strip=symbols", "-o", "{built}", "{source}"),
        run: BUILT,
        ..BASE
    },
    Runtime {
        name: "go",
        title: "Go",
        get: Get {
            linux: "https://go.dev/dl, apt install golang",
            macos: "https://go.dev/dl, brew install go",
            windows: "",
            page: "https://go.dev/dl",
        },
        programs: &["go"],
        version: &["version"],
        sources: sources!("probe.go"),
        builds: build!("{program}", "build", "-o", "{built}", "{source}"),
        run: BUILT,
        variables: &[
            // Neither a module nor a toolchain is looked for elsewhere.
            ("GO111MODULE", "off"),
            ("GOTOOLCHAIN", "local"),
            ("GOFLAGS", ""),
            // Its own files are kept with ours, and its telemetry is not.
            ("GOCACHE", "{cache}/go"),
            ("XDG_CONFIG_HOME", "{folder}"),
        ],
        ..BASE
    },
    Runtime {
        name: "java",
        title: "Java",
        get: Get {
            linux: "apt install default-jdk-headless, https://adoptium.net (11 or later, with its compiler)",
            macos: "brew install openjdk, https://adoptium.net (11 or later, with its compiler)",
            windows: "winget install EclipseAdoptium.Temurin.21.JDK, https://adoptium.net (11 or later, with its compiler)",
            page: "https://adoptium.net (11 or later, with its compiler)",
        },
        windows: OnWindows::Yes,
        programs: &["java"],
        version: &["-version"],
        sources: sources!("Probe.java"),
        // Performance data is a file in /tmp, which stays there if the JVM is killed. On a large
        // heap Instant.now may cost up to four times as much, for the first touch of its pages.
        run: &["{program}", "-XX:-UsePerfData", "-Xmx64m", "{source}", "{milliseconds}"],
        ..BASE
    },
    Runtime {
        name: "dotnet",
        title: ".NET",
        get: Get {
            linux: "https://dot.net; without an SDK, apt install mono-mcs as well",
            macos: "https://dot.net, brew install --cask dotnet-sdk",
            windows: "https://dot.net, winget install Microsoft.DotNet.SDK.8",
            page: "https://dot.net",
        },
        windows: OnWindows::Yes,
        programs: &["dotnet"],
        // Without an SDK, --version fails.
        version: &["--list-runtimes"],
        compilers: &["mcs"],
        sources: sources!("probe.cs", "probe.csproj", "probe.runtimeconfig.json"),
        builds: &[
            Build {
                command: &[
                    "{program}",
                    "build",
                    "--configuration",
                    "Release",
                    "--output",
                    "out",
                    "--nologo",
                    // No server stays.
                    "-nodeReuse:false",
                    "-p:UseSharedCompilation=false",
                    "probe.csproj",
                ],
                product: "out/probe.dll",
            },
            // By Mono's compiler against .NET's own assemblies.
            Build {
                command: &[
                    "{compiler}",
                    "-optimize+",
                    "-warn:0",
                    "-noconfig",
                    "-nostdlib",
                    "-define:NETCOREAPP",
                    "-lib:{framework}",
                    "-reference:System.Private.CoreLib.dll,System.Runtime.dll,System.Console.dll,\
                     System.Runtime.Extensions.dll,System.Collections.dll,System.Runtime.InteropServices.RuntimeInformation.dll",
                    "-out:{built}",
                    "{source}",
                ],
                product: PRODUCT,
            },
            // Against Mono's, which lack Environment.TickCount64, where .NET's are too new for it.
            Build { command: &["{compiler}", "-optimize+", "-out:{built}", "{source}"], product: PRODUCT },
        ],
        run: &[
            "{program}",
            "exec",
            "--runtimeconfig",
            "{folder}/probe.runtimeconfig.json",
            "{built}",
            "{milliseconds}",
        ],
        variables: &[
            // Sockets in /tmp, which stay there if it is killed; and what Mono's compiler leaves.
            ("DOTNET_EnableDiagnostics", "0"),
            ("COMPlus_EnableDiagnostics", "0"),
            ("MONO_DISABLE_SHARED_AREA", "1"),
            // What an SDK writes into the user's home.
            ("HOME", "{folder}"),
            ("DOTNET_CLI_HOME", "{folder}"),
            ("DOTNET_CLI_TELEMETRY_OPTOUT", "1"),
            ("DOTNET_SKIP_FIRST_TIME_EXPERIENCE", "1"),
            ("DOTNET_NOLOGO", "1"),
            ("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1"),
        ],
    },
    Runtime {
        name: "dotnet-framework",
        title: ".NET Framework",
        get: Get { linux: "", macos: "", windows: "part of Windows: 4.7.1 or later since Windows 10 1709", page: "" },
        windows: OnWindows::Alone,
        // Its compiler, which is a part of it. What it builds is run by Windows.
        programs: &[
            r"{windir}\Microsoft.NET\FrameworkArm64\v4.0.30319\csc.exe",
            r"{windir}\Microsoft.NET\Framework64\v4.0.30319\csc.exe",
            r"{windir}\Microsoft.NET\Framework\v4.0.30319\csc.exe",
        ],
        version: &["-help"],
        sources: sources!("probe.cs"),
        builds: build!("{program}", "-nologo", "-optimize+", "-out:{built}", "{source}"),
        run: BUILT,
        ..BASE
    },
    Runtime {
        name: "mono",
        title: "Mono",
        get: Get {
            linux: "apt install mono-runtime mono-mcs",
            macos: "brew install mono",
            windows: "https://www.mono-project.com/download",
            page: "https://www.mono-project.com/download",
        },
        windows: OnWindows::Yes,
        programs: &["mono"],
        compilers: &["mcs"],
        sources: sources!("probe.cs"),
        builds: build!("{compiler}", "-optimize+", "-out:{built}", "{source}"),
        run: &["{program}", "{built}", "{milliseconds}"],
        // A file in /dev/shm, which stays there if it is killed.
        variables: &[("MONO_DISABLE_SHARED_AREA", "1")],
        ..BASE
    },
    Runtime {
        name: "node",
        title: "Node.js",
        get: Get {
            linux: "apt install nodejs, https://nodejs.org",
            macos: "brew install node, https://nodejs.org",
            windows: "winget install OpenJS.NodeJS.LTS, https://nodejs.org",
            page: "https://nodejs.org",
        },
        windows: OnWindows::Yes,
        programs: &["node", "nodejs"],
        sources: sources!("probe.js"),
        ..BASE
    },
    Runtime {
        name: "deno",
        title: "Deno",
        get: Get {
            linux: "https://deno.com",
            macos: "brew install deno, https://deno.com",
            windows: "winget install DenoLand.Deno, https://deno.com",
            page: "https://deno.com",
        },
        windows: OnWindows::Yes,
        programs: &["deno"],
        sources: sources!("probe.js"),
        run: &["{program}", "run", "--no-config", "--no-lock", "{source}", "{milliseconds}"],
        variables: &[("DENO_DIR", "{folder}/deno"), ("DENO_NO_UPDATE_CHECK", "1")],
        ..BASE
    },
    Runtime {
        name: "bun",
        title: "Bun",
        get: Get {
            linux: "https://bun.sh",
            macos: "brew install oven-sh/bun/bun, https://bun.sh",
            windows: "winget install Oven-sh.Bun, https://bun.sh",
            page: "https://bun.sh",
        },
        windows: OnWindows::Yes,
        programs: &["bun"],
        sources: sources!("probe.js"),
        run: &["{program}", "run", "{source}", "{milliseconds}"],
        variables: &[("HOME", "{folder}")],
        ..BASE
    },
    Runtime {
        name: "python",
        title: "Python",
        get: Get {
            linux: "apt install python3, https://www.python.org",
            macos: "brew install python, https://www.python.org",
            windows: "winget install Python.Python.3.13, https://www.python.org",
            page: "https://www.python.org",
        },
        windows: OnWindows::Yes,
        programs: PYTHON,
        sources: sources!("probe.py"),
        run: &["{program}", "-B", "{source}", "{milliseconds}"],
        ..BASE
    },
    Runtime {
        name: "pypy",
        title: "PyPy",
        get: Get {
            linux: "apt install pypy3, https://pypy.org",
            macos: "brew install pypy3.10, https://pypy.org",
            windows: "https://pypy.org",
            page: "https://pypy.org",
        },
        windows: OnWindows::Yes,
        programs: &["pypy3", "pypy"],
        sources: sources!("probe.py"),
        run: &["{program}", "-B", "{source}", "{milliseconds}"],
        ..BASE
    },
    Runtime {
        name: "ruby",
        title: "Ruby",
        get: Get {
            linux: "apt install ruby",
            macos: "brew install ruby",
            windows: "",
            page: "https://www.ruby-lang.org",
        },
        programs: &["ruby"],
        sources: sources!("probe.rb"),
        ..BASE
    },
    Runtime {
        name: "php",
        title: "PHP",
        get: Get { linux: "apt install php-cli", macos: "brew install php", windows: "", page: "https://www.php.net" },
        programs: &["php"],
        sources: sources!("probe.php"),
        ..BASE
    },
    Runtime {
        name: "perl",
        title: "Perl",
        get: Get { linux: "apt install perl", macos: "brew install perl", windows: "", page: "https://www.perl.org" },
        programs: &["perl"],
        sources: sources!("probe.pl"),
        ..BASE
    },
    Runtime {
        name: "chromium",
        title: "Chromium",
        get: Get {
            linux: "apt install chromium, https://www.google.com/chrome",
            macos: "brew install --cask google-chrome, https://www.google.com/chrome",
            windows: "",
            page: "https://www.google.com/chrome",
        },
        programs: &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
            "chrome",
            "microsoft-edge",
        ],
        sources: sources!("probe.js"),
        run: &[
            "{program}",
            "--headless",
            "{unsandboxed}",
            "--user-data-dir={folder}",
            "--no-first-run",
            "--disable-gpu",
            // It talks to nobody but us.
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            "--disable-quic",
            "--no-proxy-server",
            "{url}",
        ],
        variables: HOMELESS,
        ..BASE
    },
    Runtime {
        name: "firefox",
        title: "Firefox",
        get: Get {
            linux: "apt install firefox-esr, https://www.mozilla.org/firefox",
            macos: "brew install --cask firefox, https://www.mozilla.org/firefox",
            windows: "",
            page: "https://www.mozilla.org/firefox",
        },
        programs: &["firefox", "firefox-esr"],
        sources: sources!("probe.js"),
        run: &["{program}", "--headless", "--no-remote", "--profile", "{folder}", "{url}"],
        variables: HOMELESS,
        ..BASE
    },
];

/// On Windows, `python` and `python3` may be names that only lead to the Store. The launcher is
/// not.
const PYTHON: &[&str] = if cfg!(windows) { &["py", "python3", "python"] } else { &["python3", "python"] };

/// Browsers write into the user's home whatever profile they are given.
const HOMELESS: &[(&str, &str)] = &[
    ("HOME", "{folder}"),
    ("XDG_CONFIG_HOME", "{folder}"),
    ("XDG_CACHE_HOME", "{folder}"),
    ("XDG_RUNTIME_DIR", "{folder}"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_complete_and_probes_speak_the_protocol() {
        for (index, runtime) in RUNTIMES.iter().enumerate() {
            let name = runtime.name;
            assert!(RUNTIMES[..index].iter().all(|other| other.name != name), "{name} is there twice");
            assert!(!runtime.title.is_empty() && !runtime.programs.is_empty(), "{name}");
            assert!(runtime.sources[0].text.contains("clockscope_probe"), "{name}");
            assert!(runtime.is_browser() || runtime.run.contains(&"{milliseconds}"), "{name}");
            let builds = |word: &str| {
                let of = |build: &Build| build.command.iter().any(|argument| argument.contains(word));
                runtime.builds.iter().any(of)
            };
            assert_eq!(runtime.run.concat().contains("{built}"), !runtime.builds.is_empty(), "{name}");
            assert_eq!(builds("{compiler}"), !runtime.compilers.is_empty(), "{name}");
            // Where it runs, its probe states the clocks of Windows: by their names, or as the
            // runtime reports them.
            let knows = ["QueryPerformanceCounter", "get_clock_info"];
            let knows = knows.iter().any(|word| runtime.sources[0].text.contains(word));
            assert!(knows || runtime.windows == OnWindows::NotYet, "{name}");
        }
    }

    /// A hint names the system's own installer, or a page, where the runtime is measured, and no
    /// other system's installer.
    #[test]
    fn hints_are_of_the_system() {
        let foreign = [
            (System::Linux, &["brew", "winget", "xcode"][..]),
            (System::Macos, &["apt ", "dnf", "winget"]),
            (System::Windows, &["apt ", "dnf", "brew", "xcode"]),
            (System::Other, &["apt ", "dnf", "brew", "winget", "xcode"]),
        ];
        for runtime in RUNTIMES {
            for (system, installers) in foreign {
                let hint = runtime.get.on(system);
                let is_measured = match system {
                    System::Windows => runtime.windows != OnWindows::NotYet,
                    _ => runtime.windows != OnWindows::Alone,
                };
                assert_eq!(!hint.is_empty(), is_measured, "{} on {system:?}", runtime.name);
                let named: Vec<_> = installers.iter().filter(|installer| hint.contains(**installer)).collect();
                assert!(named.is_empty(), "{} on {system:?}: {hint}", runtime.name);
            }
            assert!(runtime.unsupported().is_some() || runtime.get() == runtime.get.on(System::HERE));
        }
    }
}
