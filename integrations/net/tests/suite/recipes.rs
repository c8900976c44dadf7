//! The recipes of `recipes/`: read as those read them who run them.

use serde::Deserialize as _;
use serde_yaml::Value;
use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;

const BINARY: &str = env!("CARGO_BIN_EXE_pixelferry-net");

fn recipe(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes").join(name)).unwrap()
}

#[test]
fn the_manifest_is_yaml_whose_parts_fit_and_whose_commands_are_ours() {
    let text = recipe("kubernetes.yaml");
    let documents: Vec<Value> =
        serde_yaml::Deserializer::from_str(&text).map(|document| Value::deserialize(document).unwrap()).collect();
    let of = |kind: &str| documents.iter().filter(move |document| document["kind"] == kind).collect::<Vec<_>>();
    assert_eq!((documents.len(), of("Service").len(), of("Deployment").len()), (3, 1, 2));
    let service = of("Service")[0];
    for deployment in of("Deployment") {
        let (spec, template) = (&deployment["spec"], &deployment["spec"]["template"]);
        assert_eq!(spec["selector"]["matchLabels"], template["metadata"]["labels"]);
        let container = &template["spec"]["containers"][0];
        let command = container["command"].as_sequence().unwrap();
        let words: Vec<_> = command.iter().map(|word| word.as_str().unwrap()).collect();
        assert_eq!(words[0], "pixelferry-net");
        // Options that the command does not have fail, with `--help` or without.
        let ran = Command::new(BINARY).args(&words[1..]).arg("--help").output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        match words[1] {
            "display" => assert_eq!(service["spec"]["selector"], template["metadata"]["labels"]),
            _ => {
                let host = format!("tcp/{}:", service["metadata"]["name"].as_str().unwrap());
                assert!(words.iter().any(|word| word.starts_with(&host)), "{words:?}");
            }
        }
    }
    assert!(!Command::new(BINARY).args(["worker", "--none-such", "--help"]).output().unwrap().status.success());
}

/// `srun` runs the tasks 0 to 2 on this machine, and `scontrol` names it.
const STANDS_FOR_SRUN: &str = r#"#!/bin/bash
while [[ $1 == --* ]]; do shift; done
for task in 0 1 2; do SLURM_PROCID=$task "$@" & tasks+=($!); done
for task in "${tasks[@]}"; do wait "$task" || failed=1; done
exit ${failed:-0}
"#;

#[test]
fn the_slurm_script_is_bash_and_its_tasks_make_frames() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("recipes/slurm.sh");
    assert!(Command::new("bash").arg("-n").arg(&script).status().unwrap().success());
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("slurm");
    fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("srun", STANDS_FOR_SRUN), ("scontrol", "#!/bin/bash\necho 127.0.0.1\n")] {
        fs::write(folder.join(name), text).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
    // A job whose port nobody has at the moment.
    let is_free = |job: &u16| TcpListener::bind(("127.0.0.1", 20_000 + job)).is_ok();
    let first = (std::process::id() % 10_000) as u16;
    let job = (first..20_000).find(is_free).unwrap();
    let ours = Path::new(BINARY).parent().unwrap();
    let path = format!("{}:{}:{}", folder.display(), ours.display(), std::env::var("PATH").unwrap());
    let mut run = Command::new("bash");
    run.arg(&script).env("PATH", path).env("SLURM_JOB_ID", job.to_string()).env("SLURM_JOB_NODELIST", "here");
    let ran = run.env("FRAMES", "20").env("IDLE", "2").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("20 frames shown"), "{out}{err}");
}
