//! The process that plays the agents of hollow members.

use std::error::Error;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use clusters::cluster::HUB;
use clusters::{kubeconfig, stderr_line};
use futures::StreamExt as _;
use kube::config::Kubeconfig;
use kube::runtime::controller::{Action, Config, Error as ControllerError};
use kube::runtime::{Controller, watcher};
use kube::{Api, Client};

use super::agents::{Agents, RETRY};
use super::objects::InternalMember;
use super::work_objects::Work;
use super::{behaviour_file, heartbeats, works};

/// Number of requests that wait for an answer at the same time, at most: about heartbeats.
const HEARTBEATS_AT_ONCE: u16 = 16;

/// Number of requests that wait for an answer at the same time, at most: about Works. Each real agent makes one after the
/// other.
const WORKS_AT_ONCE: u16 = 32;

type HollowError = Box<dyn Error + Send + Sync>;

/// Plays the agents until the process is killed. `args` are the hub's kubeconfig and the fleet's directory.
#[must_use]
pub fn serve(args: &[String]) -> ExitCode {
    let [kubeconfig, dir] = args else {
        stderr_line!("error: hollow serve takes a kubeconfig and a directory");
        return ExitCode::from(2);
    };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let served = runtime.map_err(HollowError::from).and_then(|runtime| {
        let config = Kubeconfig::read_from(kubeconfig)?;
        runtime.block_on(async {
            let client = kubeconfig::client(config, HUB).await?;
            run(client, dir.into()).await;
            Ok(())
        })
    });
    match served {
        Ok(()) => stderr_line!("error: the watches of the hollow members have ended"),
        Err(error) => stderr_line!("error: the hollow members failed: {error}"),
    }
    ExitCode::from(3)
}

/// Runs both controllers of the agents.
async fn run(client: Client, dir: PathBuf) {
    let behaviours = behaviour_file::follow(dir);
    let agents = Arc::new(Agents::new(client.clone(), behaviours.clone()));
    let heartbeats = Controller::new(Api::<InternalMember>::all(client.clone()), watcher::Config::default())
        .with_config(Config::default().concurrency(HEARTBEATS_AT_ONCE))
        .reconcile_all_on(behaviour_file::changes(behaviours.clone()))
        .run(heartbeats::reconcile, |_, _, _| Action::requeue(RETRY), Arc::clone(&agents))
        .for_each(|done| async { log(done.err()) });
    let works = Controller::new(Api::<Work>::all(client), watcher::Config::default())
        .with_config(Config::default().concurrency(WORKS_AT_ONCE))
        .reconcile_all_on(behaviour_file::changes(behaviours))
        .run(works::reconcile, |_, _, _| Action::requeue(RETRY), agents)
        .for_each(|done| async { log(done.err()) });
    tokio::join!(heartbeats, works);
}

/// Logs an error, except for conflicts with the hub-agent's writes and objects that are gone: both are common.
fn log(error: Option<ControllerError<kube::Error, watcher::Error>>) {
    match error {
        None | Some(ControllerError::ObjectNotFound(_)) => {}
        Some(ControllerError::ReconcilerFailed(kube::Error::Api(status), _)) if status.is_conflict() => {}
        Some(error) => stderr_line!("{}", crate::error::in_full(&error)),
    }
}
