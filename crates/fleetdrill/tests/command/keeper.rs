//! The keeper: the real program in its role of holding a fleet's processes, which here are shells.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, SystemTime};

use clusters::error::ClusterError;
use clusters::keeper::protocol::{Exit, Farewell, ProcessSpec, ProcessStatus};
use clusters::keeper::{Keeper, Program};
use rustix::process::Signal;
use socket2::{Domain, Socket, Type};

use crate::place::{LIMIT, PROGRAM, Place, modes, until};
use crate::proc;
use crate::running::Running;

fn program() -> Program {
    Program(PathBuf::from(PROGRAM))
}

async fn keeper(place: &Place) -> Keeper {
    Keeper::spawn(&program(), &place.state().join("fleet")).await.expect("a keeper")
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

async fn status(keeper: &Keeper, name: &str) -> ProcessStatus {
    let processes = keeper.processes().await.expect("an answer");
    processes.into_iter().find(|p| p.name == name).expect("it is known")
}

/// The next process that ends by itself.
async fn exit(keeper: &Keeper) -> Exit {
    let mut exits = keeper.watch().await.expect("an answer");
    let exit = tokio::time::timeout(LIMIT, exits.wait_for(Option::is_some)).await.expect("in time").expect("told");
    exit.clone().expect("there is one")
}

#[tokio::test]
async fn a_process_starts_stops_and_starts_again() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("one", "echo $GREETING $HOME $0; exec sleep 1000")).await.expect("starts");
    let first = status(&keeper, "one").await.pid.expect("it runs");
    let refused = keeper.start(shell("one", "true")).await.expect_err("it runs already").to_string();
    assert_eq!(refused, "the fleet's keeper refused to start one: one runs already");

    // Two who stop it at once both hear of it.
    let (a, b) = tokio::join!(keeper.stop("one"), keeper.stop("one"));
    a.and(b).expect("stopped");
    assert_eq!(status(&keeper, "one").await, ProcessStatus { name: "one".into(), pid: None, exit: None });
    keeper.stop("one").await.expect("no error when it doesn't run");
    assert!(!place.processes().iter().any(|(id, _)| *id == first));

    keeper.start_again("one").await.expect("starts");
    assert_ne!(status(&keeper, "one").await.pid.expect("it runs"), first);
    keeper.stop("one").await.expect("stopped");
    keeper.start_again_with("one", &["and more".to_owned()]).await.expect("starts");
    until("one's arguments", || keeper.log_tail("one").ends_with(" and more").then_some(()));
    keeper.remove("one").await.expect("removed");
    assert_eq!(keeper.processes().await.expect("an answer"), []);
    for error in [keeper.stop("one").await, keeper.start_again("one").await, keeper.remove("one").await] {
        let error = error.expect_err("unknown").to_string();
        assert!(error.ends_with("there is no process one"), "{error}");
    }
    keeper.end().await.expect("ends");
    place.nothing_is_left();
}

fn sh(script: &str) -> Vec<String> {
    ["sh", "-c", script].map(str::to_owned).to_vec()
}

/// What writes a line to a file at the end, by its name.
fn farewell(place: &Place, name: &str) -> Farewell {
    let script = format!("echo {name} >> {}", place.path("ended").display());
    Farewell { name: name.into(), command: sh(&script), left: Vec::new() }
}

