//! `fleetdrill toolchain`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use report::stderr_line;
use report::stdout_line;
use toolchain::{ArchivedVersion, ImportedVersions, ListedVersion, VersionOrigin, VersionRegistration, is_url};

use crate::cli::{OutputFormat, ToolchainCommand};
use crate::command_progress::CommandProgress;
use crate::component_version::ArgoCdRequest;
use crate::components::{BuildSink, FleetToolchain};
use crate::error::CommandError;
use crate::exit::CommandExitCode;
use crate::fleet_source::{ClusterSource, FleetNeeds, FleetProgress as _};
use crate::output::data;

pub(super) async fn toolchain(command: ToolchainCommand) -> Result<CommandExitCode, CommandError> {
    let components = FleetToolchain::open()?;
    let cache = components.toolchain();
    let progress = CommandProgress::stderr();
    let build: BuildSink<'_> = &|event| progress.build(event);
    match command {
        ToolchainCommand::List { output: OutputFormat::Text } => text(&cache.list()),
        ToolchainCommand::List { output } => data::print(output, &cache.list()),
        ToolchainCommand::Install { component: None, .. } => {
            install_all(&components, build).await?;
            progress.finish();
            stderr_line!("all that fleets need is there, in {}", cache.cache_dir().display());
        }
        ToolchainCommand::Install { component: Some(component), version } => {
            let version = match version {
                Some(version) => version,
                None => cache.default_version(&component)?.to_owned(),
            };
            let known = cache.list().into_iter().find(|l| l.component == component && l.version == version);
            let programs = known.map(|l| l.programs).unwrap_or_default();
            let names: Vec<&str> = programs.iter().map(String::as_str).collect();
            let installed = cache.ensure(&component, &version, &names, build).await?;
            progress.finish();
            for path in names.iter().filter_map(|name| installed.program(name)) {
                stdout_line!("{}", path.display());
            }
        }
        ToolchainCommand::Add { component, version, programs, crds, force } => {
            let addition = VersionRegistration { component, version, programs: pairs(&programs)?, crds, force };
            cache.add(&addition, build).await?;
            progress.finish();
            let (component, version) = (addition.component, addition.version);
            stderr_line!("{component} {version} is registered: fleetdrill run --{component} {version}");
        }
        ToolchainCommand::Export { file, versions } => {
            let versions = if versions.is_empty() {
                default_versions(&cache.list())
            } else {
                versions.iter().map(|text| version(text)).collect::<Result<_, _>>()?
            };
            let exported = cache.export(&versions, &file, build).await?;
            progress.finish();
            for version in &exported {
                stdout_line!("{}", archived(version));
            }
            stderr_line!("{} is written: fleetdrill toolchain import {}", file.display(), file.display());
        }
        ToolchainCommand::Import { file, sha256 } => {
            let ImportedVersions { imported, left_out } = match file.to_str().filter(|text| is_url(text)) {
                Some(url) => cache.import_url(url, checksum(sha256.as_deref())?, build).await?,
                None => cache.import(&file, sha256.as_deref(), build).await?,
            };
            progress.finish();
            for version in &imported {
                stdout_line!("{}", archived(version));
            }
            for version in &left_out {
                stderr_line!("left out, because this fleetdrill uses another build: {}", archived(version));
            }
            if imported.is_empty() {
                let message = format!("{} has nothing that this fleetdrill uses", file.display());
                let hint = "write it again with this release: fleetdrill toolchain export FILE";
                return Err(CommandError::usage(message, Some(hint)));
            }
            stderr_line!("{} versions are in {}", imported.len(), cache.cache_dir().display());
        }
        ToolchainCommand::Remove { component, version } => {
            let freed = cache.remove(&component, &version, build).await?;
            progress.finish();
            stderr_line!("{component} {version} removed, {} MiB freed", freed >> 20);
        }
    }
    Ok(CommandExitCode::Fine)
}

/// Builds all that local fleets need.
async fn install_all(components: &FleetToolchain, sink: BuildSink<'_>) -> Result<(), CommandError> {
    // The shorter build comes first, so that its errors are reported at once and not after ten minutes.
    let agents = components.agents(&components.kubefleet(None)?, sink).await?;
    let needs = FleetNeeds { pods: true, network_faults: true, argocd: ArgoCdRequest::No };
    ClusterSource::Local.components(components, agents, &needs, sink).await?;
    // Without redis-server and git, which only fleets need.
    components.build_argocd(None, sink).await?;
    Ok(())
}

/// Returns the checksum of an archive that is downloaded.
fn checksum(sha256: Option<&str>) -> Result<&str, CommandError> {
    sha256.ok_or_else(|| {
        let hint = "give the checksum that the archive's owner has published: --sha256 HEX";
        CommandError::usage("an archive is downloaded only with its SHA-256", Some(hint))
    })
}

/// Returns the default versions of all components that are in the cache.
fn default_versions(listed: &[ListedVersion]) -> Vec<(String, String)> {
    let defaults = listed.iter().filter(|one| one.default && !one.installed.is_empty());
    defaults.map(|one| (one.component.clone(), one.version.clone())).collect()
}

/// Parses the name of a version.
fn version(text: &str) -> Result<(String, String), CommandError> {
    match text.split_once('=') {
        Some((component, version)) if !component.is_empty() && !version.is_empty() => {
            Ok((component.to_owned(), version.to_owned()))
        }
        _ => Err(CommandError::usage(
            format!("`{text}` doesn't name a version"),
            Some("write it as COMPONENT=VERSION, e.g. kubefleet=v0.1.2"),
        )),
    }
}

/// Returns a version with its size on one line.
fn archived(version: &ArchivedVersion) -> String {
    format!("{:<11} {:<9} {} MiB", version.component, version.version, version.size >> 20)
}

fn pairs(programs: &[String]) -> Result<BTreeMap<String, PathBuf>, CommandError> {
    programs.iter().map(|text| pair(text)).collect()
}

/// Parses a program's name and file.
fn pair(text: &str) -> Result<(String, PathBuf), CommandError> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), PathBuf::from(path))),
        _ => Err(CommandError::usage(
            format!("`{text}` doesn't name a program"),
            Some("write it as NAME=FILE, e.g. hub-agent=./bin/hub-agent"),
        )),
    }
}

fn text(listed: &[ListedVersion]) {
    for one in listed {
        let default = if one.default { ", the default" } else { "" };
        let source = if one.source == VersionOrigin::Added { "added" } else { "can be built" };
        let there = match one.installed.len() {
            0 => "not in the cache".to_owned(),
            n => format!("{n} of {} programs in the cache, {} MiB", one.programs.len(), one.size >> 20),
        };
        stdout_line!("{:<11} {:<9} {source}{default}; {there}", one.component, one.version);
    }
}
