//! Client of Toxiproxy's API (v2.5.0), as far as routes need it.

use std::net::SocketAddr;

use http::{Method, Request, StatusCode, header};
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper_util::client::legacy::Client;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use serde_json::{Value, json};

use super::fault::NetworkFault;
use crate::error::FleetError;

/// Client of a Toxiproxy on loopback.
pub(super) struct ToxiproxyClient {
    address: String,
    client: Client<HttpConnector, Full<Bytes>>,
}

impl ToxiproxyClient {
    /// Client of the Toxiproxy whose API has this port.
    pub(super) fn new(port: u16) -> Self {
        Self { address: format!("http://127.0.0.1:{port}"), client: Client::builder(TokioExecutor::new()).build_http() }
    }

    /// Creates a proxy that listens at an address of this machine.
    pub(super) async fn create(&self, name: &str, listen: SocketAddr, upstream: &str) -> Result<(), FleetError> {
        let proxy = json!({
            "name": name, "listen": listen.to_string(), "upstream": upstream, "enabled": true,
        });
        self.ask(Method::POST, "/proxies", Some(&proxy)).await.map(drop)
    }

    /// Adds the toxics of a fault to a proxy, or disables the proxy.
    pub(super) async fn break_proxy(&self, name: &str, fault: NetworkFault) -> Result<(), FleetError> {
        if fault == NetworkFault::Refuses {
            return self.enable(name, false).await;
        }
        for toxic in fault.toxics() {
            self.ask(Method::POST, &format!("/proxies/{name}/toxics"), Some(&toxic)).await?;
        }
        Ok(())
    }

    /// Removes all toxics from a proxy, and enables it.
    pub(super) async fn repair(&self, name: &str) -> Result<(), FleetError> {
        let proxy = self.ask(Method::GET, &format!("/proxies/{name}"), None).await?;
        for toxic in proxy["toxics"].as_array().into_iter().flatten().filter_map(|toxic| toxic["name"].as_str()) {
            self.ask(Method::DELETE, &format!("/proxies/{name}/toxics/{toxic}"), None).await?;
        }
        if proxy["enabled"].as_bool() == Some(true) { Ok(()) } else { self.enable(name, true).await }
    }

    /// Repairs a proxy as [`Self::repair`] does, if there is one of this name.
    pub(super) async fn repair_if_there(&self, name: &str) -> Result<(), FleetError> {
        let proxies = self.ask(Method::GET, "/proxies", None).await?;
        if proxies.get(name).is_some() { self.repair(name).await } else { Ok(()) }
    }

    async fn enable(&self, name: &str, enabled: bool) -> Result<(), FleetError> {
        self.ask(Method::POST, &format!("/proxies/{name}"), Some(&json!({"enabled": enabled}))).await.map(drop)
    }

    /// Sends a request, and returns the answer's JSON; null if it has no body.
    async fn ask(&self, method: Method, path: &str, body: Option<&Value>) -> Result<Value, FleetError> {
        let what = format!("{method} {path} of Toxiproxy");
        let failed = |error: String| FleetError::unreadable(&what, error);
        let request = Request::builder()
            .method(&method)
            .uri(format!("{}{path}", self.address))
            .header(header::CONTENT_TYPE, "application/json")
            .body(Full::from(body.map(ToString::to_string).unwrap_or_default()))
            .map_err(|error| failed(error.to_string()))?;
        let answer = self.client.request(request).await.map_err(|error| failed(error.to_string()))?;
        let status = answer.status();
        let text = answer.into_body().collect().await.map_err(|error| failed(error.to_string()))?.to_bytes();
        if !status.is_success() {
            return Err(failed(format!("{status}: {}", String::from_utf8_lossy(&text).trim())));
        }
        if status == StatusCode::NO_CONTENT || text.is_empty() {
            return Ok(Value::Null);
        }
        serde_json::from_slice(&text).map_err(|error| failed(error.to_string()))
    }
}
