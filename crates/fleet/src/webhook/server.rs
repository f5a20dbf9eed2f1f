//! The webhook's server: HTTPS on loopback.

use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clusters::stderr_line;
use http::{Request, Response, StatusCode};
use http_body_util::{BodyExt, Full, Limited};
use hyper::body::{Bytes, Incoming};
use kube::api::DynamicObject;
use kube::core::admission::{AdmissionRequest, AdmissionReview};

use super::RequiredLabelRule;
use super::fleet_methods::rule_file;
use crate::local_server::{self, ServerError, serve_http, tls_acceptor};

/// Limit for the size of a request, in bytes. An admission review has an object twice at most, each of 3 MiB at most.
const QUESTION: usize = 8 << 20;

/// Serves the webhook until it is killed. `args` are port, certificate file, key file and the directory of rules.
#[must_use]
pub fn serve(args: &[String]) -> ExitCode {
    let [port, certificate, key, rules] = args else {
        stderr_line!("error: webhook serve takes a port, a certificate, a key and a directory of rules");
        return ExitCode::from(2);
    };
    local_server::run("admission webhook", async {
        let (port, tls) = (port.parse()?, tls_acceptor(certificate.as_ref(), key.as_ref())?);
        let rules = PathBuf::from(rules);
        let answer = move |request| {
            let rules = rules.clone();
            async move { answer(request, &rules).await }
        };
        serve_http(port, Some(tls), answer).await
    })
}

async fn answer(request: Request<Incoming>, rules: &Path) -> Result<Response<Full<Bytes>>, Infallible> {
    let path = request.uri().path().to_owned();
    let (status, text) = match reviewed(request, rules).await {
        Ok(text) => (StatusCode::OK, text),
        Err(error) => {
            stderr_line!("{path}: {error}");
            (StatusCode::BAD_REQUEST, error.to_string())
        }
    };
    let mut response = Response::new(Full::from(text));
    *response.status_mut() = status;
    Ok(response)
}

/// Answers an API server's admission review by the rule that the request's path names.
async fn reviewed(request: Request<Incoming>, rules: &Path) -> Result<String, ServerError> {
    let name = request.uri().path().trim_start_matches('/').to_owned();
    let file = rule_file(rules, &name)?;
    let text = tokio::fs::read_to_string(&file).await.map_err(|e| format!("there is no rule {name}: {e}"))?;
    let rule: RequiredLabelRule = serde_json::from_str(&text)?;
    let body = Limited::new(request.into_body(), QUESTION).collect().await?.to_bytes();
    let review: AdmissionReview<DynamicObject> = serde_json::from_slice(&body)?;
    let request: AdmissionRequest<DynamicObject> = review.try_into()?;
    let answer = rule.answer(&request);
    let said = if answer.allowed { "admitted" } else { "denied" };
    let namespace = request.namespace.as_deref().unwrap_or_default();
    stderr_line!("{name}: {:?} of {}/{namespace}/{} {said}", request.operation, request.kind.kind, request.name);
    Ok(serde_json::to_string(&answer.into_review())?)
}
