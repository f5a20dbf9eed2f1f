//! Tokens of `ServiceAccount`s that expire when somebody says. An API server signs none that expire within ten minutes.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use jiff::Timestamp;
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, RSA_PKCS1_SHA256, RsaKeyPair};
use rustls_pki_types::PrivateKeyDer;
use rustls_pki_types::pem::PemObject as _;
use serde_json::Value;

use crate::error::ClusterError;

/// Returns a token with the header and the claims of `token`, but that it expires at another time, signed with the API server's own key.
///
/// # Errors
/// Returns an error if `token` is no JWT, or the key doesn't sign.
pub(crate) fn expiring(token: &str, at: Timestamp, key: &SigningKey) -> Result<String, ClusterError> {
    let not_a_jwt = || ClusterError::Token("the API server's token is no JWT".into());
    let mut parts = token.split('.');
    let (Some(header), Some(claims)) = (parts.next(), parts.next()) else { return Err(not_a_jwt()) };
    let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| not_a_jwt())?;
    let mut claims: Value = serde_json::from_slice(&claims).map_err(|_| not_a_jwt())?;
    claims["exp"] = at.as_second().into();
    let signed = format!("{header}.{}", URL_SAFE_NO_PAD.encode(claims.to_string()));
    Ok(format!("{signed}.{}", URL_SAFE_NO_PAD.encode(key.signature(signed.as_bytes())?)))
}

/// Key by which an API server signs tokens.
pub(crate) enum SigningKey {
    /// Signs as ES256 wants it. It is the key of fleetdrill's own clusters.
    Ecdsa(EcdsaKeyPair),
    /// Signs as RS256 wants it. kubeadm makes such a key, and so does kind.
    Rsa(Box<RsaKeyPair>),
}

impl SigningKey {
    /// Reads a private key in PEM, as PKCS #8 or, for RSA, PKCS #1.
    ///
    /// # Errors
    /// Returns an error if the text is no such key.
    pub(crate) fn from_pem(text: &str) -> Result<Self, ClusterError> {
        let refused = |error: &dyn std::fmt::Display| ClusterError::Token(format!("the API server's key: {error}"));
        let rsa = |pair: RsaKeyPair| Self::Rsa(Box::new(pair));
        match PrivateKeyDer::from_pem_slice(text.as_bytes()).map_err(|error| refused(&error))? {
            PrivateKeyDer::Pkcs1(der) => {
                RsaKeyPair::from_der(der.secret_pkcs1_der()).map(rsa).map_err(|error| refused(&error))
            }
            PrivateKeyDer::Pkcs8(der) => {
                let der = der.secret_pkcs8_der();
                match EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &SystemRandom::new()) {
                    Ok(pair) => Ok(Self::Ecdsa(pair)),
                    Err(_) => RsaKeyPair::from_pkcs8(der).map(rsa).map_err(|error| refused(&error)),
                }
            }
            _ => Err(refused(&"neither PKCS #8 nor PKCS #1")),
        }
    }

    fn signature(&self, text: &[u8]) -> Result<Vec<u8>, ClusterError> {
        let (random, failed) =
            (SystemRandom::new(), |error: ring::error::Unspecified| ClusterError::Token(error.to_string()));
        match self {
            Self::Ecdsa(pair) => Ok(pair.sign(&random, text).map_err(failed)?.as_ref().to_vec()),
            Self::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &random, text, &mut signature).map_err(failed)?;
                Ok(signature)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rcgen::KeyPair;
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
        let signing = SigningKey::from_pem(&key.serialize_pem()).expect("a key");
        let changed = expiring(&token, at, &signing).expect("a token");
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
        let key = KeyPair::generate().expect("a key").serialize_pem();
        let key = SigningKey::from_pem(&key).expect("a key");
        for text in ["", "secret", "a.b", "a.!.c"] {
            assert!(expiring(text, Timestamp::UNIX_EPOCH, &key).is_err(), "{text}");
        }
    }
}
