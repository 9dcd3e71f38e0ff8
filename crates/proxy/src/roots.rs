//! The certificate authorities that servers are verified with.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The authorities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Roots {
    /// Mozilla's list.
    Mozilla,
    /// These certificates in PEM format, and no others: the system's file, for example.
    Pem(Vec<u8>),
}

/// Makes the TLS configuration towards servers.
pub(crate) fn client(roots: &Roots) -> Result<Arc<ClientConfig>, String> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::Mozilla => store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned()),
        Roots::Pem(text) => {
            let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(text)
                .collect::<Result<_, _>>()
                .map_err(|error| error.to_string())?;
            store.add_parsable_certificates(certificates);
            if store.is_empty() {
                return Err("the text has no certificate authority in PEM format".to_owned());
            }
        }
    }
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(store)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}
