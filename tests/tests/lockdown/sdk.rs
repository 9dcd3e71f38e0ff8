//! The packages of `sdk/` against the real Claude Agent SDKs.

mod guard;
mod layers;

use anyhow::Result;
use castellan_tests::sdk::{Sdk, read_json, sources};
use castellan_wire::{Hold, Kind, REPLY_BYTES_MAX, Reply, Request, read_frame, write_frame};
use serde_json::Value as Json;

/// Returns the packages whose real SDK is installed.
fn ready() -> Result<Vec<Sdk>> {
    let mut ready = Vec::new();
    for sdk in Sdk::ALL {
        if sdk.is_ready()? {
            ready.push(sdk);
        }
    }
    Ok(ready)
}

#[test]
fn the_packages_pass_their_own_tests() -> Result<()> {
    ready()?.into_iter().try_for_each(Sdk::check_own_tests)
}

#[test]
fn the_packages_have_the_version_of_the_workspace() -> Result<()> {
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(read_json("typescript/package.json")?["version"], version);
    let python = std::fs::read_to_string(sources().join("python/pyproject.toml"))?;
    assert!(python.contains(&format!("\nversion = \"{version}\"\n")));
    Ok(())
}

#[test]
fn the_packages_test_the_frames_of_the_protocol() -> Result<()> {
    let known = read_json("frames.json")?;
    let text = |json: &Json, key: &str| json[key].as_str().unwrap().to_owned();
    let bytes = |json: &Json| base16ct::lower::decode_vec(text(json, "hex")).unwrap();
    let framed = |kind, body: &[u8]| {
        let mut frame = Vec::new();
        write_frame(&mut frame, kind, body).unwrap();
        frame
    };
    let request = &known["request"];
    let sent = Request {
        agent: text(request, "agent"),
        event: text(request, "event"),
        parent_pid: u32::try_from(request["parent_pid"].as_u64().unwrap())?,
        cwd: text(request, "cwd").into_bytes(),
        payload: text(request, "payload").into_bytes(),
    };
    assert_eq!(framed(Kind::Request, &sent.encode()), bytes(request));
    for one in known["replies"].as_array().unwrap() {
        let reply = Reply {
            exit: u8::try_from(one["exit"].as_u64().unwrap())?,
            stdout: text(one, "stdout").into_bytes(),
            stderr: text(one, "stderr").into_bytes(),
        };
        assert_eq!(framed(Kind::Reply, &reply.encode()), bytes(one));
    }
    for one in known["holds"].as_array().unwrap() {
        let hold = Hold { ms: u32::try_from(one["ms"].as_u64().unwrap())? };
        assert_eq!(framed(Kind::Hold, &hold.encode()), bytes(one));
    }
    for one in known["malformed"].as_array().unwrap() {
        let frame = read_frame(&mut &*bytes(one), REPLY_BYTES_MAX);
        let is_read = frame.is_ok_and(|frame| match frame.kind {
            Kind::Reply => Reply::decode(&frame.body).is_ok(),
            Kind::Hold => Hold::decode(&frame.body).is_ok(),
            Kind::Request | Kind::Control => false,
        });
        assert!(!is_read, "{one}");
    }
    Ok(())
}
