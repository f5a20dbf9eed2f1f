//! Hints for errors of clusters and of the programs that run on this machine.

use std::io::ErrorKind;

use clusters::error::ClusterError;

use super::credentials::for_credentials;

/// Returns a hint, where one can be given.
#[must_use]
pub fn for_cluster(error: &ClusterError) -> Option<String> {
    match error {
        ClusterError::Io { source, .. } if source.kind() == ErrorKind::StorageFull => Some(DISK_FULL.into()),
        ClusterError::Credentials { source, .. } => for_credentials(source),
        ClusterError::Io { .. } => Some("set FLEETDRILL_STATE_DIR to a directory that you may write to".into()),
        ClusterError::Died { log, .. } | ClusterError::NotReady { log, .. } => log_of_program(log),
        ClusterError::Socket { source, .. } if source.kind() == ErrorKind::InvalidInput => {
            Some("the supervisor's socket has too long a path: set FLEETDRILL_STATE_DIR to a shorter one".into())
        }
        ClusterError::Supervisor(why) => log_of_program(why),
        ClusterError::SupervisorHangs { process, .. } => Some(hanging_supervisor(*process)),
        ClusterError::Refused { reason, .. } => log_of_program(reason),
        ClusterError::NoSuchFleet(_) => {
            Some("`fleetdrill status` lists the fleets there are; `fleetdrill up` makes one".into())
        }
        ClusterError::NoPodPrograms => {
            Some("tag scenarios that need pods with @pods, or bring the fleet up with --pods".into())
        }
        ClusterError::NoProgram("kind") => Some(
            "kind makes clusters in Docker: https://kind.sigs.k8s.io/docs/user/quick-start/#installation; without it, \
             --provider local needs neither"
                .into(),
        ),
        ClusterError::NoProgram("helm") => {
            Some("helm renders charts: https://helm.sh/docs/intro/install; --chart needs it".into())
        }
        ClusterError::NoChart(_) => Some(
            "--chart takes the directory `charts` of KubeFleet's repository, with hub-agent and member-agent".into(),
        ),
        ClusterError::NoProgram(_) => Some("install Docker, or use --provider local, which needs none".into()),
        ClusterError::Outside { command, said, .. } => failed_command(command, said),
        ClusterError::ClusterTaken(name) => Some(format!(
            "it is left alone; if a fleet that died left it: fleetdrill down --all; otherwise: kind delete cluster --name {name}"
        )),
        ClusterError::FewFiles { .. } => Some("raise the limit: ulimit -n 4096".into()),
        ClusterError::Loopback(_) => Some("bring the loopback interface up: ip link set lo up".into()),
        ClusterError::FleetExists(name) => {
            Some(format!("take another name, or end that fleet: fleetdrill down {name}"))
        }
        _ => None,
    }
}

/// Returns what to do about a supervisor that doesn't answer.
fn hanging_supervisor(process: Option<u32>) -> String {
    let wake =
        process.map(|id| format!("if it is paused, let it go on: kill -CONT {id}; otherwise ")).unwrap_or_default();
    format!("{wake}end the fleet, which kills a supervisor that hangs: fleetdrill down NAME")
}

/// Returns a hint for a failed command of somebody else's program, by the command's words and what the program printed.
fn failed_command(command: &[String], said: &str) -> Option<String> {
    let words: Vec<&str> = command.iter().map(String::as_str).collect();
    if said.contains("Cannot connect to the Docker daemon") {
        return Some("start Docker, or set DOCKER_HOST to where it listens".into());
    }
    if said.contains("permission denied") {
        return Some("you need the right to use Docker: be in the group docker, or set DOCKER_HOST".into());
    }
    match words[..] {
        ["docker", "pull", ..] => Some(
            "name images that can be had (--hub-agent-image, --member-agent-image), or have them built from the \
             toolchain's programs: --build-images"
                .into(),
        ),
        ["docker", "create", ..] if said.contains("is already in use") => {
            Some("if a fleet that died left it: fleetdrill down --all; otherwise take another name".into())
        }
        ["docker", "network", "create", ..] if said.contains("already exists") => Some(
            "something else on this machine uses it, perhaps a fleet of another state directory: take another name"
                .into(),
        ),
        _ => None,
    }
}

const DISK_FULL: &str = "the disk is full: free some space, or set FLEETDRILL_STATE_DIR to a directory on another disk; \
     a fleet takes about 200 MiB";

/// Returns a hint for a program that ended, by what the end of its log says about the machine.
pub(super) fn log_of_program(log: &str) -> Option<String> {
    let log = log.to_lowercase();
    if log.contains("no space left on device") || log.contains("database space exceeded") {
        Some(DISK_FULL.into())
    } else if log.contains("address already in use") {
        Some("another program took a port in the same moment: run the command again".into())
    } else if log.contains("too many open files") {
        Some("raise the limit of open files: ulimit -n 4096".into())
    } else if log.contains("cannot allocate memory") || log.contains("signal: killed") {
        Some("the machine is out of memory: a fleet of a hub and three members needs about 3 GiB".into())
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outside(command: &str, said: &str) -> Option<String> {
        let command = command.split(' ').map(str::to_owned).collect();
        for_cluster(&ClusterError::Outside { command, how: "exit status: 1".into(), said: said.into() })
    }

    #[test]
    fn a_command_that_failed_has_the_hint_of_its_cause() {
        let no_daemon = "Cannot connect to the Docker daemon at unix:///var/run/docker.sock";
        for (command, said, expected) in [
            ("docker pull --quiet x", "denied", Some("name images that can be had (--hub-agent-image")),
            ("docker pull --quiet x", no_daemon, Some("start Docker")),
            ("docker network create x", "network with name x already exists", Some("something else on this machine")),
            ("docker network create x", "no more addresses", None),
            ("docker run x", "permission denied", Some("you need the right to use Docker")),
            ("kind get clusters", "failed", None),
        ] {
            let hint = outside(command, said);
            assert_eq!(hint.is_some(), expected.is_some(), "{command}: {hint:?}");
            assert!(hint.unwrap_or_default().starts_with(expected.unwrap_or_default()), "{command}");
        }
    }

    #[test]
    fn the_machine_s_limits_have_their_own_hints() {
        let few = ClusterError::FewFiles { limit: 256, needed: 512 };
        assert_eq!(for_cluster(&few).as_deref(), Some("raise the limit: ulimit -n 4096"));
        let full = log_of_program("etcdserver: mvcc: database space exceeded");
        assert!(full.is_some_and(|hint| hint.starts_with("the disk is full")));
        assert_eq!(log_of_program("all is well"), None);
    }
}
