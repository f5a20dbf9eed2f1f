//! Tokens of `ServiceAccount`s that expire when somebody says. An API server signs none that expire within ten minutes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use rcgen::KeyPair;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair};
use serde_json::Value;

use crate::error::ClusterError;

/// Returns a token with the header and the claims of `token`, but that it expires at another time, signed with the API server's own key.
///
/// # Errors
/// Returns an error if `token` is no JWT, or the key doesn't sign.
pub(crate) fn expiring(token: &str, at: Timestamp, key: &KeyPair) -> Result<String, ClusterError> {
    let not_a_jwt = || ClusterError::Token("the API server's token is no JWT".into());
    let mut parts = token.split('.');
    let (Some(header), Some(claims)) = (parts.next(), parts.next()) else { return Err(not_a_jwt()) };
    let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| not_a_jwt())?;
    let mut claims: Value = serde_json::from_slice(&claims).map_err(|_| not_a_jwt())?;
    claims["exp"] = at.as_second().into();
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(signature(signed.as_bytes(), key)?)))
}

/// Signs as ES256 wants it: both numbers of the signature one after the other, and not as rcgen does, in ASN.1.
fn signature(text: &[u8], key: &KeyPair) -> Result<Vec<u8>, ClusterError> {
    let random = SystemRandom::new();
    let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, key.serialized_der(), &random);
    let pair = pair.map_err(|error| ClusterError::Token(error.to_string()))?;
    let signature = pair.sign(&random, text).map_err(|error| ClusterError::Token(error.to_string()))?;
    Ok(signature.as_ref().to_vec())
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};
    use serde_json::json;

    use super::*;

    #[test]
    fn only_the_end_of_a_token_changes_and_the_key_verifies_it() {
        let key = KeyPair::generate().expect("a key");
        let encoded = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let claims = json!({"sub": "system:serviceaccount:a:b", "exp": 1, "aud": ["x"]});
        let token = format!("{}.{}.c2ln", encoded(&json!({"alg": "ES256"})), encoded(&claims));
        let at = Timestamp::from_second(1_800_000_000).expect("a time");
        let changed = expiring(&token, at, &key).expect("a token");
        let (signed, signature) = changed.rsplit_once('.').expect("a signature");
        let decoded = URL_SAFE_NO_PAD.decode(signed.split('.').nth(1).expect("claims")).expect("base64");
        let expected = json!({"sub": "system:serviceaccount:a:b", "exp": 1_800_000_000, "aud": ["x"]});
        assert_eq!(serde_json::from_slice::<Value>(&decoded).expect("JSON"), expected);
        let signature = URL_SAFE_NO_PAD.decode(signature).expect("base64");
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, key.public_key_raw());
        assert!(public.verify(signed.as_bytes(), &signature).is_ok());
    }

    #[test]
    fn what_is_no_token_is_refused() {
        let key = KeyPair::generate().expect("a key");
        for text in ["", "secret", "a.b", "a.!.c"] {
            assert!(expiring(text, Timestamp::UNIX_EPOCH, &key).is_err(), "{text}");
        }
    }
}