#[tokio::test]
async fn what_is_no_process_of_its_own_is_ended_by_commands() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("one", "exec sleep 1000")).await.expect("starts");
    for name in ["hub", "member-1", "member-1"] {
        keeper.at_end(farewell(&place, name)).await.expect("noted");
    }
    let none = Farewell { command: vec!["no-such-program".into()], ..farewell(&place, "none") };
    keeper.at_end(none).await.expect("noted");
    // What comes a moment later goes as well.
    let (ended, late) = (place.path("ended").display().to_string(), place.path("late").display().to_string());
    std::fs::write(place.path("late"), "").expect("written");
    let slow = format!("test -e {late}.seen && rm -f {late}; touch {late}.seen; echo slow >> {ended}");
    let left = sh(&format!("ls {late}"));
    keeper.at_end(Farewell { name: "slow".into(), command: sh(&slow), left }).await.expect("noted");
    keeper.at_end(farewell(&place, "gone-before")).await.expect("noted");
    keeper.not_at_end("gone-before").await.expect("forgotten");
    assert!(!place.path("ended").exists());
    // Whoever lets go waits for it.
    drop(keeper);
    let ended = std::fs::read_to_string(place.path("ended")).expect("written");
    let mut ended: Vec<&str> = ended.lines().collect();
    ended.sort_unstable();
    assert_eq!(ended, ["hub", "member-1", "slow", "slow"]);
    place.nothing_is_left();
}

#[tokio::test]
async fn a_process_that_dies_is_told_with_its_last_lines() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("steady", "exec sleep 1000")).await.expect("starts");
    keeper.start(shell("broken", "echo it is $GREETING; echo and an error >&2; exit 3")).await.expect("starts");
    let expected =
        Exit { name: "broken".into(), status: "exit status: 3".into(), log: "it is hello\nand an error".into() };
    assert_eq!(exit(&keeper).await, expected);
    assert_eq!(exit(&keeper).await, expected, "who asks later hears it, too");
    assert_eq!(status(&keeper, "broken").await.exit.as_deref(), Some("exit status: 3"));
    assert_eq!(keeper.log_tail("broken"), "it is hello\nand an error");

    keeper.start(shell("missing", "exec /no/such/program")).await.expect("the shell starts");
    keeper.start(ProcessSpec { program: "/no/such/program".into(), ..shell("absent", "") }).await.expect("is tried");
    for (name, words) in [("missing", "not found"), ("absent", "error: failed to start /no/such/program: No such file")]
    {
        until(name, || keeper.log_tail(name).contains(words).then_some(()));
    }
    keeper.end().await.expect("ends");
    place.nothing_is_left();
}

#[tokio::test]
async fn only_the_last_lines_are_told() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("chatty", "for n in $(seq 5000); do echo line $n; done; exit 1")).await.expect("starts");
    let log = exit(&keeper).await.log;
    assert_eq!(log.lines().count(), 15);
    assert_eq!(log.lines().last(), Some("line 5000"));
}

#[tokio::test]
async fn what_a_process_started_ends_with_it() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    let sleepers = || place.processes().iter().filter(|(_, line)| line.starts_with("sleep ")).count();
    keeper.start(shell("parent", "sleep 1000 & sleep 1000 & wait")).await.expect("starts");
    until("its children run", || (sleepers() == 2).then_some(()));
    keeper.stop("parent").await.expect("stops");
    until("its children end", || (sleepers() == 0).then_some(()));

    keeper.start(shell("leaver", "sleep 1000 & exit 0")).await.expect("starts");
    assert_eq!(exit(&keeper).await.status, "exit status: 0");
    until("what it left behind ends", || (sleepers() == 0).then_some(()));
}

#[tokio::test]
async fn a_fleet_ends_with_its_owner() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("parent", "sleep 1000 & exec sleep 1000")).await.expect("starts");
    keeper.start(shell("stubborn", "trap '' TERM INT HUP; sleep 1000; sleep 1000")).await.expect("starts");
    keeper.start(shell("dead", "exit 1")).await.expect("starts");
    drop(keeper);
    place.soon_nothing_is_left();
}

#[tokio::test]
async fn a_fleet_that_is_kept_outlives_its_owner() {
    let place = Place::new();
    let owner = keeper(&place).await;
    owner.start(shell("one", "exec sleep 1000")).await.expect("starts");
    owner.keep().await.expect("kept");
    let dir = owner.dir().to_owned();
    drop(owner);
    let visitor = Keeper::connect(&dir).expect("it is there");
    assert!(status(&visitor, "one").await.pid.is_some());
    visitor.start(shell("two", "exec sleep 1000")).await.expect("starts");
    drop(visitor.clone());
    assert_eq!(visitor.processes().await.expect("an answer").len(), 2);
    visitor.end().await.expect("ends");
    place.soon_nothing_is_left();
    assert!(matches!(Keeper::connect(&dir), Err(ClusterError::NoSuchFleet(name)) if name == "fleet"));
}

