//! The recipes of `recipes/`: read as those read them who run them.

use pixelferry_testing::{Need, need};
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

/// The parts of the manifest of a kind.
fn manifest(kind: &str) -> Vec<Value> {
    let text = recipe("kubernetes.yaml");
    let parts = serde_yaml::Deserializer::from_str(&text).map(|part| Value::deserialize(part).unwrap());
    parts.filter(|part| part["kind"] == kind).collect()
}

fn container(deployment: &Value) -> &Value {
    &deployment["spec"]["template"]["spec"]["containers"][0]
}

fn words(deployment: &Value) -> Vec<String> {
    let command = container(deployment)["command"].as_sequence().unwrap();
    command.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn the_manifest_is_yaml_whose_parts_fit_and_whose_commands_are_ours() {
    let (service, secret) = (&manifest("Service")[0], &manifest("Secret")[0]);
    let deployments = manifest("Deployment");
    assert_eq!(deployments.len(), 3);
    for deployment in &deployments {
        let (spec, template) = (&deployment["spec"], &deployment["spec"]["template"]);
        assert_eq!(spec["selector"]["matchLabels"], template["metadata"]["labels"]);
        assert_eq!(template["spec"]["volumes"][0]["secret"]["secretName"], secret["metadata"]["name"]);
        let (container, words) = (container(deployment), words(deployment));
        assert!(container["resources"]["limits"]["memory"].is_string() && container["livenessProbe"].is_mapping());
        assert_eq!(words[0], "pixelferry-net");
        // Options that the command does not have fail, with `--help` or without.
        let ran = Command::new(BINARY).args(&words[1..]).arg("--help").output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", String::from_utf8_lossy(&ran.stderr));
        let mounted = words.iter().filter_map(|word| word.strip_prefix("/etc/pixelferry/"));
        for file in mounted {
            assert!(secret["stringData"][file].is_string(), "{file}");
        }
        if words[1] == "display" {
            assert_eq!(service["spec"]["selector"], template["metadata"]["labels"]);
        } else {
            let host = format!("tcp/{}:", service["metadata"]["name"].as_str().unwrap());
            assert!(words.iter().any(|word| word.starts_with(&host)), "{words:?}");
        }
    }
    assert!(!Command::new(BINARY).args(["worker", "--none-such", "--help"]).output().unwrap().status.success());
}

/// Runs in namespaces of its own, where it makes some for each pod: a network, a /dev/shm, and the files of the secret.
#[cfg(target_os = "linux")]
const STANDS_FOR_KUBERNETES: &str = r#"
mount -t tmpfs run /run && mkdir /run/netns && ip link set lo up
ip link add pods type bridge && ip addr add 10.77.0.254/24 dev pods && ip link set pods up
[ "${1:-}" != try ] || exit 0
trap 'kill -9 $(jobs -p)' EXIT
pod() {
    local name=$1 address=10.77.0.$2
    shift 2
    touch "/run/netns/$name" && unshare -n mount --bind /proc/self/ns/net "/run/netns/$name"
    ip link add "$name" type veth peer name eth0 netns "$name" && ip link set "$name" master pods up
    ip -n "$name" addr add "$address/24" dev eth0 && ip -n "$name" link set eth0 up && ip -n "$name" link set lo up
    nsenter --net="/run/netns/$name" unshare -m bash -euc '
        mount -t tmpfs -o size=64m shm /dev/shm && mount -t tmpfs etc /etc
        cp -r "$SECRET" /etc/pixelferry && echo "10.77.0.1 pixelferry-display" >/etc/hosts
        echo "hosts: files" >/etc/nsswitch.conf
        exec "$@"' pod "$@" &
}
get() { exec 3<>"/dev/tcp/10.77.0.$1/$2" && printf 'GET %s HTTP/1.1\r\nHost: 10.77.0.%s\r\nConnection: close\r\n\r\n' "$3" "$1" >&3 && cat <&3; }
as() { pixelferry-net "$@" --connect tcp/10.77.0.1:7447 --user pixelferry --password-file "$SECRET/password" --patience 30; }
"#;

#[cfg(target_os = "linux")]
#[test]
fn the_manifest_runs_in_namespaces_that_stand_for_pods() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("kubernetes");
    fs::create_dir_all(folder.join("secret")).unwrap();
    for (name, text) in manifest("Secret")[0]["stringData"].as_mapping().unwrap() {
        fs::write(folder.join("secret").join(name.as_str().unwrap()), text.as_str().unwrap()).unwrap();
    }
    let path = format!("{}:{}", Path::new(BINARY).parent().unwrap().display(), std::env::var("PATH").unwrap());
    let run = |script: &str, arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args(["-Urmn", "bash", "-euc", &format!("{STANDS_FOR_KUBERNETES}{script}"), "pods"]).args(arguments);
        command.env("PATH", &path).env("SECRET", folder.join("secret")).output()
    };
    let tried = match run("", &["try"]) {
        Ok(ran) if ran.status.success() => Ok(()),
        Ok(ran) => Err(String::from_utf8_lossy(&ran.stderr).into_owned()),
        Err(error) => Err(error.to_string()),
    };
    let Some(()) = need(Need::Namespaces, tried) else { return };
    let quoted = |words: Vec<String>| words.iter().map(|word| format!("'{word}'")).collect::<Vec<_>>().join(" ");
    let [display, worker, web] = ["display", "worker", "web"].map(|name| {
        let deployments = manifest("Deployment");
        quoted(words(deployments.iter().find(|deployment| words(deployment)[1] == name).unwrap()))
    });
    let script = format!(
        "pod worker1 2 {worker}; dies=$!; pod worker2 3 {worker}; pod web 4 {web}; sleep 1; pod display 1 {display}
        as view --frames 5
        for at in 1 2 3 4; do get $at 9090 /live; done
        get 2 9090 /metrics; get 4 8080 '/?token=change-this-token' | head -1
        as probe
        kill -9 $dies; as view --frames 20
        ! pixelferry-net view --connect tcp/10.77.0.1:7447 --patience 0"
    );
    let ran = run(&script, &[]).unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{out}{err}");
    assert_eq!(out.matches("making progress").count(), 4, "{out}{err}");
    assert_eq!(out.matches("  worker  ").count(), 2, "{out}{err}");
    assert!(out.contains("pixelferry_messages_total{role=\"worker\"") && out.contains("HTTP/1.1 200 OK\r\n"), "{out}");
    assert!(err.contains("refused this program"), "{err}");
}

/// `srun` runs the tasks 0 to 2 on this machine, and `scontrol` names it. The worker is killed once.
const STANDS_FOR_SRUN: &str = r#"#!/bin/bash
while [[ $1 == --* ]]; do shift; done
for task in 0 1 2; do SLURM_PROCID=$task "$@" & tasks+=($!); done
until worker=$(pgrep -P "${tasks[2]}"); do sleep 0.1; done
sleep 1
kill -9 "$worker" && echo "a worker was killed"
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
    run.env("SLURM_SUBMIT_DIR", &folder);
    let ran = run.env("FRAMES", "200").env("IDLE", "4").output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success() && out.contains("200 frames shown") && out.contains("was killed"), "{out}{err}");
    assert!(out.contains("open http://127.0.0.1:"), "{out}{err}");
    // The secrets went with the job.
    let left = fs::read_dir(&folder).unwrap().flatten().any(|entry| entry.path().is_dir());
    assert!(!left, "{}", folder.display());
}
