//! The way to a host: its rules, its addresses, the connection. The address that is checked is the one that is used.

use std::net::{IpAddr, SocketAddr, TcpStream};
use std::sync::Arc;

use rustls::pki_types::ServerName;
use rustls::{ClientConnection, StreamOwned};

use crate::addresses;
use crate::event::Refusal;
use crate::host::Host;
use crate::limits::{ADDRESSES_MAX, CONNECT_TIME, SERVER_TIME};
use crate::rules::{self, Applied, Found};
use crate::settings::Settings;

/// Finds the rules for a host and port.
pub(crate) fn permit<'s>(settings: &'s Settings, host: &Host, port: u16) -> Result<Applied<'s>, Refusal> {
    match rules::find(&settings.rules, host, port) {
        Found::Rules(applied) => Ok(applied),
        Found::OtherPorts(ports) => {
            let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
            Err(Refusal::Port(ports.join(", ")))
        }
        Found::Nothing => Err(Refusal::Host),
    }
}

/// Connects to a host that the rules allow. A name is resolved once; if one of its addresses is refused, the name is.
pub(crate) fn connect(
    settings: &Settings,
    applied: &Applied<'_>,
    host: &Host,
    port: u16,
) -> Result<(TcpStream, SocketAddr), Refusal> {
    let addresses = match host {
        Host::Address(address) => vec![*address],
        Host::Name(name) => (settings.resolver)(name).map_err(|error| Refusal::Resolve(error.to_string()))?,
    };
    check(applied, &addresses)?;
    let mut last = Refusal::Resolve("it has no address".to_owned());
    for address in addresses.into_iter().take(ADDRESSES_MAX) {
        let address = SocketAddr::new(address, port);
        match TcpStream::connect_timeout(&address, CONNECT_TIME) {
            Ok(server) => {
                // Small writes of one side are not held back for more.
                server.set_nodelay(true).map_err(|error| Refusal::Upstream(error.to_string()))?;
                return Ok((server, address));
            }
            Err(error) => last = Refusal::Upstream(error.to_string()),
        }
    }
    Err(last)
}

fn check(applied: &Applied<'_>, addresses: &[IpAddr]) -> Result<(), Refusal> {
    let granted = applied.addresses();
    for address in addresses {
        if let Some(reason) =
            addresses::not_public(*address).filter(|_| !addresses::is_granted(&granted, *address))
        {
            return Err(Refusal::NotPublic { address: address.to_string(), reason });
        }
    }
    Ok(())
}

/// Sets the limits of time of a connection that is read and written in turn.
pub(crate) fn limit_times(server: &TcpStream) -> Result<(), Refusal> {
    server
        .set_read_timeout(Some(SERVER_TIME))
        .and_then(|()| server.set_write_timeout(Some(SERVER_TIME)))
        .map_err(|error| Refusal::Upstream(error.to_string()))
}

/// Starts TLS with a server, and verifies its certificate for the host.
pub(crate) fn encrypt(
    settings: &Settings,
    host: &Host,
    mut server: TcpStream,
) -> Result<StreamOwned<ClientConnection, TcpStream>, Refusal> {
    let failed = |error: &dyn std::error::Error| Refusal::Upstream(error.to_string());
    let name = match host {
        Host::Name(name) => ServerName::try_from(name.clone()).map_err(|error| failed(&error))?,
        Host::Address(address) => ServerName::IpAddress((*address).into()),
    };
    let mut connection =
        ClientConnection::new(Arc::clone(&settings.client), name).map_err(|error| failed(&error))?;
    while connection.is_handshaking() {
        connection.complete_io(&mut server).map_err(|error| failed(&error))?;
    }
    Ok(StreamOwned::new(connection, server))
}
