//! The runtimes: a row each. A runtime that is not here is added by a probe in `runtimes/` and a row below
//! (docs/runtime-probes.md).

/// A runtime, and how a probe is started in it.
///
/// In arguments and variables stand for what is known only when it is started: `{program}`, `{compiler}` (the paths that were
/// found), `{source}` (the probe), `{built}` (what is built of it), `{folder}` (a temporary one of the probe's own), `{milliseconds}`,
/// `{url}` (the page), `{unsandboxed}` (`--no-sandbox` for root, nothing for others).
#[derive(Debug)]
pub struct Runtime {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its name as people write it.
    pub title: &'static str,
    /// How to get it.
    pub get: &'static str,
    /// Programs that start it; the first that is found is taken.
    pub(crate) programs: &'static [&'static str],
    /// Arguments with which it tells its version, and ends.
    pub(crate) version: &'static [&'static str],
    /// Programs that compile for it, where that is not the runtime itself; told apart by the same arguments.
    pub(crate) compilers: &'static [&'static str],
    /// The probe.
    pub(crate) source: Source,
    /// How it is built, if it is: a whole command.
    pub(crate) build: &'static [&'static str],
    /// How it is run: a whole command.
    pub(crate) run: &'static [&'static str],
    /// Variables of the environment for both.
    pub(crate) variables: &'static [(&'static str, &'static str)],
}

/// A probe: a file's name, as its language wants it, and its text.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: &'static str,
    pub(crate) text: &'static str,
}

macro_rules! source {
    ($file:literal) => {
        Source { file: $file, text: include_str!(concat!("../../../runtimes/", $file)) }
    };
}

impl Runtime {
    /// Whether it is a browser, which is sent to a page instead of being given a file.
    pub(crate) fn is_browser(&self) -> bool {
        self.run.contains(&"{url}")
    }
}

/// What a row has if it says nothing else.
const PLAIN: Runtime = Runtime {
    name: "",
    title: "",
    get: "",
    programs: &[],
    version: &["--version"],
    compilers: &[],
    source: Source { file: "", text: "" },
    build: &[],
    run: &["{program}", "{source}", "{milliseconds}"],
    variables: &[],
};

/// What is built runs by itself.
const BUILT: &[&str] = &["{built}", "{milliseconds}"];

