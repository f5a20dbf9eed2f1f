//! Meaning of Go's output. Pure: lines go in, their meaning comes out.

use std::path::PathBuf;
use std::sync::LazyLock;

use regex::Regex;

/// Reason why a `go` command failed, as far as the output tells.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum GoFailure {
    /// The disk is full; with the file that couldn't be written, if it is named.
    DiskFull(Option<PathBuf>),
    Download,
    /// Go is too old; with the version that is needed, if it is named.
    TooOld(Option<String>),
    Other,
}

// Texts of the Go command and of the system calls that it makes, as in Go 1.21 to 1.26.
static DISK_FULL: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:(?:^|\s)(/[^:\s]*): )?(?:no space left on device|disk quota exceeded)"));
static TOO_OLD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"requires go >= (\S+)|invalid go version|unknown directive: (?:toolchain|tool)"));
static DOWNLOAD: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"dial tcp|no such host|i/o timeout|connection re(?:fused|set)|TLS handshake|x509:|unexpected EOF|\b[45]\d\d [A-Z]|(?:Get|reading) .?https?://|GOPROXY|checksum mismatch|SECURITY ERROR|missing go\.sum entry|unknown revision|cannot find module",
    )
});

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns above are valid")
}

/// Classifies a failed command by its output.
pub(crate) fn classify(lines: &[String]) -> GoFailure {
    // A full disk makes everything else fail too, so check for it first.
    if let Some(found) = lines.iter().find_map(|line| DISK_FULL.captures(line)) {
        return GoFailure::DiskFull(found.get(1).map(|path| path.as_str().into()));
    }
    if let Some(found) = lines.iter().find_map(|line| TOO_OLD.captures(line)) {
        return GoFailure::TooOld(found.get(1).map(|version| version.as_str().to_owned()));
    }
    // Compile errors quote source code, which may contain any text. Their first line has the package: `# k8s.io/api`.
    let compiled = lines.iter().any(|line| line.starts_with("# "));
    if !compiled && lines.iter().any(|line| DOWNLOAD.is_match(line)) {
        return GoFailure::Download;
    }
    GoFailure::Other
}

/// Returns the module and version in `go: downloading k8s.io/api v0.36.3`.
pub(crate) fn downloading(line: &str) -> Option<&str> {
    line.strip_prefix("go: downloading ")
}

/// Returns the last lines.
pub(crate) fn tail(lines: &[String], count: usize) -> Vec<String> {
    lines[lines.len().saturating_sub(count)..].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> GoFailure {
        classify(&text.lines().map(str::to_owned).collect::<Vec<_>>())
    }

    #[test]
    fn a_full_disk_is_found_with_its_file() {
        assert_eq!(
            of("k8s.io/api\nopen /home/u/.cache/go-build/aa/bb-d: no space left on device"),
            GoFailure::DiskFull(Some("/home/u/.cache/go-build/aa/bb-d".into()))
        );
        assert_eq!(
            of("/usr/local/go/pkg/tool/linux_amd64/link: mapping output file failed: no space left on device"),
            GoFailure::DiskFull(None)
        );
        assert_eq!(
            of("# k8s.io/api\ncompile: writing output: write $WORK/b001/_pkg_.a: no space left on device"),
            GoFailure::DiskFull(None)
        );
    }

    #[test]
    fn an_old_go_is_found_with_what_is_needed() {
        assert_eq!(
            of("go: go.mod requires go >= 1.26.0 (running go 1.23.1; GOTOOLCHAIN=local)"),
            GoFailure::TooOld(Some("1.26.0".into()))
        );
        assert_eq!(
            of("go: errors parsing go.mod:\n/w/go.mod:5: invalid go version '1.26.0': must match format 1.23"),
            GoFailure::TooOld(None)
        );
    }

    #[test]
    fn refused_downloads() {
        for text in [
            "go: k8s.io/api@v0.36.3: Get \"https://proxy.example/x\": dial tcp: lookup proxy.example: no such host",
            "go: example.com/x@v1.0.0: reading https://proxy.example.com/x: 403 Forbidden",
            "go: module lookup disabled by GOPROXY=off",
            "verifying k8s.io/api@v0.36.3: checksum mismatch\nSECURITY ERROR",
        ] {
            assert_eq!(of(text), GoFailure::Download, "{text}");
        }
    }

    #[test]
    fn a_compile_error_is_none_of_these() {
        assert_eq!(of("# example.com/x\n./a.go:3:2: undefined: dial tcp 404 Not"), GoFailure::Other);
    }

    #[test]
    fn downloads() {
        assert_eq!(downloading("go: downloading k8s.io/api v0.36.3"), Some("k8s.io/api v0.36.3"));
        assert_eq!(downloading("k8s.io/api"), None);
    }
}
