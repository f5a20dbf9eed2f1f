//! AR-RP: Argo CD can't read a source: the repository, its revision or path, a chart's registry, the repo-server itself, or a program
//! that it runs.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::json;

use super::application::ApplicationView;
use crate::object::text_field;
use crate::rules::code::RuleCode;
use crate::rules::draft::FindingDraft;
use crate::rules::message::{for_sentence, last_description};
use crate::rules::pattern::{group, pattern, pattern_of_any_case};
use crate::{Evidence, JsonRef};

/// Failure to read a source, as Argo CD's messages tell it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RepositoryFailure {
    /// The repository refuses who Argo CD is, or Argo CD has no credentials.
    Unauthenticated,
    /// The repository has no such branch, tag or commit.
    RevisionMissing,
    /// The commit has no such path.
    PathMissing,
    /// Argo CD doesn't trust who answers at the repository's address: not its certificate, or not its SSH host key.
    Untrusted,
    /// The repository can't be reached, or isn't there.
    Unreachable,
    /// The repo-server doesn't answer.
    RepoServerDown,
    /// The repo-server doesn't answer in time.
    RepoServerSlow,
    /// A program that the repo-server runs was killed.
    RendererKilled,
    /// The registry of a chart or of a chart's dependency can't be reached.
    Registry,
}

/// The status of the call of the repo-server. Errors of the repo-server itself follow with the code Unknown or Internal, and with
/// statuses of their own.
static CALL: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        r"source (?<source>\d+) of \d+: (?:failed to [^:]*: )?rpc error: code = (?<code>\w+) desc = (?<why>(?s:.*))",
    )
});
/// Stages in which only the repository that the Application names is read. A kustomization that names another repository fails later.
static GIT: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "failed to list refs: |failed to initialize repository resources: |Failed to fetch |Failed to checkout revision \
         |unable to resolve '[^']*' to a commit SHA|unable to resolve git revision",
    )
});
static PATH: LazyLock<Regex> = LazyLock::new(|| pattern(r"app path (?:does not exist|is not a directory)"));
static REVISION: LazyLock<Regex> = LazyLock::new(|| {
    pattern("unable to resolve '[^']*' to a commit SHA|couldn't find remote ref|not our ref|remote repository is empty")
});
static UNAUTHENTICATED: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        "authentication required|authorization failed|authentication failed|unable to authenticate|permission denied [(]publickey\
          |could not read (?:username|password)|returned error: 40[13]|ssh: no key found|error creating ssh agent",
    )
});
static NETWORK: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        "connection refused|connection reset|no such host|could not resolve host|no route to host|network is unreachable|i/o timeout\
          |handshake timeout|deadline exceeded|failed timeout after|: EOF|broken pipe|x509: |tls: |ssl certificate problem\
          |failed to connect to|could not connect",
    )
});
/// A certificate that isn't trusted, in the words of Go and of git.
static CERTIFICATE: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case(
        "x509: |ssl certificate problem|server certificate verification failed|certificate subject name",
    )
});
/// A host key that isn't known, or isn't the known one, in the words of Go and of ssh.
static SSH_HOST: LazyLock<Regex> = LazyLock::new(|| pattern_of_any_case("knownhosts: |host key verification failed"));
static NOT_THERE: LazyLock<Regex> = LazyLock::new(|| {
    pattern_of_any_case("repository not found|does not appear to be a git repository|unexpected client error")
});
/// Stages in which a registry is read: that of a chart, of an OCI artifact, or of a chart's dependency.
static REGISTRY: LazyLock<Regex> = LazyLock::new(|| {
    pattern(
        "error building helm chart dependencies: |error fetching chart: |error loading repo index: |error pulling OCI chart: \
         |unable to get tags: |error logging into OCI registry: |failed to resolve revision \"",
    )
});
/// End of a program that somebody else has killed. Argo CD ends a program that takes too long with `failed timeout after`.
static KILLED: LazyLock<Regex> = LazyLock::new(|| pattern("failed signal: killed"));
/// End of a call during which the repo-server went away, rather than before it.
static LOST: LazyLock<Regex> =
    LazyLock::new(|| pattern("error reading from server|transport is closing|connection reset"));
static CACHED: LazyLock<Regex> = LazyLock::new(|| pattern(r"Manifest generation error \(cached\)"));

/// What a message says of a source.
struct SourceError<'m> {
    failure: RepositoryFailure,
    /// Number of the source, from 1.
    source: usize,
    why: &'m str,
}

/// Reads the failure of a source from a message of Argo CD (v3.2 and v3.5).
fn read_failure(message: &str) -> Option<SourceError<'_>> {
    let call = CALL.captures(message)?;
    let why = group(&call, "why");
    let failure = match group(&call, "code") {
        "Unavailable" => RepositoryFailure::RepoServerDown,
        "DeadlineExceeded" => RepositoryFailure::RepoServerSlow,
        _ => failure_of_source(why)?,
    };
    let why = if failure == RepositoryFailure::RepoServerDown { why } else { last_description(why) };
    Some(SourceError { failure, source: group(&call, "source").parse().unwrap_or(1), why })
}

