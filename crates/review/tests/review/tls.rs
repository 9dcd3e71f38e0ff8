//! Certificates: only one of a known authority, for this host and this time, is accepted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use castellan_review::{Answer, Endpoint, Fault, Provider, Reviewer, Roots};
use rcgen::{CertificateParams, PublicKeyData, SerialNumber, SignatureAlgorithm, SigningKey, date_time_ymd};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::ServerConfig;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer};

use crate::judge::{Judge, completion, sends};
use crate::{PATIENT, SHORT, evidence, fault, limits};

const ALLOW: &str = r#"{"answer":"allow","reason":"asked"}"#;

/// A key of a self-signed certificate.
struct Key(EcdsaKeyPair, Vec<u8>);

impl Key {
    fn new() -> Key {
        let random = SystemRandom::new();
        let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, &random).unwrap();
        let pair = EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_ASN1_SIGNING, document.as_ref(), &random);
        Key(pair.unwrap(), document.as_ref().to_vec())
    }
}

impl PublicKeyData for Key {
    fn der_bytes(&self) -> &[u8] {
        self.0.public_key().as_ref()
    }

    fn algorithm(&self) -> &'static SignatureAlgorithm {
        &rcgen::PKCS_ECDSA_P256_SHA256
    }
}

impl SigningKey for Key {
    fn sign(&self, message: &[u8]) -> Result<Vec<u8>, rcgen::Error> {
        let signature = self.0.sign(&SystemRandom::new(), message);
        signature.map(|signature| signature.as_ref().to_vec()).map_err(|_| rcgen::Error::RemoteKeyError)
    }
}

/// Makes a certificate for a name until a year, and the configuration of its server.
fn certificate(name: &str, until: i32) -> (CertificateDer<'static>, Arc<ServerConfig>) {
    let key = Key::new();
    let mut params = CertificateParams::new([name.to_owned()]).unwrap();
    params.serial_number = Some(SerialNumber::from(1));
    params.key_identifier_method = rcgen::KeyIdMethod::PreSpecified(vec![1; 20]);
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let certificate = params.self_signed(&key).unwrap();
    let chain = vec![certificate.der().clone()];
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, PrivatePkcs8KeyDer::from(key.1).into())
        .unwrap();
    (certificate.der().clone(), Arc::new(config))
}

/// Returns a certificate in PEM format.
fn pem(certificate: &CertificateDer<'_>) -> Vec<u8> {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = b"-----BEGIN CERTIFICATE-----\n".to_vec();
    for part in certificate.chunks(3) {
        let bytes = [part[0], *part.get(1).unwrap_or(&0), *part.get(2).unwrap_or(&0)];
        let bits = u32::from_be_bytes([0, bytes[0], bytes[1], bytes[2]]);
        for place in 0..4 {
            let digit = DIGITS[(bits >> (18 - 6 * place)) as usize & 63];
            text.push(if place > part.len() { b'=' } else { digit });
        }
    }
    text.extend_from_slice(b"\n-----END CERTIFICATE-----\n");
    text
}

#[test]
fn only_a_right_certificate_gets_the_evidence() {
    let (ours, server) = certificate("127.0.0.1", 2099);
    let (others, _) = certificate("127.0.0.1", 2099);
    let (wrong_host, wrong_host_server) = certificate("example.com", 2099);
    let (expired, expired_server) = certificate("127.0.0.1", 2021);
    for (name, server, roots, is_right) in [
        ("named in the settings", &server, Roots::Pem(pem(&ours)), true),
        ("unknown", &server, Roots::Mozilla, false),
        ("of another authority", &server, Roots::Pem(pem(&others)), false),
        ("of another host", &wrong_host_server, Roots::Pem(pem(&wrong_host)), false),
        ("expired", &expired_server, Roots::Pem(pem(&expired)), false),
    ] {
        let judge = Judge::encrypted(sends(completion(ALLOW)), Arc::clone(server));
        let endpoint = Endpoint::new(&judge.url(), "m", None, roots).unwrap();
        let reviewed = Reviewer::new(Provider::OpenAi(endpoint), limits(PATIENT)).review(&evidence());
        if is_right {
            assert_eq!(reviewed.answer(), Answer::Allow, "{name}: {:?}", reviewed.opinion);
        } else {
            let fault = fault(&reviewed);
            assert!(matches!(fault, Fault::Certificate(_)), "{name}: {fault}");
            assert!(judge.received().is_empty(), "{name}");
        }
    }
}

#[test]
fn a_server_without_tls_is_an_error() {
    let judge = Judge::plain(sends(completion(ALLOW)));
    let url = judge.url().replace("http:", "https:");
    let endpoint = Endpoint::new(&url, "m", None, Roots::Mozilla).unwrap();
    // The server waits for the end of a head, and the client for a handshake.
    let start = Instant::now();
    let reviewed = Reviewer::new(Provider::OpenAi(endpoint), limits(SHORT)).review(&evidence());
    assert_eq!(*fault(&reviewed), Fault::Slow(SHORT));
    assert!(start.elapsed() < SHORT + Duration::from_secs(2));
}
