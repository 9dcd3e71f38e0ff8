//! The handshake. Neither end sends the key: each proves that it knows it, over random numbers of both ends.
//!
//! ```text
//! engine → daemon  "CSTC", version u32, hash of the fields, generation, random
//! daemon → engine  answer, random, proof of the daemon
//! engine → daemon  proof of the engine
//! daemon → engine  answer
//! answer := 0 u8 (go on) or 1 u8, size u16, reason as text (the end)
//! ```

use std::io::{self, Read, Write};

use castellan_event::{FIELDS, PartsHash};
use sha2::{Digest as _, Sha256};

use super::Identity;
use crate::engine_fields::EngineField;
use crate::nonce::Generation;

const MAGIC: [u8; 4] = *b"CSTC";
const VERSION: u32 = 1;
const HASH: usize = 32;

/// The reason why a handshake failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    #[error("the channel failed: {0}")]
    Io(#[from] io::Error),
    /// This end refuses the other one.
    #[error("{0}")]
    Refuse(&'static str),
    /// The other end refused this one.
    #[error("castellan refused the connection: {0}")]
    Refused(String),
}

/// The daemon's side. `is_taken`: another engine is connected.
pub(super) fn accept(
    stream: &mut (impl Read + Write),
    own: &Identity,
    is_taken: bool,
) -> Result<(), Failure> {
    let accepted = answer(stream, own, is_taken);
    if let Err(Failure::Refuse(reason)) = &accepted {
        let size = u16::try_from(reason.len()).unwrap_or_default();
        let refusal = [&[1][..], &size.to_le_bytes(), reason.as_bytes()].concat();
        // The other end learns the reason if it still listens.
        stream.write_all(&refusal).and_then(|()| stream.flush()).unwrap_or_default();
    }
    accepted
}

fn answer(stream: &mut (impl Read + Write), own: &Identity, is_taken: bool) -> Result<(), Failure> {
    let (magic, version): ([u8; 4], [u8; 4]) = (take(stream)?, take(stream)?);
    if (magic, u32::from_le_bytes(version)) != (MAGIC, VERSION) {
        return Err(Failure::Refuse(
            "the plugin speaks another version of the channel; install castellan's plugin again",
        ));
    }
    let (fields, generation, theirs): ([u8; HASH], [u8; HASH], [u8; HASH]) =
        (take(stream)?, take(stream)?, take(stream)?);
    if fields != field_hash() {
        return Err(Failure::Refuse("the plugin has other fields; install the plugin of this castellan"));
    }
    if Generation(generation) != own.generation {
        return Err(Failure::Refuse("the engine has other rules than those in force; it must start again"));
    }
    if is_taken {
        return Err(Failure::Refuse("another engine is connected"));
    }
    let ours = random()?;
    stream.write_all(&[&[0][..], &ours, &proof(Side::Daemon, own, &theirs, &ours)].concat())?;
    stream.flush()?;
    let shown: [u8; HASH] = take(stream)?;
    if !equal(&shown, &proof(Side::Engine, own, &theirs, &ours)) {
        return Err(Failure::Refuse("the plugin does not have the key of this castellan"));
    }
    stream.write_all(&[0])?;
    Ok(stream.flush()?)
}

/// The engine's side.
pub(super) fn connect(stream: &mut (impl Read + Write), own: &Identity) -> Result<(), Failure> {
    let ours = random()?;
    let hello = [&MAGIC[..], &VERSION.to_le_bytes(), &field_hash(), &own.generation.0, &ours].concat();
    stream.write_all(&hello)?;
    stream.flush()?;
    go_on(stream)?;
    let (theirs, shown): ([u8; HASH], [u8; HASH]) = (take(stream)?, take(stream)?);
    if !equal(&shown, &proof(Side::Daemon, own, &ours, &theirs)) {
        return Err(Failure::Refuse("the listener does not have the key, so it is not castellan"));
    }
    stream.write_all(&proof(Side::Engine, own, &ours, &theirs))?;
    stream.flush()?;
    go_on(stream)
}

fn go_on(stream: &mut impl Read) -> Result<(), Failure> {
    match take(stream)? {
        [0] => Ok(()),
        [_] => {
            let mut reason = vec![0; usize::from(u16::from_le_bytes(take(stream)?))];
            stream.read_exact(&mut reason)?;
            Err(Failure::Refused(String::from_utf8_lossy(&reason).into_owned()))
        }
    }
}

fn take<const N: usize>(stream: &mut impl Read) -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    stream.read_exact(&mut bytes)?;
    Ok(bytes)
}