fn failure_of_source(why: &str) -> Option<RepositoryFailure> {
    if KILLED.is_match(why) {
        return Some(RepositoryFailure::RendererKilled);
    }
    if PATH.is_match(why) {
        return Some(RepositoryFailure::PathMissing);
    }
    if REGISTRY.is_match(why) {
        return NETWORK.is_match(why).then_some(RepositoryFailure::Registry);
    }
    if !GIT.is_match(why) {
        return None;
    }
    let kinds = [
        (&REVISION, RepositoryFailure::RevisionMissing),
        (&UNAUTHENTICATED, RepositoryFailure::Unauthenticated),
        (&CERTIFICATE, RepositoryFailure::Untrusted),
        (&SSH_HOST, RepositoryFailure::Untrusted),
        (&NETWORK, RepositoryFailure::Unreachable),
        (&NOT_THERE, RepositoryFailure::Unreachable),
    ];
    kinds.into_iter().find(|(pattern, _)| pattern.is_match(why)).map(|(_, failure)| failure)
}

/// Creates the finding for a comparison that failed because a source can't be read. `gone` is true if only the last operation has the
/// error.
pub(super) fn failed_comparison(
    application: ApplicationView<'_>,
    message: &str,
    gone: bool,
    mut evidence: Vec<Evidence>,
) -> Option<FindingDraft> {
    let error = read_failure(message)?;
    let (object, quote) = (application.object, application.quote());
    let several = object.list("/spec/sources");
    let (source, path) = match several.iter().nth(error.source.saturating_sub(1)) {
        Some(source) => (Some(source), format!("spec.sources[{}]", error.source - 1)),
        None => (object.at("/spec/source"), "spec.source".to_owned()),
    };
    let field = |name: &str| source.map_or("", |source: JsonRef<'_>| text_field(source, name));
    let (repository, code) = (field("repoURL"), code(error.failure));
    let wanted = match error.failure {
        RepositoryFailure::RevisionMissing => Some("targetRevision"),
        RepositoryFailure::PathMissing => Some("path"),
        RepositoryFailure::RepoServerDown | RepositoryFailure::RepoServerSlow | RepositoryFailure::RendererKilled => {
            None
        }
        _ => Some("repoURL"),
    };
    if let Some(wanted) = wanted {
        evidence.push(quote.text(object, &format!("{path}.{wanted}"), field(wanted).to_owned(), None));
    }
    let is_lost = error.failure == RepositoryFailure::RepoServerDown && LOST.is_match(error.why);
    let by_ssh = SSH_HOST.is_match(error.why);
    let names = json!({
        "why": for_sentence(error.why),
        "repository": repository,
        "host": host(repository),
        "ssh": by_ssh,
        "trust_config_map": if by_ssh { "argocd-ssh-known-hosts-cm" } else { "argocd-tls-certs-cm" },
        "source_field": path,
        "wanted_revision": field("targetRevision"),
        "wanted_path": field("path"),
        "gone": gone,
        "cached": CACHED.is_match(message),
        "lost": is_lost,
        "late": error.failure == RepositoryFailure::RepoServerSlow,
    });
    let draft = application.draft(code, &names, evidence);
    // The texts of a finding are those of its first Application. An error that has passed is told in other words.
    let cause = |what: &str| if gone { format!("{what} at the last sync") } else { what.to_owned() };
    Some(match error.failure {
        RepositoryFailure::Unauthenticated | RepositoryFailure::Untrusted | RepositoryFailure::Unreachable => {
            draft.common_cause(cause(repository))
        }
        RepositoryFailure::RepoServerDown if !is_lost => draft.common_cause(cause("repo-server")),
        // Another Application may want another revision or path, or have a chart with other dependencies. A render takes long, or
        // costs the repo-server its memory, for its own Application.
        _ => draft,
    })
}

fn code(failure: RepositoryFailure) -> RuleCode {
    match failure {
        RepositoryFailure::Unauthenticated => RuleCode::AR_RP_001,
        RepositoryFailure::RevisionMissing => RuleCode::AR_RP_002,
        RepositoryFailure::PathMissing => RuleCode::AR_RP_003,
        RepositoryFailure::Unreachable => RuleCode::AR_RP_004,
        RepositoryFailure::RepoServerDown | RepositoryFailure::RepoServerSlow => RuleCode::AR_RP_005,
        RepositoryFailure::RendererKilled => RuleCode::AR_RP_006,
        RepositoryFailure::Registry => RuleCode::AR_RP_007,
        RepositoryFailure::Untrusted => RuleCode::AR_RP_008,
    }
}

/// Returns the host in a repository's URL, or in ssh's shorter form `git@git.example.com:web.git`.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split('/').next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    host.split(':').next().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn the_host_is_read_from_each_form_of_a_url() {
        for url in [
            "https://git.example.com/web.git",
            "https://git.example.com:8443/web.git",
            "ssh://git@git.example.com:2222/web.git",
            "git@git.example.com:team/web.git",
        ] {
            assert_eq!(host(url), "git.example.com", "{url}");
        }
        assert_eq!(host(""), "");
    }
}
