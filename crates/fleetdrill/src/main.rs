//! The `fleetdrill` command: converts a command's result to an exit code. All other code is in the library.

use std::process::ExitCode;

use fleetdrill::config::Invocation;
use fleetdrill::config::configuration::ConfigSources;
use fleetdrill::{commands, kubectl_completion};
use report::text::stdout;
use rustix::fs::Mode;

fn main() -> ExitCode {
    // Whatever this process and its children write, other users can't change it: programs are started from the cache.
    let umask = rustix::process::umask(Mode::WOTH);
    rustix::process::umask(umask | Mode::WOTH);
    // By another name, this program completes commands for kubectl.
    let mut words = std::env::args_os();
    if kubectl_completion::is_requested(words.next().as_deref()) {
        stdout::print_text(&kubectl_completion::completions(&words.collect::<Vec<_>>()));
        return ExitCode::SUCCESS;
    }
    // This program is also the supervisor, the admission webhook, the git server and the hollow members' agents that a supervisor runs, and a
    // container's init process. They have runtimes of their own, and no command line for people.
    let args: Vec<String> = std::env::args().skip(1).collect();
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["supervisor", "serve", dir] => return clusters::supervisor::serve(dir.as_ref()),
        ["contained", list] => return clusters::docker::run_inside(list.as_ref()),
        ["container-control", ..] => return clusters::docker::control_inside(&args[1..]),
        ["supervisor", "exec", ..] => return clusters::supervisor::exec(&args[2..]),
        ["webhook", "serve", ..] => return fleet::webhook::serve(&args[2..]),
        ["git", "serve", ..] => return fleet::git_server::serve(&args[2..]),
        ["git", "serve-pods", ..] => return fleet::git_server::serve_pods(&args[2..]),
        #[cfg(feature = "ssh")]
        ["git", "serve-ssh", ..] => return fleet::git_server::serve_ssh(&args[2..]),
        ["hollow", "serve", ..] => return fleet::hollow::serve(&args[2..]),
        _ => {}
    }
    let line: Vec<_> = std::env::args_os().collect();
    let invocation = match Invocation::parse(&line, &ConfigSources::of_process()) {
        Ok(invocation) => invocation,
        Err(error) => return commands::print_refusal(error).into(),
    };
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => {
            report::stderr_line!("error: failed to start: {error}");
            return ExitCode::from(3);
        }
    };
    let exit = runtime.block_on(commands::execute(invocation));
    // A thread that still reads must not keep the command from ending.
    runtime.shutdown_background();
    exit.into()
}
