//! Frames and their bodies.

use castellan_wire::{Reply, Request, read_frame, write_frame};

/// Reads bytes as a frame, a request and a reply. Each must encode to the same bytes again.
pub fn frame(bytes: &[u8]) {
    if let Ok(frame) = read_frame(&mut &*bytes, 1 << 20) {
        let mut again = Vec::new();
        assert!(write_frame(&mut again, frame.kind, &frame.body).is_ok(), "what was read can be written");
        assert!(bytes.starts_with(&again));
    }
    if let Ok(request) = Request::decode(bytes.to_vec()) {
        assert_eq!(request.encode(), bytes);
    }
    if let Ok(reply) = Reply::decode(bytes) {
        assert_eq!(reply.encode(), bytes);
    }
}
