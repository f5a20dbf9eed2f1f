//! The supervisor: the real program, which supervises a fleet's processes. The processes are shells here.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use clusters::error::ClusterError;
use clusters::supervisor::protocol::{FaultCommands, ProcessExit, ProcessSpec, ProcessStatus, ShutdownHook};
use clusters::supervisor::{SupervisorClient, SupervisorProgram};
use rustix::process::Signal;
use socket2::{Domain, Socket, Type};

use crate::cache::script;
use crate::place::{LIMIT, PROGRAM, Place, modes, until};
use crate::proc;
use crate::running::Running;

fn program() -> SupervisorProgram {
    SupervisorProgram(PathBuf::from(PROGRAM))
}

async fn supervisor(place: &Place) -> SupervisorClient {
    SupervisorClient::spawn(&program(), &place.state().join("fleet")).await.expect("a supervisor")
}

fn shell(name: &str, script: &str) -> ProcessSpec {
    let args = vec!["-c".into(), script.into()];
    ProcessSpec {
        name: name.into(),
        program: "/bin/sh".into(),
        args,
        env: vec![("GREETING".into(), "hello".into())],
        ..ProcessSpec::default()
    }
}

async fn status(supervisor: &SupervisorClient, name: &str) -> ProcessStatus {
    let processes = supervisor.processes().await.expect("an answer");
    processes.into_iter().find(|p| p.name == name).expect("it is known")
}

/// Waits for the first process that ended without having been stopped.
async fn exit(supervisor: &SupervisorClient) -> ProcessExit {
    let mut exits = supervisor.watch().await.expect("an answer");
    let exit = tokio::time::timeout(LIMIT, exits.wait_for(Option::is_some)).await.expect("in time").expect("told");
    exit.clone().expect("there is one")
}

