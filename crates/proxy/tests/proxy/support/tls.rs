//! A certificate authority of tests, servers with its certificates, and clients.

use std::net::TcpStream;
use std::sync::Arc;

use castellan_proxy::Roots;
use rcgen::{
    BasicConstraints, CertificateParams, DnType, IsCa, Issuer, KeyIdMethod, KeyUsagePurpose, PublicKeyData,
    SerialNumber, SignatureAlgorithm, SigningKey, date_time_ymd,
};
use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_ASN1_SIGNING, EcdsaKeyPair, KeyPair};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivatePkcs8KeyDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig, ServerConnection, StreamOwned};

use super::{Server, serve};

struct Key(EcdsaKeyPair, Vec<u8>);

impl Key {
    fn new() -> Key {
        let (algorithm, random) = (&ECDSA_P256_SHA256_ASN1_SIGNING, SystemRandom::new());
        let document = EcdsaKeyPair::generate_pkcs8(algorithm, &random).unwrap();
        Key(
            EcdsaKeyPair::from_pkcs8(algorithm, document.as_ref(), &random).unwrap(),
            document.as_ref().to_vec(),
        )
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
        Ok(self.0.sign(&SystemRandom::new(), message).unwrap().as_ref().to_vec())
    }
}

/// An authority: that of the hosts outside.
pub(crate) struct Ca {
    issuer: Issuer<'static, Key>,
    certificate: CertificateDer<'static>,
}

impl Ca {
    pub(crate) fn new() -> Ca {
        let key = Key::new();
        let mut params = params(&[], 1);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign];
        let certificate = params.self_signed(&key).unwrap().der().clone();
        Ca { issuer: Issuer::new(params, key), certificate }
    }

    pub(crate) fn pem(&self) -> String {
        use base64::Engine as _;
        let text = base64::engine::general_purpose::STANDARD.encode(&self.certificate);
        format!("-----BEGIN CERTIFICATE-----\n{text}\n-----END CERTIFICATE-----\n")
    }

    pub(crate) fn roots(&self) -> Roots {
        Roots::Pem(self.pem().into_bytes())
    }

    fn config(&self, name: &str) -> Arc<ServerConfig> {
        let key = Key::new();
        let leaf = params(&[name], 2).signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![leaf.der().clone()], PrivatePkcs8KeyDer::from(key.1).into());
        Arc::new(config.unwrap())
    }

    /// An HTTPS server with a certificate for a name.
    pub(crate) fn https(
        &self,
        name: &str,
        respond: impl Fn(&str, &str) -> Vec<u8> + Send + Sync + 'static,
    ) -> Server {
        let config = self.config(name);
        Server::start(move |client, log| {
            let tls = ServerConnection::new(Arc::clone(&config)).unwrap();
            serve(&mut StreamOwned::new(tls, client), log, &respond);
        })
    }
}

fn params(names: &[&str], serial: u64) -> CertificateParams {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let mut params = CertificateParams::new(names).unwrap();
    params.serial_number = Some(SerialNumber::from(serial));
    params.key_identifier_method = KeyIdMethod::PreSpecified(vec![u8::try_from(serial).unwrap(); 20]);
    // OpenSSL takes a certificate whose issuer has its own name for a self-signed one.
    params.distinguished_name.push(DnType::CommonName, format!("test {serial}"));
    params.not_before = date_time_ymd(2020, 1, 1);
    params.not_after = date_time_ymd(2099, 1, 1);
    params
}

pub(crate) type TlsClient = StreamOwned<ClientConnection, TcpStream>;

/// Starts TLS on a connection, with the authorities of a PEM text.
pub(crate) fn connect_tls(mut stream: TcpStream, name: &str, pem: &str) -> Result<TlsClient, String> {
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        roots.add(certificate.unwrap()).unwrap();
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(name.to_owned()).unwrap();
    let mut tls = ClientConnection::new(Arc::new(config), name).unwrap();
    while tls.is_handshaking() {
        tls.complete_io(&mut stream).map_err(|error| error.to_string())?;
    }
    Ok(StreamOwned::new(tls, stream))
}
