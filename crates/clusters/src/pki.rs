//! A certificate authority per fleet, and what it signs.

use std::path::{Path, PathBuf};

use rcgen::{
    BasicConstraints, CertificateParams, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair, KeyUsagePurpose,
};

use crate::error::ClusterError;
use crate::state_dir::{make_private, write_private};

/// The fleet's CA. Its key stays in the fleet's directory, readable by the owner only, so that clusters can be added
/// later.
pub struct Pki {
    dir: PathBuf,
    ca: String,
    issuer: Issuer<'static, KeyPair>,
}

/// A certificate and its key, as PEM and as files.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The certificate, PEM.
    pub certificate: String,
    /// The key, PEM.
    pub key: String,
    /// The certificate's file.
    pub certificate_file: PathBuf,
    /// The key's file.
    pub key_file: PathBuf,
}

impl Pki {
    /// Makes a new CA in `dir`.
    ///
    /// # Errors
    /// When a file can't be written.
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
    /// When a file can't be read or is no certificate or key.
    pub fn open(dir: &Path) -> Result<Self, ClusterError> {
        let read = |name: &str| {
            let path = dir.join(name);
            std::fs::read_to_string(&path).map_err(ClusterError::io("read", &path))
        };
        let ca = read("ca.crt")?;
        let issuer = Issuer::from_ca_cert_pem(&ca, KeyPair::from_pem(&read("ca.key")?)?)?;
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

    /// A certificate for a server on loopback that is a client too (etcd's peers are both).
    ///
    /// # Errors
    /// When a file can't be written.
    pub fn server(&self, name: &str) -> Result<Pair, ClusterError> {
        self.server_at(name, None)
    }

    /// The same, for a server that is known by this host name as well.
    pub(crate) fn server_at(&self, name: &str, host: Option<&str>) -> Result<Pair, ClusterError> {
        let names =
            ["127.0.0.1", "localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc", "10.0.0.1"];
        let names = names.into_iter().chain(host).map(String::from).collect::<Vec<_>>();
        let mut params = CertificateParams::new(names)?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth, ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(name, name, None, params)
    }

    /// A client certificate for the user `common_name` in the group `organization`.
    ///
    /// # Errors
    /// When a file can't be written.
    pub fn client(&self, name: &str, common_name: &str, organization: Option<&str>) -> Result<Pair, ClusterError> {
        let mut params = CertificateParams::default();
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ClientAuth];
        self.sign(name, common_name, organization, params)
    }

    /// A key pair for ServiceAccount tokens: the file that signs and the file that verifies. kube-apiserver takes a
    /// public key out of a private one only for RSA and the older EC format.
    ///
    /// # Errors
    /// When a file can't be written.
    pub fn signing_key(&self, name: &str) -> Result<(PathBuf, PathBuf), ClusterError> {
        let key = KeyPair::generate()?;
        let (private, public) = (self.dir.join(format!("{name}.key")), self.dir.join(format!("{name}.pub")));
        write_private(&private, &key.serialize_pem())?;
        write_private(&public, &key.public_key_pem())?;
        Ok((private, public))
    }

    fn sign(
        &self,
        name: &str,
        common_name: &str,
        organization: Option<&str>,
        mut params: CertificateParams,
    ) -> Result<Pair, ClusterError> {
        params.distinguished_name.push(DnType::CommonName, common_name);
        if let Some(organization) = organization {
            params.distinguished_name.push(DnType::OrganizationName, organization);
        }
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        let key = KeyPair::generate()?;
        let pair = Pair {
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
