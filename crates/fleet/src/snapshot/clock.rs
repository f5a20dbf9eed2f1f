//! Clocks of the API servers. A heartbeat or a condition has the time of its cluster; the clock of the machine that runs
//! fleetdrill may differ.

use std::time::Duration;

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use kube::Client;
use kube::client::Body;
use tokio::time::timeout;

/// Time limit of the request. Without an answer the snapshot has no time for the cluster.
const LIMIT: Duration = Duration::from_secs(5);

/// Reads the time of a cluster's API server from the `Date` header of an answer, in whole seconds. Every user may ask for
/// the version.
pub(crate) async fn time(client: &Client) -> Option<Timestamp> {
    let request = http::Request::get("/version").body(Body::empty()).ok()?;
    let response = timeout(LIMIT, client.send(request)).await.ok()?.ok()?;
    parse(response.headers().get(http::header::DATE)?.to_str().ok()?)
}

/// Parses the value of a `Date` header, e.g. `Mon, 23 Nov 2026 23:15:06 GMT`.
fn parse(date: &str) -> Option<Timestamp> {
    rfc2822::parse(date).ok().map(|zoned| zoned.timestamp())
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_date_header_of_an_api_server_is_read() {
        let time = super::parse("Mon, 23 Nov 2026 23:15:06 GMT").map(|time| time.to_string());
        assert_eq!(time.as_deref(), Some("2026-11-23T23:15:06Z"));
        assert_eq!(super::parse("yesterday"), None);
    }
}