#[tokio::test]
async fn processes_die_with_a_keeper_that_is_killed() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("one", "exec sleep 1000")).await.expect("starts");
    keeper.start(shell("two", "exec sleep 1000")).await.expect("starts");
    let mut exits = keeper.watch().await.expect("an answer");
    proc::kill(place.process("keeper serve"), Signal::KILL);
    let told = tokio::time::timeout(LIMIT, exits.wait_for(Option::is_some)).await.expect("in time").expect("told");
    assert_eq!(told.as_ref().map(|exit| exit.name.as_str()), Some("keeper"));
    until("its processes die", || place.processes().is_empty().then_some(()));
    assert!(keeper.processes().await.is_err());
    assert_eq!(place.run(["status"]).expect(0, &[]).stdout, "no fleet is up\n");
    place.nothing_is_left();
}

#[tokio::test]
async fn signals_end_a_keeper_in_order() {
    for signal in [Signal::TERM, Signal::INT] {
        let place = Place::new();
        let keeper = keeper(&place).await;
        keeper.start(shell("one", "exec sleep 1000")).await.expect("starts");
        let id = place.process("keeper serve");
        // A terminal that closes is the owner's business.
        proc::kill(id, Signal::HUP);
        assert!(status(&keeper, "one").await.pid.is_some());
        proc::kill(id, signal);
        place.soon_nothing_is_left();
    }
}

#[tokio::test]
async fn reserved_ports_are_the_fleets_alone() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    let mut ports = keeper.reserve::<40>().await.expect("ports").to_vec();
    ports.extend(keeper.reserve::<10>().await.expect("ports"));
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
async fn a_directory_has_one_keeper() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    let second = Keeper::spawn(&program(), keeper.dir()).await;
    assert!(matches!(&second, Err(ClusterError::FleetExists(name)) if name == "fleet"), "{second:?}");
    let output = Command::new(PROGRAM).args(["keeper", "serve"]).arg(keeper.dir()).output().expect("starts");
    assert_eq!(output.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&output.stderr).contains("another keeper holds this fleet"));
    assert_eq!(keeper.processes().await.expect("the first still answers"), []);
}

#[tokio::test]
async fn a_keeper_that_can_not_start_leaves_nothing() {
    let place = Place::new();
    let error =
        Keeper::spawn(&Program("/no/such/program".into()), &place.state().join("fleet")).await.expect_err("none");
    assert!(error.to_string().contains("/no/such/program"), "{error}");
    let error = Keeper::spawn(&Program("/bin/false".into()), &place.state().join("fleet")).await.expect_err("none");
    assert!(error.to_string().contains("it didn't start"), "{error}");
    // Unix sockets have short names.
    let error = Keeper::spawn(&program(), &place.state().join("f".repeat(120))).await.expect_err("none");
    assert!(error.hint().is_some_and(|hint| hint.contains("set FLEETDRILL_STATE_DIR to a shorter one")), "{error}");
    place.nothing_is_left();
}

#[tokio::test]
async fn nobody_else_can_read_what_a_keeper_writes() {
    let place = Place::new();
    let keeper = keeper(&place).await;
    keeper.start(shell("one", "echo secret; echo secret > file; mkdir dir; exec sleep 1000")).await.expect("starts");
    until("its files are there", || keeper.dir().join("dir").exists().then_some(()));
    let open: Vec<_> = modes(keeper.dir()).into_iter().filter(|(_, mode)| mode & 0o077 != 0).collect();
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

/// A process that is killed lets go of its lock last: for a moment, a fleet without a keeper looks as if it had one.
#[test]
fn what_a_dying_keeper_still_holds_is_removed() {
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
