//! The least of io_uring: one request at a time, by the system calls themselves.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd};

use super::{Arg, call, open, words};

/// Where the kernel says that the parts of the shared memory are (struct io_uring_params).
const PARAMS: usize = 120;
const SQ_OFFSETS: usize = 40;
const CQ_OFFSETS: usize = 80;

/// The offsets for `mmap`.
const SQ_RING: i64 = 0;
const CQ_RING: i64 = 0x800_0000;
const REQUESTS: i64 = 0x1000_0000;

/// The size of what is mapped: enough for one request.
const MAPPED: usize = 4096;

/// Waits for results.
const GET_EVENTS: i64 = 1;

/// A ring for one request at a time.
#[derive(Debug)]
pub struct Ring {
    fd: OwnedFd,
    sq_ring: *mut u8,
    cq_ring: *mut u8,
    requests: *mut u8,
    params: Vec<u8>,
}

impl Ring {
    /// Makes a ring.
    ///
    /// # Errors
    ///
    /// The errno of the kernel.
    pub fn new() -> io::Result<Ring> {
        let mut params = vec![0; PARAMS];
        let fd = open(libc::SYS_io_uring_setup, &mut [Arg::Int(1), Arg::Out(&mut params)])?;
        let sq_ring = super::map(&fd, MAPPED, SQ_RING)?.as_mut_ptr();
        let cq_ring = super::map(&fd, MAPPED, CQ_RING)?.as_mut_ptr();
        let requests = super::map(&fd, MAPPED, REQUESTS)?.as_mut_ptr();
        Ok(Ring { fd, sq_ring, cq_ring, requests, params })
    }

    /// Makes one request; returns its result.
    ///
    /// `operation`, `fd`, `offset`, `address`, `length` and `flags` are the fields of struct io_uring_sqe.
    ///
    /// # Errors
    ///
    /// The errno of the kernel for the ring, or for the request.
    pub fn request(
        &mut self,
        operation: u8,
        fd: i32,
        offset: u64,
        address: u64,
        length_and_flags: [u32; 2],
    ) -> io::Result<i32> {
        let mut request = vec![operation, 0, 0, 0];
        request.extend(fd.to_ne_bytes());
        request.extend(words(&[offset, address]));
        request.extend(length_and_flags.map(u32::to_ne_bytes).concat());
        request.extend([0; 32]);
        // SAFETY: a request has 64 bytes, and the mapping has room for one.
        unsafe { std::ptr::copy_nonoverlapping(request.as_ptr(), self.requests, 64) };
        let tail_at = self.offset(SQ_OFFSETS, 1);
        let array_at = self.offset(SQ_OFFSETS, 6);
        let tail = read(self.sq_ring, tail_at);
        write(self.sq_ring, array_at, 0);
        write(self.sq_ring, tail_at, tail.wrapping_add(1));
        let mut arguments = [
            Arg::Int(self.fd.as_raw_fd().into()),
            Arg::Int(1),
            Arg::Int(1),
            Arg::Int(GET_EVENTS),
            Arg::Null,
            Arg::Int(0),
        ];
        call(libc::SYS_io_uring_enter, &mut arguments)?;
        let head_at = self.offset(CQ_OFFSETS, 0);
        let mask = read(self.cq_ring, self.offset(CQ_OFFSETS, 2));
        let head = read(self.cq_ring, head_at);
        let results_at = self.offset(CQ_OFFSETS, 5);
        // struct io_uring_cqe: user_data (8 bytes), result, flags.
        let entry = results_at + (head & mask) as usize * 16;
        let result = read(self.cq_ring, entry + 8).cast_signed();
        write(self.cq_ring, head_at, head.wrapping_add(1));
        if result < 0 { Err(io::Error::from_raw_os_error(-result)) } else { Ok(result) }
    }

    fn offset(&self, table: usize, field: usize) -> usize {
        let at = table + field * 4;
        let bytes = self.params.get(at..at + 4).and_then(|bytes| bytes.try_into().ok());
        bytes.map_or(0, u32::from_ne_bytes) as usize
    }
}

fn read(from: *mut u8, at: usize) -> u32 {
    // SAFETY: the kernel's offsets are below the mapped length, and aligned.
    unsafe { from.add(at.min(MAPPED - 4)).cast::<u32>().read_volatile() }
}

fn write(to: *mut u8, at: usize, value: u32) {
    // SAFETY: the kernel's offsets are below the mapped length, and aligned.
    unsafe { to.add(at.min(MAPPED - 4)).cast::<u32>().write_volatile(value) };
}
