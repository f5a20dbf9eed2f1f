//! `fleetdrill toolchain`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clusters::stderr_line;
use clusters::toolchain::{Addition, Listed, Source, Toolchain as Cache};

use super::progress::Progress;
use crate::cli::{Format, Toolchain};
use crate::components::{self, Clusters, Extras};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::output::data;
use crate::output::stdout::stdout_line;

pub(super) async fn toolchain(command: Toolchain) -> Result<Exit, CommandError> {
    let cache = Cache::open(None)?;
    let progress = Progress::stderr();
    let build = |event| progress.build(&event);
    match command {
        Toolchain::List { output: Format::Text } => text(&cache.list()),
        Toolchain::List { output } => data::print(output, &cache.list()),
        Toolchain::Install { component: None, .. } => {
            components::ensure(None, &Clusters::Local, Extras { pods: true, argocd: None }, &build).await?;
            components::build_argocd(None, &build).await?;
            progress.finish();
            stderr_line!("all that fleets need is there, in {}", cache.cache_dir().display());
        }
        Toolchain::Install { component: Some(component), version } => {
            let version = match version {
                Some(version) => version,
                None => cache.default_version(&component)?.to_owned(),
            };
            let known = cache.list().into_iter().find(|l| l.component == component && l.version == version);
            let programs = known.map(|l| l.programs).unwrap_or_default();
            let names: Vec<&str> = programs.iter().map(String::as_str).collect();
            let installed = cache.ensure(&component, &version, &names, &build).await?;
            progress.finish();
            for path in names.iter().filter_map(|name| installed.program(name)) {
                stdout_line!("{}", path.display());
            }
        }
        Toolchain::Add { component, version, programs, crds, force } => {
            let addition = Addition { component, version, programs: pairs(&programs)?, crds, force };
            cache.add(&addition, &build).await?;
            progress.finish();
            let (component, version) = (addition.component, addition.version);
            stderr_line!("{component} {version} is registered: fleetdrill run --{component} {version}");
        }
        Toolchain::Remove { component, version } => {
            let freed = cache.remove(&component, &version, &build).await?;
            progress.finish();
            stderr_line!("{component} {version} removed, {} MiB freed", freed >> 20);
        }
    }
    Ok(Exit::Fine)
}

fn pairs(programs: &[String]) -> Result<BTreeMap<String, PathBuf>, CommandError> {
    let pair = |text: &String| match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), PathBuf::from(path))),
        _ => Err(CommandError::Usage {
            message: format!("`{text}` doesn't name a program"),
            hint: Some("write it as NAME=FILE, e.g. hub-agent=./bin/hub-agent".into()),
        }),
    };
    programs.iter().map(pair).collect()
}

fn text(listed: &[Listed]) {
    for one in listed {
        let default = if one.default { ", the default" } else { "" };
        let source = if one.source == Source::Added { "added" } else { "can be built" };
        let there = match one.installed.len() {
            0 => "not in the cache".to_owned(),
            n => format!("{n} of {} programs in the cache, {} MiB", one.programs.len(), one.size >> 20),
        };
        stdout_line!("{:<11} {:<9} {source}{default}; {there}", one.component, one.version);
    }
}