#[tokio::test]
async fn a_process_starts_stops_and_starts_again() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "echo $GREETING $HOME $0; exec sleep 1000")).await.expect("starts");
    let first = status(&supervisor, "one").await.pid.expect("it runs");
    let refused = supervisor.start(shell("one", "true")).await.expect_err("it runs already").to_string();
    assert_eq!(refused, "the fleet's supervisor refused to start one: one runs already");

    // Two callers that stop a process at the same time both get an answer.
    let (a, b) = tokio::join!(supervisor.stop("one"), supervisor.stop("one"));
    a.and(b).expect("stopped");
    assert_eq!(status(&supervisor, "one").await, ProcessStatus { name: "one".into(), pid: None, exit: None });
    supervisor.stop("one").await.expect("no error when it doesn't run");
    assert!(!place.processes().iter().any(|(id, _)| *id == first));

    supervisor.start_again("one").await.expect("starts");
    assert_ne!(status(&supervisor, "one").await.pid.expect("it runs"), first);
    supervisor.stop("one").await.expect("stopped");
    supervisor.start_again_with("one", &["and more".to_owned()]).await.expect("starts");
    until("one's arguments", || supervisor.log_tail("one").ends_with(" and more").then_some(()));
    supervisor.remove("one").await.expect("removed");
    assert_eq!(supervisor.processes().await.expect("an answer"), []);
    for error in [supervisor.stop("one").await, supervisor.start_again("one").await, supervisor.remove("one").await] {
        let error = error.expect_err("unknown").to_string();
        assert!(error.ends_with("there is no process one"), "{error}");
    }
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn a_program_is_exchanged_with_the_arguments_that_it_has() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let other = PathBuf::from(script(&place, "other", "echo other $1 $3 $GREETING; exec sleep 1000"));
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    let first = status(&supervisor, "one").await.pid.expect("it runs");
    supervisor.stop("one").await.expect("stopped");
    supervisor.start_again_with("one", &["more".to_owned()]).await.expect("starts");
    supervisor.exchange_program("one", &other).await.expect("exchanged");
    assert_ne!(status(&supervisor, "one").await.pid.expect("it runs"), first);
    until("the arguments", || supervisor.log_tail("one").ends_with("other -c more hello").then_some(()));

    // A process that was stopped stays stopped, and starts with the new program.
    supervisor.stop("one").await.expect("stopped");
    supervisor.exchange_program("one", &PathBuf::from("/bin/echo")).await.expect("exchanged");
    assert_eq!(status(&supervisor, "one").await.pid, None);
    supervisor.start_again("one").await.expect("starts");
    until("the new program", || supervisor.log_tail("one").ends_with("-c exec sleep 1000 more").then_some(()));
    let error = supervisor.exchange_program("two", &other).await.expect_err("unknown").to_string();
    assert!(error.ends_with("there is no process two"), "{error}");
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn a_process_is_throttled_until_its_client_goes() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    let pid = status(&supervisor, "one").await.pid.expect("it runs");
    let error = supervisor.throttle("two", 1).await.expect_err("unknown").to_string();
    assert!(error.ends_with("there is no process two"), "{error}");

    let throttled = supervisor.throttle("one", 1).await.expect("throttled");
    until("a pause", || (proc::state(pid) == Some('T')).then_some(()));
    drop(throttled);
    // It is paused for 99 ms of each 100 ms; it isn't any more if it isn't for several periods.
    until("the end of all pauses", || {
        let runs = |_| {
            std::thread::sleep(Duration::from_millis(20));
            proc::state(pid).is_some_and(|state| state != 'T')
        };
        (0..20).all(runs).then_some(())
    });

    // A process that is paused can be stopped, and its successor isn't throttled.
    let throttled = supervisor.throttle("one", 1).await.expect("throttled");
    supervisor.stop("one").await.expect("stopped");
    let error = supervisor.throttle("one", 1).await.expect_err("it doesn't run").to_string();
    assert!(error.ends_with("one doesn't run"), "{error}");
    supervisor.start_again("one").await.expect("starts");
    let pid = status(&supervisor, "one").await.pid.expect("it runs");
    assert_ne!(proc::state(pid), Some('T'));
    drop(throttled);
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn a_process_that_gets_no_time_hangs_until_its_client_goes() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    let pid = status(&supervisor, "one").await.pid.expect("it runs");
    let hung = supervisor.throttle("one", 0).await.expect("paused");
    until("the pause", || (proc::state(pid) == Some('T')).then_some(()));
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(proc::state(pid), Some('T'));
    drop(hung);
    until("the end of the pause", || proc::state(pid).filter(|state| *state != 'T').map(drop));
    // A process that hangs can be stopped.
    let _hung = supervisor.throttle("one", 0).await.expect("paused");
    supervisor.stop("one").await.expect("stopped");
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn commands_of_a_fault_end_it_when_their_client_goes() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let file = place.state().join("fault");
    let sh = |script: &str| ["sh", "-c", script, "sh", &file.display().to_string()].map(str::to_owned).to_vec();
    let commands = |begin: &str| FaultCommands { begin: sh(begin), end: sh("rm \"$1\"") };
    let fault = supervisor.run_commands("it", commands("touch \"$1\"")).await.expect("begun");
    assert!(file.exists());
    drop(fault);
    until("the end of the fault", || (!file.exists()).then_some(()));

    // Who waits for the end is told if it fails.
    let fault = supervisor.run_commands("it", commands("touch \"$1\"")).await.expect("begun");
    fault.end().await.expect("ended");
    assert!(!file.exists());
    let fault = supervisor.run_commands("it", commands("true")).await.expect("begun");
    let error = fault.end().await.expect_err("no file").to_string();
    assert!(error.contains("end a fault") && error.contains("No such file"), "{error}");

    // What has begun halfway is ended, too.
    let halfway = commands("touch \"$1\"; echo no such container >&2; exit 3");
    let error = supervisor.run_commands("it", halfway).await.expect_err("it fails").to_string();
    assert!(error.contains("begin a fault of it") && error.ends_with("exit status: 3: no such container"), "{error}");
    until("the end of what had begun", || (!file.exists()).then_some(()));
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

/// Shell that prints its own clock, in seconds, again and again.
fn clock(name: &str) -> ProcessSpec {
    let script = "while :; do printf '%(%s)T\\n' -1; sleep 0.05; done";
    ProcessSpec { program: "/bin/bash".into(), ..shell(name, script) }
}

