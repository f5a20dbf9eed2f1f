//! Images that Docker has or pulls, and their names.

use std::time::Duration;

use crate::error::ClusterError;
use crate::external_program::{DOCKER, SHORT};

/// Time limit for the pull or the build of an agent's image.
pub(crate) const PULL_LIMIT: Duration = Duration::from_secs(600);

/// Sees that Docker has this image, from its registry if need be.
pub(crate) async fn pull(image: &str) -> Result<(), ClusterError> {
    match DOCKER.run(["image", "inspect", "--format", "{{.Id}}", image], SHORT).await {
        Err(ClusterError::Outside { .. }) => DOCKER.run(["pull", "--quiet", image], PULL_LIMIT).await.map(drop),
        there => there.map(drop),
    }
}

/// Splits an image's name into repository and tag. For a digest or an id, the part after the colon stands for the tag.
#[must_use]
pub fn split(image: &str) -> (&str, &str) {
    let after_host = image.rfind('/').map_or(0, |slash| slash + 1);
    match image[after_host..].rfind(':') {
        Some(colon) => (&image[..after_host + colon], &image[after_host + colon + 1..]),
        None => (image, "latest"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_image_is_named_by_tag_digest_or_id() {
        assert_eq!(split("ghcr.io/x/hub-agent:v0.1.2"), ("ghcr.io/x/hub-agent", "v0.1.2"));
        assert_eq!(split("localhost:5000/hub-agent"), ("localhost:5000/hub-agent", "latest"));
        assert_eq!(split("x/hub-agent@sha256:ab"), ("x/hub-agent@sha256", "ab"));
        assert_eq!(split("sha256:ab"), ("sha256", "ab"));
    }
}
