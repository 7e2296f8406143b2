//! The test programs of the first tier.

use anyhow::Result;

use crate::run;

/// Test programs that take long or need more of a machine than to run Rust: real clocks at their
/// speed, broken clocks (rigs), languages, tools for C.
const THOROUGH: [&str; 9] = ["order", "trap", "across", "faults", "trust", "runtimes", "install", "lives", "matrix"];

/// Cargo's arguments for the quick test programs.
pub(crate) fn arguments() -> Result<Vec<String>> {
    let metadata = run::output("cargo", &["metadata", "--format-version", "1", "--no-deps"])?;
    let metadata: serde_json::Value = serde_json::from_str(&metadata)?;
    let mut arguments = ["--workspace", "--lib", "--bins"].map(str::to_owned).to_vec();
    let packages = metadata["packages"].as_array().into_iter().flatten();
    for target in packages.flat_map(|package| package["targets"].as_array().into_iter().flatten()) {
        let name = target["name"].as_str().unwrap_or_default();
        if target["kind"][0] == "test" && !THOROUGH.contains(&name) {
            arguments.extend(["--test".to_owned(), name.to_owned()]);
        }
    }
    Ok(arguments)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quick_leaves_out_what_takes_long_and_nothing_else() {
        std::env::set_current_dir(run::root()).unwrap();
        let arguments = self::arguments().unwrap();
        for name in ["worlds", "scripts", "process", "command", "formats"] {
            assert!(arguments.iter().any(|argument| argument == name), "{name}: {arguments:?}");
        }
        for name in THOROUGH {
            assert!(!arguments.iter().any(|argument| argument == name), "{name}: {arguments:?}");
            let tests = ["clockscope", "clockscope-cli", "clockscope-capi"]
                .map(|owner| format!("crates/{owner}/tests/{name}.rs"));
            assert!(tests.iter().any(|file| std::path::Path::new(file).exists()), "there is no test program {name}");
        }
    }
}