/// Seconds by which the clock that a process has printed last is ahead.
fn ahead(supervisor: &SupervisorClient, name: &str) -> Option<i64> {
    let log = supervisor.log_tail(name);
    let told: i64 = log.lines().last()?.parse().ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("after 1970").as_secs();
    Some(told - i64::try_from(now).expect("before the year 292277026596"))
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[tokio::test]
async fn the_clock_of_a_process_is_shifted_until_its_client_goes() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(clock("one")).await.expect("starts");
    supervisor.start(clock("other")).await.expect("starts");
    let error = supervisor.shift_clock("two", 600).await.expect_err("unknown").to_string();
    assert!(error.ends_with("there is no process two"), "{error}");
    let is = |name: &str, seconds: i64| ahead(&supervisor, name).filter(|ahead| (ahead - seconds).abs() < 60).map(drop);

    let early = supervisor.shift_clock("one", 600).await.expect("shifted");
    until("a clock that is ahead", || is("one", 600));
    until("a clock that nobody has touched", || is("other", 0));
    // A later shift replaces an earlier one, whose end changes nothing.
    let late = supervisor.shift_clock("one", -3600).await.expect("shifted");
    drop(early);
    until("a clock that is behind", || is("one", -3600));
    std::thread::sleep(Duration::from_millis(200));
    until("the same clock", || is("one", -3600));
    // The next process of the name has it, too.
    supervisor.stop("one").await.expect("stopped");
    let error = supervisor.shift_clock("one", 600).await.expect_err("it doesn't run").to_string();
    assert!(error.ends_with("one doesn't run"), "{error}");
    std::fs::write(supervisor.log("one"), "").expect("an empty log");
    supervisor.start_again("one").await.expect("starts");
    until("a clock that is behind again", || is("one", -3600));
    drop(late);
    until("the machine's clock", || is("one", 0));

    // A process that hangs goes on hanging.
    let hung = supervisor.throttle("one", 0).await.expect("paused");
    let pid = status(&supervisor, "one").await.pid.expect("it runs");
    until("the pause", || (proc::state(pid) == Some('T')).then_some(()));
    let _shifted = supervisor.shift_clock("one", 600).await.expect("shifted");
    assert_eq!(proc::state(pid), Some('T'));
    drop(hung);
    until("a clock that is ahead", || is("one", 600));
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn what_a_machine_has_once_is_one_fleet_s_until_that_ends() {
    let (place, other_place) = (Place::new(), Place::new());
    let (first, second) = (supervisor(&place).await, supervisor(&other_place).await);
    let what = format!("test-{}", std::process::id());
    first.claim(&what, Duration::ZERO).await.expect("free");
    let error = second.claim(&what, Duration::from_millis(100)).await.expect_err("the first fleet's").to_string();
    assert!(error.ends_with(&format!("another fleet has {what}")), "{error}");
    first.end().await.expect("ends");
    second.claim(&what, Duration::from_secs(5)).await.expect("free again");
    second.end().await.expect("ends");
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// A shutdown hook that appends its name to the file `ended`.
fn shutdown_hook(place: &Place, name: &str) -> ShutdownHook {
    let script = format!("echo {name} >> {}", place.path("ended").display());
    ShutdownHook { name: name.into(), command: sh(&script), left: Vec::new() }
}

#[tokio::test]
async fn what_is_no_process_of_its_own_is_ended_by_commands() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    for name in ["hub", "member-1", "member-1"] {
        supervisor.at_end(shutdown_hook(&place, name)).await.expect("noted");
    }
    let none = ShutdownHook { command: vec!["no-such-program".into()], ..shutdown_hook(&place, "none") };
    supervisor.at_end(none).await.expect("noted");
    // An object that appears later is removed, too: the supervisor runs the command until nothing is left.
    let (ended, late) = (place.path("ended").display().to_string(), place.path("late").display().to_string());
    std::fs::write(place.path("late"), "").expect("written");
    let slow = format!("test -e {late}.seen && rm -f {late}; touch {late}.seen; echo slow >> {ended}");
    let left = sh(&format!("ls {late}"));
    supervisor.at_end(ShutdownHook { name: "slow".into(), command: sh(&slow), left }).await.expect("noted");
    supervisor.at_end(shutdown_hook(&place, "gone-before")).await.expect("noted");
    supervisor.not_at_end("gone-before").await.expect("forgotten");
    assert!(!place.path("ended").exists());
    // Dropping the last owner waits for the shutdown hooks.
    drop(supervisor);
    let ended = std::fs::read_to_string(place.path("ended")).expect("written");
    let mut ended: Vec<&str> = ended.lines().collect();
    ended.sort_unstable();
    assert_eq!(ended, ["hub", "member-1", "slow", "slow"]);
    place.nothing_is_left();
}

#[tokio::test]
async fn a_process_that_dies_is_told_with_its_last_lines() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("steady", "exec sleep 1000")).await.expect("starts");
    supervisor.start(shell("broken", "echo it is $GREETING; echo and an error >&2; exit 3")).await.expect("starts");
    let expected =
        ProcessExit { name: "broken".into(), status: "exit status: 3".into(), log: "it is hello\nand an error".into() };
    assert_eq!(exit(&supervisor).await, expected);
    assert_eq!(exit(&supervisor).await, expected, "who asks later hears it, too");
    assert_eq!(status(&supervisor, "broken").await.exit.as_deref(), Some("exit status: 3"));
    assert_eq!(supervisor.log_tail("broken"), "it is hello\nand an error");

    supervisor.start(shell("missing", "exec /no/such/program")).await.expect("the shell starts");
    supervisor
        .start(ProcessSpec { program: "/no/such/program".into(), ..shell("absent", "") })
        .await
        .expect("is tried");
    for (name, words) in [("missing", "not found"), ("absent", "error: failed to start /no/such/program: No such file")]
    {
        until(name, || supervisor.log_tail(name).contains(words).then_some(()));
    }
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn only_the_last_lines_are_told() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("chatty", "for n in $(seq 5000); do echo line $n; done; exit 1")).await.expect("starts");
    let log = exit(&supervisor).await.log;
    assert_eq!(log.lines().count(), 15);
    assert_eq!(log.lines().last(), Some("line 5000"));
}

