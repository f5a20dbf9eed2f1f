//! Faults of single processes in containers, which fleetdrill's own program makes in a container that sees these processes: a clock that is wrong,
//! and only a part of the processor time.
//!
//! The memory of another user's process can be written by a root user with the capability `SYS_PTRACE` only, and signals from within a container
//! can't pause its first process: so `docker exec` doesn't serve here.

use rustix::process::Pid;

use super::container_control::ControlCommand;
use super::container_main::PROGRAM;
use super::image::program_image;
use crate::error::ClusterError;
use crate::external_program::{DOCKER, SHORT};
use crate::supervisor::protocol::FaultCommands;

/// Process in a container.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerProcess {
    /// Container in which it runs.
    container: String,
    /// Id of the process in [`ContainerProcess::namespace`].
    id: Pid,
    /// Namespace of process ids, as `docker run --pid` takes it.
    namespace: String,
}

impl ContainerProcess {
    /// Finds a container's first process.
    ///
    /// # Errors
    /// Returns an error if the container doesn't run.
    pub(crate) async fn first(container: &str) -> Result<Self, ClusterError> {
        let command = ["inspect", "--format", "{{.State.Pid}}", container];
        let id = DOCKER.run(command, SHORT).await?;
        let process = id.trim().parse().ok().and_then(Pid::from_raw);
        let process = process.ok_or_else(|| DOCKER.unexpected(&command, "the container doesn't run", id))?;
        Ok(Self::on_machine(container, process))
    }

    /// Finds the only process of a program in a container.
    ///
    /// # Errors
    /// Returns an error if there isn't one such process.
    pub(crate) async fn of_program(container: &str, program: &str) -> Result<Self, ClusterError> {
        let command = ["top", container, "-o", "pid,comm"];
        let listed = DOCKER.run(command, SHORT).await?;
        let found = processes_of(program, &listed);
        let [process] = found[..] else {
            let how = format!("{} processes of {program} instead of one", found.len());
            return Err(DOCKER.unexpected(&command, how, listed));
        };
        Ok(Self::on_machine(container, process))
    }

    /// Returns the process that has this id in the namespace of a container's own.
    pub(crate) fn inside(container: &str, id: Pid) -> Self {
        Self { container: container.to_owned(), id, namespace: format!("container:{container}") }
    }

    /// Returns the process of a container that has this id on Docker's machine.
    fn on_machine(container: &str, id: Pid) -> Self {
        Self { container: container.to_owned(), id, namespace: "host".to_owned() }
    }

    /// Returns the commands that shift the clock of this process by a number of seconds, and that give it the machine's clock again.
    ///
    /// # Errors
    /// Returns an error if the image of fleetdrill's program can't be built.
    pub(crate) async fn shift_clock(&self, seconds: i32) -> Result<FaultCommands, ClusterError> {
        let image = program_image().await?;
        let [begin, end] = [seconds, 0].map(|seconds| {
            // DAC_OVERRIDE opens files of other users' processes in /proc.
            let capabilities = ["SYS_PTRACE", "DAC_OVERRIDE", "KILL"];
            let command = ControlCommand::ShiftClock { process: self.id, seconds };
            self.run_words(&["--rm"], &capabilities, &image, &command)
        });
        Ok(FaultCommands { begin, end })
    }

    /// Returns the commands that give this process only `percent` of its processor time, and all of it again.
    ///
    /// # Errors
    /// Returns an error if the image of fleetdrill's program can't be built.
    pub(crate) async fn throttle(&self, percent: u8) -> Result<FaultCommands, ClusterError> {
        let image = program_image().await?;
        let name = format!("{}-throttle-{}", self.container, self.id.as_raw_nonzero());
        let options = ["--detach", "--rm", "--name", &name];
        let command = ControlCommand::Throttle { process: self.id, percent };
        let begin = self.run_words(&options, &["KILL"], &image, &command);
        let end = [DOCKER.0, "stop", &name].map(str::to_owned).to_vec();
        Ok(FaultCommands { begin, end })
    }

    /// Returns the command line that runs a command in a container that sees this process, with `docker` as its first word.
    fn run_words(&self, options: &[&str], capabilities: &[&str], image: &str, command: &ControlCommand) -> Vec<String> {
        let namespace = format!("--pid={}", self.namespace);
        // AppArmor's profile for containers forbids to read processes of others, and to send them signals.
        let fixed = [&*namespace, "--network=none", "--user=0", "--cap-drop=ALL", "--security-opt=apparmor=unconfined"];
        let capabilities = capabilities.iter().map(|capability| format!("--cap-add={capability}"));
        let words = [DOCKER.0, "run"].iter().chain(options).chain(&fixed).map(|word| (*word).to_owned());
        let program = ["--entrypoint", PROGRAM, image].map(str::to_owned);
        words.chain(capabilities).chain(program).chain(command.words().into_iter().skip(1)).collect()
    }
}

/// Returns the processes of a program in the output of `docker top CONTAINER -o pid,comm`.
fn processes_of(program: &str, listed: &str) -> Vec<Pid> {
    let of_program = listed.lines().filter_map(|line| {
        let (process, name) = line.trim().split_once(char::is_whitespace)?;
        (name.trim() == program).then(|| Pid::from_raw(process.parse().ok()?))?
    });
    of_program.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_processes_of_a_program_have_its_whole_name() {
        let listed =
            "PID                 COMMAND\n7                   kube-apiserver\n12  kube-scheduler\n13 kube-apiserver2\n";
        let ids =
            |program| processes_of(program, listed).into_iter().map(|p| p.as_raw_nonzero().get()).collect::<Vec<_>>();
        assert_eq!(ids("kube-apiserver"), [7]);
        assert!(ids("etcd").is_empty());
    }
}