fn random() -> io::Result<[u8; HASH]> {
    let mut bytes = [0; HASH];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

#[derive(Debug, Clone, Copy)]
enum Side {
    Daemon,
    Engine,
}

/// The key comes first and all parts have fixed lengths, so no proof is the start of another one.
fn proof(side: Side, own: &Identity, engine: &[u8; HASH], daemon: &[u8; HASH]) -> [u8; HASH] {
    let name: &[u8; 16] = match side {
        Side::Daemon => b"castellan daemon",
        Side::Engine => b"castellan engine",
    };
    let mut hash = Sha256::new();
    for part in [&own.key[..], name, &own.generation.0, engine, daemon] {
        hash.update(part);
    }
    hash.finalize().into()
}

/// Compares in a time that does not depend on the bytes.
fn equal(one: &[u8; HASH], other: &[u8; HASH]) -> bool {
    one.iter().zip(other).fold(0, |different, (one, other)| different | (one ^ other)) == 0
}

/// The hash of names and forms of all fields: events of one table mean nothing in another.
fn field_hash() -> [u8; HASH] {
    let own = FIELDS.iter().flat_map(|field| {
        [field.name.to_owned(), format!("{:?} {} {:?} {:?}", field.ty, field.list, field.level, field.arg)]
    });
    let engine = EngineField::ALL.iter().map(|field| field.name().to_owned());
    PartsHash::of(own.chain(engine)).bytes()
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixStream;

    use super::*;

    const OWN: Identity = Identity { key: [1; 32], generation: Generation([2; 32]) };

    fn both(
        daemon: Identity,
        engine: Identity,
        is_taken: bool,
    ) -> (Result<(), Failure>, Result<(), Failure>) {
        let (mut ours, mut theirs) = UnixStream::pair().unwrap();
        std::thread::scope(|scope| {
            let accepted = scope.spawn(move || accept(&mut ours, &daemon, is_taken));
            let connected = connect(&mut theirs, &engine);
            drop(theirs);
            (accepted.join().unwrap(), connected)
        })
    }

    #[test]
    fn equal_ends_accept_each_other() {
        assert!(matches!(both(OWN, OWN, false), (Ok(()), Ok(()))));
    }

    #[test]
    fn another_key_is_noticed_by_the_engine_first() {
        let (accepted, connected) = both(OWN, Identity { key: [3; 32], ..OWN }, false);
        assert!(matches!(accepted, Err(Failure::Io(_))), "{accepted:?}");
        assert!(matches!(connected, Err(Failure::Refuse(reason)) if reason.contains("not castellan")));
    }

    /// A stranger knows all that came over the socket: castellan's random number, and its proof.
    #[test]
    fn an_engine_that_ignores_the_proof_of_the_daemon_needs_the_key_too() {
        type Answer = fn([u8; HASH], [u8; HASH]) -> [u8; HASH];
        let answers: [Answer; 3] = [|_, _| [0; HASH], |random, _| random, |_, proof| proof];
        for answer in answers {
            let (mut ours, mut theirs) = UnixStream::pair().unwrap();
            std::thread::scope(|scope| {
                let accepted = scope.spawn(move || accept(&mut ours, &OWN, false));
                let own = [7; HASH];
                let hello =
                    [&MAGIC[..], &VERSION.to_le_bytes(), &field_hash(), &OWN.generation.0, &own].concat();
                theirs.write_all(&hello).unwrap();
                assert_eq!(take(&mut theirs).unwrap(), [0]);
                let (random, proof) = (take(&mut theirs).unwrap(), take(&mut theirs).unwrap());
                theirs.write_all(&answer(random, proof)).unwrap();
                assert!(
                    matches!(go_on(&mut theirs), Err(Failure::Refused(reason)) if reason.contains("key"))
                );
                assert!(matches!(accepted.join().unwrap(), Err(Failure::Refuse(_))));
            });
        }
    }

    #[test]
    fn the_engine_learns_why_it_is_refused() {
        let refused = |(accepted, connected): (Result<(), Failure>, Result<(), Failure>)| {
            assert!(matches!(accepted, Err(Failure::Refuse(_))), "{accepted:?}");
            let Err(Failure::Refused(reason)) = connected else { panic!("{connected:?}") };
            reason
        };
        assert!(refused(both(OWN, OWN, true)).contains("another engine"));
        let old = Identity { generation: Generation([9; 32]), ..OWN };
        assert!(refused(both(OWN, old, false)).contains("other rules"));
    }
}
