//! Certificate authority of a fleet, and the certificates that it signs.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

use crate::error::ClusterError;
use crate::state_dir::{make_private, write_private};

/// Certificate authority of a fleet. The CA's key stays in the fleet's directory, readable by the owner only, so that
/// clusters can be added later.
pub struct Pki {
    dir: PathBuf,
    ca: String,
    issuer: Issuer<'static, KeyPair>,
}

/// Certificate and its key, as PEM and as files.
#[derive(Clone, Debug)]
pub struct CertificateKeyPair {
    /// The certificate, PEM.
    pub certificate: String,
    /// The key, PEM.
    pub key: String,
    /// The certificate's file.
    pub certificate_file: PathBuf,
    /// The key's file.
    pub key_file: PathBuf,
}

fn read_text(path: &Path) -> Result<String, ClusterError> {
    std::fs::read_to_string(path).map_err(ClusterError::io("read", path))
}

fn service_account_key_name(cluster: &str) -> String {
    format!("{cluster}-service-accounts")
}

impl Pki {
    /// Creates a new CA in `dir`.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn create(dir: &Path) -> Result<Self, ClusterError> {
        make_private(dir)?;
        let key = KeyPair::generate()?;
        let mut params = CertificateParams::default();
        params.distinguished_name.push(DnType::CommonName, "fleetdrill");
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::DigitalSignature];
        let certificate = params.self_signed(&key)?;
        write_private(&dir.join("ca.crt"), &certificate.pem())?;
        write_private(&dir.join("ca.key"), &key.serialize_pem())?;
        Ok(Self { dir: dir.to_owned(), ca: certificate.pem(), issuer: Issuer::new(params, key) })
    }

    /// Opens the CA that [`Pki::create`] made in `dir`.
    ///
    /// # Errors
    /// Returns an error if a file can't be read, or isn't a certificate or key.
    pub fn open(dir: &Path) -> Result<Self, ClusterError> {
        let ca = read_text(&dir.join("ca.crt"))?;
        let key = KeyPair::from_pem(&read_text(&dir.join("ca.key"))?)?;
        let issuer = Issuer::from_ca_cert_pem(&ca, key)?;
        Ok(Self { dir: dir.to_owned(), ca, issuer })
    }

    /// The CA's certificate, PEM.
    #[must_use]
    pub fn ca(&self) -> &str {
        &self.ca
    }

    /// The CA's certificate file.
    #[must_use]
    pub fn ca_file(&self) -> PathBuf {
        self.dir.join("ca.crt")
    }

    /// Creates a certificate for a server on loopback that is a client too, as etcd's peers are.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn server(&self, name: &str) -> Result<CertificateKeyPair, ClusterError> {
        self.server_at(name, None)
    }

    /// Creates a certificate like [`Pki::server`], valid for this additional host name.
    pub(crate) fn server_at(&self, name: &str, host: Option<&str>) -> Result<CertificateKeyPair, ClusterError> {
        let names =
            ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.0.0.1"];
        let names = names.into_iter().chain(host).map(String::from).collect::<Vec<_>>();
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(name, name, None, params)
    }

    /// Creates a client certificate for the user `common_name` in the group `organization`.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn client(
        &self,
        name: &str,
        common_name: &str,
        organization: Option<&str>,
    ) -> Result<CertificateKeyPair, ClusterError> {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(name, common_name, organization, params)
    }

    /// Creates a key pair for a cluster's ServiceAccount tokens and returns its files: the private key, which signs, and the public
    /// key, which verifies. kube-apiserver can derive a public key from a private one only for RSA and the older EC
    /// format.
    ///
    /// # Errors
    /// Returns an error if a file can't be written.
    pub fn service_account_keys(&self, cluster: &str) -> Result<(PathBuf, PathBuf), ClusterError> {
        let key = KeyPair::generate()?;
        let (private, name) = (self.service_account_key_file(cluster), service_account_key_name(cluster));
        let public = self.dir.join(format!("{name}.pub"));
        write_private(&private, &key.serialize_pem())?;
        write_private(&public, &key.public_key_pem())?;
        Ok((private, public))
    }

    /// Reads the private key that [`Pki::service_account_keys`] made for a cluster, as PEM.
    ///
    /// # Errors
    /// Returns an error if the file can't be read.
    pub(crate) fn service_account_key(&self, cluster: &str) -> Result<String, ClusterError> {
        read_text(&self.service_account_key_file(cluster))
    }

    fn service_account_key_file(&self, cluster: &str) -> PathBuf {
        self.dir.join(format!("{}.key", service_account_key_name(cluster)))
    }

    fn sign(
        &self,
        name: &str,
        common_name: &str,
        organization: Option<&str>,
        mut params: CertificateParams,
    ) -> Result<CertificateKeyPair, ClusterError> {
        params.distinguished_name.push(DnType::CommonName, common_name);
        if let Some(organization) = organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let pair = CertificateKeyPair {
            certificate: params.signed_by(&key, &self.issuer)?.pem(),
            key: key.serialize_pem(),
            certificate_file: self.dir.join(format!("{name}.crt")),
            key_file: self.dir.join(format!("{name}.key")),
        };
        write_private(&pair.certificate_file, &pair.certificate)?;
        write_private(&pair.key_file, &pair.key)?;
        Ok(pair)
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::Pki;

    #[test]
    fn a_reopened_ca_still_signs_and_its_files_are_private() {
        let dir = tempfile::tempdir().expect("a directory");
        let made = Pki::create(dir.path()).expect("a CA");
        let opened = Pki::open(dir.path()).expect("the same CA");
        assert_eq!(made.ca(), opened.ca());
        let pair = opened.client("admin", "admin", Some("system:masters")).expect("a certificate");
        assert!(pair.certificate.contains("BEGIN CERTIFICATE"));
        for entry in std::fs::read_dir(dir.path()).expect("the directory") {
            let mode = entry.and_then(|e| e.metadata()).expect("a file").permissions().mode();
            assert_eq!(mode & 0o077, 0);
        }
    }
}
