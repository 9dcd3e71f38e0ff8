//! The certificate authority of one sandbox. Its key is in memory only, and it may certify only the hosts whose TLS the
//! proxy ends.

use std::collections::HashMap;
use std::fmt;
use std::net::IpAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rcgen::{
    BasicConstraints, CertificateParams, CidrSubnet, DnType, ExtendedKeyUsagePurpose, GeneralSubtree, IsCa,
    Issuer, KeyIdMethod, KeyUsagePurpose, NameConstraints, PublicKeyData, SerialNumber, SignatureAlgorithm,
    SigningKey, date_time_ymd,
};
use ring::rand::{SecureRandom, SystemRandom};
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use crate::host::Host;
use crate::limits::{LEAF_AFTER_S, LEAF_BEFORE_S, LEAVES_MAX};
use crate::rules::HostPattern;

/// The authority, with the certificates that it made.
pub(crate) struct Authority {
    issuer: Issuer<'static, Key>,
    pem: String,
    /// One key of all leaves: each leaf is for a host that this proxy impersonates anyway.
    leaf_key: Key,
    leaves: Mutex<HashMap<Host, Arc<ServerConfig>>>,
}

impl Authority {
    /// Makes an authority for the hosts.
    pub(crate) fn new(hosts: &[&HostPattern]) -> Result<Authority, String> {
        let key = Key::new()?;
        let mut params = params(&key, "castellan sandbox")?;
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        params.name_constraints = Some(NameConstraints {
            permitted_subtrees: hosts.iter().map(|host| subtree(host)).collect(),
            excluded_subtrees: Vec::new(),
        });
        let certificate = params.self_signed(&key).map_err(|error| error.to_string())?;
        let pem = pem(certificate.der());
        Ok(Authority {
            issuer: Issuer::new(params, key),
            pem,
            leaf_key: Key::new()?,
            leaves: Mutex::default(),
        })
    }

    pub(crate) fn pem(&self) -> &str {
        &self.pem
    }

    /// Returns the TLS configuration of a server with a certificate for the host.
    pub(crate) fn server(&self, host: &Host) -> Result<Arc<ServerConfig>, String> {
        let mut leaves = self.leaves.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(config) = leaves.get(host) {
            return Ok(Arc::clone(config));
        }
        let config = Arc::new(self.leaf(host)?);
        if leaves.len() >= LEAVES_MAX {
            leaves.clear();
        }
        leaves.insert(host.clone(), Arc::clone(&config));
        Ok(config)
    }

    fn leaf(&self, host: &Host) -> Result<ServerConfig, String> {
        let name = match host {
            Host::Name(name) => name.clone(),
            Host::Address(address) => address.to_string(),
        };
        let mut params = params(&self.leaf_key, "castellan sandbox host")?;
        params.subject_alt_names =
            CertificateParams::new([name]).map_err(|error| error.to_string())?.subject_alt_names;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let leaf = params.signed_by(&self.leaf_key, &self.issuer).map_err(|error| error.to_string())?;
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let key = PrivatePkcs8KeyDer::from(self.leaf_key.pkcs8.clone());
        let mut config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .and_then(|config| {
                config.with_no_client_auth().with_single_cert(vec![leaf.der().clone()], key.into())
            })
            .map_err(|error| error.to_string())?;
        // The proxy reads HTTP/1.1 only.
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

impl fmt::Debug for Authority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authority").finish_non_exhaustive()
    }
}

/// Returns the names that a pattern lets the authority certify. A constraint on a name includes the names below it.
fn subtree(host: &HostPattern) -> GeneralSubtree {
    match host {
        HostPattern::Exact(Host::Name(name)) | HostPattern::Below(name) => {
            GeneralSubtree::DnsName(name.clone())
        }
        HostPattern::Exact(Host::Address(address @ IpAddr::V4(_))) => {
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, 32))
        }
        HostPattern::Exact(Host::Address(address @ IpAddr::V6(_))) => {
            GeneralSubtree::IpAddress(CidrSubnet::from_addr_prefix(*address, 128))
        }
    }
}

/// Returns the parameters that all certificates share.
fn params(key: &Key, name: &str) -> Result<CertificateParams, String> {
    let mut params = CertificateParams::new(Vec::new()).map_err(|error| error.to_string())?;
    let mut serial = random::<16>()?;
    // Serial numbers are positive.
    serial[0] &= 0x7f;
    params.serial_number = Some(SerialNumber::from_slice(&serial));
    let digest = ring::digest::digest(&ring::digest::SHA256, key.pair.public_key().as_ref());
    params.key_identifier_method =
        KeyIdMethod::PreSpecified(digest.as_ref().iter().take(20).copied().collect());
    params.distinguished_name.push(DnType::CommonName, name);
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_err(|error| error.to_string())?;
    let at = |seconds: u64| date_time_ymd(1970, 1, 1) + Duration::from_secs(seconds);
    params.not_before = at(now.as_secs().saturating_sub(LEAF_BEFORE_S));
    params.not_after = at(now.as_secs().saturating_add(LEAF_AFTER_S));
    Ok(params)
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    SystemRandom::new().fill(&mut bytes).map_err(|_| NO_RANDOM.to_owned())?;
    Ok(bytes)
}

const NO_RANDOM: &str = "the system gave no random numbers";

/// A key of a certificate.
struct Key {
    pair: EcdsaKeyPair,
    pkcs8: Vec<u8>,
}

impl Key {
    fn new() -> Result<Key, String> {
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).map_err(|_| NO_RANDOM.to_owned())?;
        let pair = EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random)
            .map_err(|error| error.to_string())?;
        Ok(Key { pair, pkcs8: document.as_ref().to_vec() })
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.pair.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature = self.pair.sign(&SystemRandom::new(), message);
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}

/// Returns a certificate in PEM format, with lines of 64 characters.
fn pem(certificate: &CertificateDer<'_>) -> String {
    let text = STANDARD.encode(certificate);
    let mut lines = vec!["-----BEGIN CERTIFICATE-----"];
    let mut rest = text.as_str();
    while let Some((line, after)) = rest.split_at_checked(64) {
        lines.push(line);
        rest = after;
    }
    lines.extend((!rest.is_empty()).then_some(rest));
    lines.push("-----END CERTIFICATE-----\n");
    lines.join("\n")
}