#[tokio::test]
async fn what_a_process_started_ends_with_it() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let sleepers = || place.processes().iter().filter(|(_, line)| line.starts_with("sleep ")).count();
    supervisor.start(shell("parent", "sleep 1000 & sleep 1000 & wait")).await.expect("starts");
    until("its children run", || (sleepers() == 2).then_some(()));
    supervisor.stop("parent").await.expect("stops");
    until("its children end", || (sleepers() == 0).then_some(()));

    supervisor.start(shell("leaver", "sleep 1000 & exit 0")).await.expect("starts");
    assert_eq!(exit(&supervisor).await.status, "exit status: 0");
    until("what it left behind ends", || (sleepers() == 0).then_some(()));
}

#[tokio::test]
async fn a_fleet_ends_with_its_owner() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("parent", "sleep 1000 & exec sleep 1000")).await.expect("starts");
    supervisor.start(shell("stubborn", "trap '' TERM INT HUP; sleep 1000; sleep 1000")).await.expect("starts");
    supervisor.start(shell("dead", "exit 1")).await.expect("starts");
    drop(supervisor);
    place.soon_nothing_is_left();
}

#[tokio::test]
async fn a_fleet_that_is_kept_outlives_its_owner() {
    let place = Place::new();
    let owner = supervisor(&place).await;
    owner.start(shell("one", "exec sleep 1000")).await.expect("starts");
    owner.keep().await.expect("kept");
    let dir = owner.dir().to_owned();
    drop(owner);
    let visitor = SupervisorClient::connect(&dir).expect("it is there");
    assert!(status(&visitor, "one").await.pid.is_some());
    visitor.start(shell("two", "exec sleep 1000")).await.expect("starts");
    drop(visitor.clone());
    assert_eq!(visitor.processes().await.expect("an answer").len(), 2);
    visitor.end().await.expect("ends");
    place.soon_nothing_is_left();
    assert!(matches!(SupervisorClient::connect(&dir), Err(ClusterError::NoSuchFleet(name)) if name == "fleet"));
}

