//! Clients that are created when they send their first request.
//!
//! A fleet may have hundreds of members of which a command asks a few. A client costs a program that gets credentials, TLS
//! settings and a connection pool; a lazy one costs none of these until it is used.

use std::sync::{Arc, OnceLock};

use futures::FutureExt;
use futures::future::{BoxFuture, Shared};
use http::Request;
use kube::client::Body;
use kube::{Client, Config};
use tower::{BoxError, service_fn};

use crate::credentials::{self, CredentialError};

/// The client, or the reason why there is none. Both are final: a plugin that failed isn't started again.
type Creation = Shared<BoxFuture<'static, Result<Client, LazyClientError>>>;

/// The credentials for a client can't be obtained or used.
#[derive(Clone, Debug, thiserror::Error)]
#[error(transparent)]
pub struct LazyClientError(Arc<CredentialError>);

/// Creates a client that gets its credentials once, before its first request. If that fails, every request fails with
/// a [`LazyClientError`]. The credentials aren't renewed: the client is for commands that take some minutes.
#[must_use]
pub fn lazy_client(config: Config) -> Client {
    let default_namespace = config.default_namespace.clone();
    let (config, creation) = (Arc::new(config), Arc::new(OnceLock::<Creation>::new()));
    let service = service_fn(move |request: Request<Body>| {
        let creation = creation.get_or_init(|| create(Config::clone(&config))).clone();
        async move {
            let client = creation.await.map_err(BoxError::from)?;
            client.send(request).await.map_err(BoxError::from)
        }
    });
    Client::new(service, default_namespace)
}

/// Creates the client in a task of its own. A request that is given up doesn't end it.
fn create(config: Config) -> Creation {
    let task = tokio::spawn(credentials::reading_client(config));
    let client = task.map(|created| match created {
        Ok(created) => created.map_err(|error| LazyClientError(Arc::new(error))),
        Err(error) => Err(LazyClientError(Arc::new(CredentialError::Interrupted(error.to_string())))),
    });
    client.boxed().shared()
}
