//! Frames and their bodies: no panic, and what is read is what was written.
#![no_main]

use castellan_wire::{Reply, Request, read_frame, write_frame};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(frame) = read_frame(&mut &*bytes, 1 << 20) {
        let mut again = Vec::new();
        write_frame(&mut again, frame.kind, &frame.body).unwrap();
        assert_eq!(again, &bytes[..again.len()]);
    }
    if let Ok(request) = Request::decode(bytes) {
        assert_eq!(request.encode(), bytes);
    }
    if let Ok(reply) = Reply::decode(bytes) {
        assert_eq!(reply.encode(), bytes);
    }
});