#[tokio::test]
async fn processes_die_with_a_supervisor_that_is_killed() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    supervisor.start(shell("two", "exec sleep 1000")).await.expect("starts");
    let mut exits = supervisor.watch().await.expect("an answer");
    proc::kill(place.process("supervisor serve"), Signal::KILL);
    let told = tokio::time::timeout(LIMIT, exits.wait_for(Option::is_some)).await.expect("in time").expect("told");
    assert_eq!(told.as_ref().map(|exit| exit.name.as_str()), Some("supervisor"));
    until("its processes die", || place.processes().is_empty().then_some(()));
    assert!(supervisor.processes().await.is_err());
    assert_eq!(place.run(["status"]).expect(0, &[]).stdout, "no fleet is up\n");
    place.nothing_is_left();
}

#[tokio::test]
async fn signals_end_a_supervisor_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let supervisor = supervisor(&place).await;
        supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
        let id = place.process("supervisor serve");
        // SIGHUP of a closed terminal doesn't concern the supervisor, only its owner.
        proc::kill(id, Signal::HUP);
        assert!(status(&supervisor, "one").await.pid.is_some());
        proc::kill(id, signal);
        place.soon_nothing_is_left();
    }
}

#[tokio::test]
async fn a_supervisor_that_is_paused_is_named_and_ends() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    supervisor.keep().await.expect("kept");
    drop(supervisor);
    let id = place.process("supervisor serve");
    proc::kill(id, Signal::STOP);
    let named = format!("the fleet's supervisor (process {id}) doesn't answer within 30 s");
    place.run(["status"]).expect(3, &[&named, &format!("kill -CONT {id}"), "fleetdrill down NAME"]);
    place.run(["down", "fleet"]).expect(0, &["fleet `fleet` ended"]);
    place.nothing_is_left();
}

#[tokio::test]
async fn a_supervisor_that_is_paused_ends_with_its_owner() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor.start(shell("one", "exec sleep 1000")).await.expect("starts");
    proc::kill(place.process("supervisor serve"), Signal::STOP);
    drop(supervisor);
    place.nothing_is_left();
}

#[tokio::test]
async fn a_client_that_has_gone_leaves_no_connection() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let descriptors = format!("/proc/{}/fd", place.process("supervisor serve"));
    let count = || std::fs::read_dir(&descriptors).map_or(0, Iterator::count);
    // `watch` keeps its connection for as long as its runtime lives.
    let watch = || {
        let dir = supervisor.dir().to_owned();
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
            runtime.block_on(async {
                let visitor = SupervisorClient::connect(&dir).expect("it is there");
                let exits = visitor.watch().await.expect("an answer");
                // The supervisor handles requests in their order.
                visitor.processes().await.expect("an answer");
                drop(exits);
            });
        })
        .join()
        .expect("it watches");
    };
    let before = count();
    for _ in 0..20 {
        watch();
    }
    until("the connections are closed", || (count() <= before).then_some(()));
    supervisor.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn reserved_ports_are_the_fleets_alone() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let mut ports = supervisor.reserve::<40>().await.expect("ports").to_vec();
    ports.extend(supervisor.reserve::<10>().await.expect("ports"));
    let listen = |port: u16, share: bool| {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).expect("a socket");
        socket.set_reuse_port(share).expect("set");
        socket.bind(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)).into()).and_then(|()| socket.listen(1))
    };
    for port in &ports {
        listen(*port, true).expect("whoever shares it may listen");
        listen(*port, false).expect_err("nobody else may");
    }
    let count = ports.len();
    ports.sort_unstable();
    ports.dedup();
    assert_eq!(ports.len(), count, "each is given once");
}