/// All of them, in the order in which they are measured.
pub(crate) const RUNTIMES: &[Runtime] = &[
    Runtime {
        name: "c",
        title: "C",
        get: "apt install gcc libc6-dev, dnf install gcc, xcode-select --install",
        programs: &["cc", "gcc", "clang"],
        source: source!("probe.c"),
        build: &["{program}", "-O2", "-o", "{built}", "{source}"],
        run: BUILT,
        ..PLAIN
    },
    Runtime {
        name: "c++",
        title: "C++",
        get: "apt install g++, dnf install gcc-c++",
        programs: &["c++", "g++", "clang++"],
        source: source!("probe.cpp"),
        build: &["{program}", "-std=c++17", "-O2", "-o", "{built}", "{source}"],
        run: BUILT,
        ..PLAIN
    },
    Runtime {
        name: "rust",
        title: "Rust",
        get: "https://rustup.rs, apt install rustc",
        programs: &["rustc"],
        source: source!("probe.rs"),
        build: &["{program}", "--edition", "2021", "-O", "-o", "{built}", "{source}"],
        run: BUILT,
        ..PLAIN
    },
    Runtime {
        name: "go",
        title: "Go",
        get: "https://go.dev/dl, apt install golang",
        programs: &["go"],
        version: &["version"],
        source: source!("probe.go"),
        build: &["{program}", "build", "-o", "{built}", "{source}"],
        run: BUILT,
        // Neither a module nor a toolchain is looked for elsewhere.
        variables: &[("GO111MODULE", "off"), ("GOTOOLCHAIN", "local"), ("GOFLAGS", "")],
        ..PLAIN
    },
    Runtime {
        name: "java",
        title: "Java",
        get: "apt install default-jdk-headless, https://adoptium.net (11 or later, with its compiler)",
        programs: &["java"],
        version: &["-version"],
        source: source!("Probe.java"),
        // Performance data is a file in /tmp, which stays there if the JVM is killed.
        run: &["{program}", "-XX:-UsePerfData", "{source}", "{milliseconds}"],
        ..PLAIN
    },
    Runtime {
        name: "mono",
        title: "Mono",
        get: "apt install mono-runtime mono-mcs",
        programs: &["mono"],
        compilers: &["mcs"],
        source: source!("probe.cs"),
        build: &["{compiler}", "-optimize+", "-out:{built}", "{source}"],
        run: &["{program}", "{built}", "{milliseconds}"],
        ..PLAIN
    },
    Runtime {
        name: "node",
        title: "Node.js",
        get: "apt install nodejs, https://nodejs.org",
        programs: &["node", "nodejs"],
        source: source!("probe.js"),
        ..PLAIN
    },
    Runtime {
        name: "deno",
        title: "Deno",
        get: "https://deno.com",
        programs: &["deno"],
        source: source!("probe.js"),
        run: &["{program}", "run", "--no-config", "--no-lock", "{source}", "{milliseconds}"],
        variables: &[("DENO_DIR", "{folder}/deno"), ("DENO_NO_UPDATE_CHECK", "1")],
        ..PLAIN
    },
    Runtime {
        name: "bun",
        title: "Bun",
        get: "https://bun.sh",
        programs: &["bun"],
        source: source!("probe.js"),
        run: &["{program}", "run", "{source}", "{milliseconds}"],
        ..PLAIN
    },
    Runtime {
        name: "python",
        title: "Python",
        get: "apt install python3",
        programs: &["python3", "python"],
        source: source!("probe.py"),
        run: &["{program}", "-B", "{source}", "{milliseconds}"],
        ..PLAIN
    },
    Runtime {
        name: "pypy",
        title: "PyPy",
        get: "apt install pypy3",
        programs: &["pypy3", "pypy"],
        source: source!("probe.py"),
        run: &["{program}", "-B", "{source}", "{milliseconds}"],
        ..PLAIN
    },
    Runtime {
        name: "ruby",
        title: "Ruby",
        get: "apt install ruby",
        programs: &["ruby"],
        source: source!("probe.rb"),
        ..PLAIN
    },
    Runtime {
        name: "php",
        title: "PHP",
        get: "apt install php-cli",
        programs: &["php"],
        source: source!("probe.php"),
        ..PLAIN
    },
    Runtime {
        name: "perl",
        title: "Perl",
        get: "apt install perl",
        programs: &["perl"],
        source: source!("probe.pl"),
        ..PLAIN
    },
    Runtime {
        name: "chromium",
        title: "Chromium",
        get: "apt install chromium, https://www.google.com/chrome",
        programs: &[
            "chromium",
            "chromium-browser",
            "google-chrome",
            "google-chrome-stable",
            "chrome",
            "microsoft-edge",
        ],
        source: source!("probe.js"),
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
        ..PLAIN
    },
    Runtime {
        name: "firefox",
        title: "Firefox",
        get: "apt install firefox-esr, https://www.mozilla.org/firefox",
        programs: &["firefox", "firefox-esr"],
        source: source!("probe.js"),
        run: &["{program}", "--headless", "--no-remote", "--profile", "{folder}", "{url}"],
        variables: HOMELESS,
        ..PLAIN
    },
];

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
        for (place, runtime) in RUNTIMES.iter().enumerate() {
            let name = runtime.name;
            assert!(RUNTIMES[..place].iter().all(|other| other.name != name), "{name} is there twice");
            assert!(!runtime.title.is_empty() && !runtime.get.is_empty() && !runtime.programs.is_empty(), "{name}");
            assert!(runtime.source.text.contains("clockscope_probe"), "{name}");
            assert!(runtime.is_browser() || runtime.run.contains(&"{milliseconds}"), "{name}");
            let builds = |word: &str| runtime.build.iter().any(|argument| argument.contains(word));
            assert_eq!(builds("{built}"), !runtime.build.is_empty(), "{name}");
            assert_eq!(builds("{compiler}"), !runtime.compilers.is_empty(), "{name}");
        }
    }
}
