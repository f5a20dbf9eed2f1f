//! Retries of requests that an API server refuses for a while: 429, 503 and 504.
//!
//! kube retries such a request as often as 15 times, and whoever sends it doesn't learn why its answer takes so long. A
//! sender that marks its request with [`SenderRetries`] gets the refusal instead.

use http::{Request, Response};
use kube::client::retry::RetryPolicy;
use kube::client::{Body, ClientBuilder};
use kube::{Client, Config};
use tower::BoxError;
use tower::buffer::BufferLayer;
use tower::retry::{Policy, RetryLayer};

use crate::answer_limit::AnswerLimitLayer;

/// Requests that may wait for a client's connection.
const WAITING: usize = 1024;

/// Extension of a request whose sender retries it: the client returns the first answer, whatever it is.
#[derive(Clone, Copy, Debug)]
pub struct SenderRetries;

/// kube's policy for all requests except those that [`SenderRetries`] marks.
#[derive(Clone)]
struct UnlessSenderRetries(RetryPolicy);

impl<B> Policy<Request<Body>, Response<B>, BoxError> for UnlessSenderRetries {
    type Future = tokio::time::Sleep;

    fn retry(
        &mut self,
        request: &mut Request<Body>,
        result: &mut Result<Response<B>, BoxError>,
    ) -> Option<Self::Future> {
        match request.extensions().get::<SenderRetries>() {
            Some(_) => None,
            None => self.0.retry(request, result),
        }
    }

    fn clone_request(&mut self, request: &Request<Body>) -> Option<Request<Body>> {
        // The trait has a type parameter for the response, which this method doesn't use.
        Policy::<_, Response<B>, _>::clone_request(&mut self.0, request)
    }
}

/// Creates a client, whose answers are limited. If the configuration has an exec credential plugin, the thread blocks until the plugin has ended.
pub(crate) fn client(mut config: Config) -> Result<Client, kube::Error> {
    config.default_retry = false;
    let builder = ClientBuilder::try_from(config)?.with_layer(&AnswerLimitLayer).with_layer(&BufferLayer::new(WAITING));
    Ok(builder.with_layer(&RetryLayer::new(UnlessSenderRetries(RetryPolicy::server_retry()))).build())
}
