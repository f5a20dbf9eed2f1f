//! Faults of single processes in containers, which fleetdrill's own program makes in a container that sees all processes of Docker's machine: a
//! clock that is wrong, and only a part of the processor time.
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
#[derive(Clone, Copy, Debug)]
pub(crate) enum ContainerProcess<'a> {
    /// Container's first process.
    First,
    /// Only process of this program.
    Of(&'a str),
}

impl ContainerProcess<'_> {
    /// Returns the commands that shift the clock of this process of a container by a number of seconds, and that give it the machine's clock again.
    ///
    /// # Errors
    /// Returns an error if the container doesn't run such a process, or the image of fleetdrill's program can't be built.
    pub(crate) async fn shift_clock(self, container: &str, seconds: i32) -> Result<FaultCommands, ClusterError> {
        let image = program_image().await?;
        let process = self.on_machine(container).await?;
        let [begin, end] = [seconds, 0].map(|seconds| {
            // DAC_OVERRIDE opens files of other users' processes in /proc.
            let capabilities = ["SYS_PTRACE", "DAC_OVERRIDE", "KILL"];
            run_words(&["--rm"], &capabilities, &image, &ControlCommand::ShiftClock { process, seconds })
        });
        Ok(FaultCommands { begin, end })
    }

    /// Returns the commands that give this process of a container only `percent` of its processor time, and all of it again.
    ///
    /// # Errors
    /// Returns an error if the container doesn't run such a process, or the image of fleetdrill's program can't be built.
    pub(crate) async fn throttle(self, container: &str, percent: u8) -> Result<FaultCommands, ClusterError> {
        let image = program_image().await?;
        let process = self.on_machine(container).await?;
        let name = format!("{container}-throttle-{}", process.as_raw_nonzero());
        let options = ["--detach", "--rm", "--name", &name];
        let begin = run_words(&options, &["KILL"], &image, &ControlCommand::Throttle { process, percent });
        let end = [DOCKER.0, "stop", &name].map(str::to_owned).to_vec();
        Ok(FaultCommands { begin, end })
    }
}

/// Returns the command line that runs a command in a container of its own, with `docker` as its first word.
fn run_words(options: &[&str], capabilities: &[&str], image: &str, command: &ControlCommand) -> Vec<String> {
    // AppArmor's profile for containers forbids to read processes of others, and to send them signals.
    let fixed = ["--pid=host", "--network=none", "--user=0", "--cap-drop=ALL", "--security-opt=apparmor=unconfined"];
    let capabilities = capabilities.iter().map(|capability| format!("--cap-add={capability}"));
    let words = [DOCKER.0, "run"].iter().chain(options).chain(&fixed).map(|word| (*word).to_owned());
    let program = ["--entrypoint", PROGRAM, image].map(str::to_owned);
    words.chain(capabilities).chain(program).chain(command.words().into_iter().skip(1)).collect()
}

impl ContainerProcess<'_> {
    /// Returns the process's id on Docker's machine.
    async fn on_machine(self, container: &str) -> Result<Pid, ClusterError> {
        let command: Vec<&str> = match self {
            Self::First => vec!["inspect", "--format", "{{.State.Pid}}", container],
            Self::Of(_) => vec!["top", container, "-o", "pid,comm"],
        };
        let listed = DOCKER.run(&command, SHORT).await?;
        let found: Vec<Pid> = match self {
            Self::First => listed.trim().parse().ok().and_then(Pid::from_raw).into_iter().collect(),
            Self::Of(program) => processes_of(program, &listed),
        };
        match found[..] {
            [process] => Ok(process),
            _ => Err(ClusterError::Outside {
                command: std::iter::once(DOCKER.0).chain(command).map(str::to_owned).collect(),
                how: match self {
                    Self::First => "the container doesn't run".into(),
                    Self::Of(program) => format!("{} processes of {program} instead of one", found.len()),
                },
                said: listed,
            }),
        }
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
