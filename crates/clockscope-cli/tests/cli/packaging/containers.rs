//! Images, and the manifests that run them in Kubernetes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use clockscope_testing::{Schema, skip};
use serde_json::{Value, json};

use super::{packaging, text, tool};

/// The output of kubectl, which needs no cluster for these commands; `None` where it is missing.
fn kubectl(arguments: &[&str]) -> Option<Vec<u8>> {
    let Output { status, stdout, stderr } = tool("kubectl", arguments)?;
    assert!(status.success(), "kubectl {arguments:?}: {}", String::from_utf8_lossy(&stderr));
    Some(stdout)
}

/// The manifests as `kubectl apply --kustomize` sends them, as YAML in a file of this folder.
fn rendered(folder: &Path) -> Option<PathBuf> {
    let manifests = kubectl(&["kustomize", packaging("kubernetes").to_str().unwrap()])?;
    let file = folder.join("rendered.yaml");
    fs::write(&file, manifests).unwrap();
    Some(file)
}

/// An object of a file after a change by kubectl.
fn changed(file: &Path, change: &[&str]) -> Option<Value> {
    let (verb, words) = change.split_first().unwrap();
    let read = [verb, "--local", "--output", "json", "--filename", file.to_str().unwrap()];
    Some(serde_json::from_slice(&kubectl(&[&read, words].concat())?).unwrap())
}

/// Kubernetes' schema of a DaemonSet, which refuses unknown keys; `None` if it is not
/// fetched.
fn schema() -> Option<Schema> {
    let tools = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("tools");
    let file = tools.join("kubernetes.json");
    let Ok(definitions) = fs::read_to_string(&file) else {
        skip(&format!("there is no {}: xtask/fetch-tools.sh {}", file.display(), tools.display()));
        return None;
    };
    Some(Schema::parse(&definitions).with_root("io.k8s.api.apps.v1.DaemonSet"))
}

#[test]
fn manifests_match_kubernetes_schema() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = rendered(folder.path()) else { return };
    let Some(mut object) = changed(&file, &["annotate", "read=yes"]) else { return };
    let Some(schema) = schema() else { return };
    assert_eq!(schema.errors(&object), [""; 0]);
    let volume = object["spec"]["template"]["spec"]["volumes"][0].as_object_mut().unwrap();
    let path = volume.remove("hostPath").unwrap();
    volume.insert("hostPth".to_owned(), path);
    let found = schema.errors(&object);
    assert!(found.len() == 1 && found[0].contains("hostPth"), "{found:?}");
}

#[test]
fn the_daemon_set_lets_measurements_run() {
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = rendered(folder.path()) else { return };
    let Some(object) = changed(&file, &["annotate", "read=yes"]) else { return };
    assert_eq!(object["kind"], "DaemonSet");
    let pod = &object["spec"]["template"];
    assert_eq!(object["spec"]["selector"]["matchLabels"], pod["metadata"]["labels"]);
    let container = &pod["spec"]["containers"][0];
    assert_eq!(container["securityContext"]["capabilities"]["drop"], json!(["ALL"]));
    assert!(container["resources"]["limits"]["cpu"].is_null(), "it would stop threads that measure");
    // A name with capitals and without a registry is invalid. The reader writes another one.
    let image = format!("SET-THE-IMAGE:{}", env!("CARGO_PKG_VERSION"));
    assert_eq!(container["image"], image);
}

/// The manual's addition to node_exporter reads the folder into which the DaemonSet writes.
#[test]
fn node_exporter_reads_the_folder_of_the_daemon_set() {
    let manual = text("../docs/guides/kubernetes.md");
    let excerpt = manual.split("```yaml\n").find(|block| block.contains("name: node-exporter")).unwrap();
    let excerpt = excerpt.split("```").next().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let Some(file) = rendered(folder.path()) else { return };
    let Some(writer) = changed(&file, &["annotate", "read=yes"]) else { return };
    let writer = &writer["spec"]["template"]["spec"];
    let Some(both) = changed(&file, &["patch", "--patch", excerpt]) else { return };
    let pod = &both["spec"]["template"]["spec"];
    let containers = pod["containers"].as_array().unwrap();
    let exporter = containers.iter().find(|container| container["name"] == "node-exporter").unwrap();
    let (volume, mount) = (&pod["volumes"][0], &exporter["volumeMounts"][0]);
    assert_eq!(volume["hostPath"]["path"], writer["volumes"][0]["hostPath"]["path"]);
    assert_eq!(volume["name"], mount["name"]);
    let flag = format!("--collector.textfile.directory={}", mount["mountPath"].as_str().unwrap());
    assert_eq!(exporter["args"], json!([flag]));
    if let Some(schema) = schema() {
        assert_eq!(schema.errors(&both), [""; 0]);
    }
}

/// Versions in these files are those of the archives that `cargo xtask dist` makes.
#[test]
fn files_of_containers_name_this_version() {
    for file in [
        "docker/Dockerfile",
        "docker/monitor.Dockerfile",
        "kubernetes/kustomization.yaml",
        "../docs/guides/kubernetes.md",
    ] {
        let text = text(file);
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        let versions: Vec<&str> =
            words.filter(|word| word.split('.').filter(|part| !part.is_empty()).count() == 3).collect();
        assert!(!versions.is_empty(), "{file} names no version");
        assert!(versions.iter().all(|version| *version == env!("CARGO_PKG_VERSION")), "{file} names {versions:?}");
    }
}