#[tokio::test]
async fn a_directory_has_one_supervisor() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    let second = SupervisorClient::spawn(&program(), supervisor.dir()).await;
    assert!(matches!(&second, Err(ClusterError::FleetExists(name)) if name == "fleet"), "{second:?}");
    let output = Command::new(PROGRAM).args(["supervisor", "serve"]).arg(supervisor.dir()).output().expect("starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another supervisor holds this fleet"));
    assert_eq!(supervisor.processes().await.expect("the first still answers"), []);
}

#[tokio::test]
async fn a_supervisor_that_can_not_start_leaves_nothing() {
    let place = Place::new();
    let error = SupervisorClient::spawn(&SupervisorProgram("/no/such/program".into()), &place.state().join("fleet"))
        .await
        .expect_err("none");
    assert!(error.to_string().contains("/no/such/program"), "{error}");
    let error = SupervisorClient::spawn(&SupervisorProgram("/bin/false".into()), &place.state().join("fleet"))
        .await
        .expect_err("none");
    assert!(error.to_string().contains("it didn't start"), "{error}");
    // The path of a Unix socket can't be long.
    let error = SupervisorClient::spawn(&program(), &place.state().join("f".repeat(120))).await.expect_err("none");
    assert!(
        fleetdrill::hints::for_cluster(&error)
            .is_some_and(|hint| hint.contains("set FLEETDRILL_STATE_DIR to a shorter one")),
        "{error}"
    );
    place.nothing_is_left();
}

#[tokio::test]
async fn nobody_else_can_read_what_a_supervisor_writes() {
    let place = Place::new();
    let supervisor = supervisor(&place).await;
    supervisor
        .start(shell("one", "echo secret; echo secret > file; mkdir dir; exec sleep 1000"))
        .await
        .expect("starts");
    until("its files are there", || supervisor.dir().join("dir").exists().then_some(()));
    let open: Vec<_> = modes(supervisor.dir()).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
    assert_eq!(open, []);
}

#[test]
fn only_what_dead_fleets_left_is_removed() {
    let place = Place::new();
    let file = |path: &str, text: &str, age: u64| {
        let path = place.state().join(path);
        std::fs::create_dir_all(path.parent().expect("has one")).expect("made");
        std::fs::write(&path, text).expect("written");
        let time = SystemTime::now() - Duration::from_secs(age);
        std::fs::File::options().write(true).open(&path).and_then(|f| f.set_modified(time)).expect("set");
    };
    file("dead/keeper.lock", "4711\n", 0);
    file("dead/pki/ca.key", "secret", 0);
    file("unborn/keeper.lock", "", 3600);
    file(".new-1/keeper.lock", "", 3600);
    file("letters/to-my-love.txt", "dear", 3600);
    std::fs::create_dir(place.state().join("empty")).expect("made");
    assert_eq!(place.run(["status"]).expect(0, &[]).stdout, "no fleet is up\n");
    place.run(["down", "--all"]).expect(0, &["no fleet is up"]);
    let mut left = place.left();
    left.sort();
    assert_eq!(left, ["empty", "letters"].map(|name| place.state().join(name).display().to_string()));
    assert!(place.state().join("letters/to-my-love.txt").exists());
}

/// A killed process releases its lock last: for a moment, a fleet without a supervisor looks as if it had one.
#[test]
fn what_a_dying_supervisor_still_holds_is_removed() {
    let place = Place::new();
    let fleet = place.state().join("dying");
    std::fs::create_dir_all(&fleet).expect("made");
    let mut zombie = Command::new("true").spawn().expect("starts");
    let line = format!("/proc/{}/cmdline", zombie.id());
    until("it is a zombie", || std::fs::read(&line).is_ok_and(|line| line.is_empty()).then_some(()));
    let lock = fleet.join("keeper.lock");
    std::fs::write(&lock, format!("{}\n", zombie.id())).expect("written");
    let lock = std::fs::File::open(&lock).expect("opened");
    lock.lock().expect("locked");
    let status = Running::start(&mut place.command(["status"]));
    std::thread::sleep(Duration::from_millis(500));
    drop(lock);
    assert_eq!(status.end().expect(0, &[]).stdout, "no fleet is up\n");
    place.nothing_is_left();
    zombie.wait().expect("it is reaped");
}
