//! Values from the fuzzer's bytes, and blocks of memory of exactly the bytes that a call is told.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::mem::MaybeUninit;
use std::ptr::null_mut;

/// What outputs are filled with before a call.
const CANARY: u8 = 0xA5;

/// The fuzzer's bytes. After their end, all is 0.
pub struct Source<'a> {
    bytes: &'a [u8],
    /// Whether the present call may get values that it must refuse.
    pub wild: bool,
}

impl<'a> Source<'a> {
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, wild: false }
    }

    pub fn ended(&self) -> bool {
        self.bytes.is_empty()
    }

    pub fn byte(&mut self) -> u8 {
        let Some((&first, rest)) = self.bytes.split_first() else { return 0 };
        self.bytes = rest;
        first
    }

    pub fn bytes(&mut self, count: usize) -> Vec<u8> {
        let (now, later) = self.bytes.split_at(count.min(self.bytes.len()));
        self.bytes = later;
        now.to_vec()
    }

    pub fn u64(&mut self) -> u64 {
        u64::from_le_bytes(std::array::from_fn(|_| self.byte()))
    }

    pub fn below(&mut self, count: usize) -> usize {
        usize::from(self.byte()) % count.max(1)
    }

    /// One of `n`, and never after the end.
    pub fn one_of(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }

    /// One of `n` of a call that may be wrong.
    pub fn wrong(&mut self, n: usize) -> bool {
        self.wild && self.one_of(n)
    }

    pub fn pick<T: Copy>(&mut self, all: &[T]) -> T {
        all[self.below(all.len())]
    }

    /// An index below `count`, or any number.
    pub fn index(&mut self, count: usize) -> u32 {
        if !self.wrong(4) {
            return self.below(count) as u32;
        }
        match self.below(4) {
            0 => u32::MAX,
            1 => count as u32,
            2 => 0xFFFF,
            _ => self.u64() as u32,
        }
    }

    pub fn flag(&mut self) -> u32 {
        self.pick(&[0, 1, 0, 1, u32::MAX])
    }

    /// A share from 0 to 1, or any number.
    pub fn unit(&mut self) -> f32 {
        if self.wrong(5) { self.odd() as f32 } else { f32::from(self.byte()) / 255.0 }
    }

    pub fn f32(&mut self) -> f32 {
        self.f64() as f32
    }

    /// A number of ordinary size, or any number.
    pub fn f64(&mut self) -> f64 {
        if self.wrong(6) {
            return self.odd();
        }
        const SOME: [f64; 8] = [0.0, 1.0, 0.5, 0.016, -1.0, 2.0, 100.0, 1e-3];
        match self.byte() {
            n @ 0..128 => SOME[usize::from(n) % SOME.len()],
            n => f64::from(n as i8) / 16.0,
        }
    }

    fn odd(&mut self) -> f64 {
        const ODD: [f64; 15] = [
            f64::NAN,
            f64::INFINITY,
            f64::NEG_INFINITY,
            f64::MAX,
            f64::MIN_POSITIVE,
            1e-45,
            -0.0,
            1e9,
            -1e9,
            1e6,
            1e15,
            1e16,
            1e30,
            -3.4e38,
            1e-30,
        ];
        match self.below(16) {
            15 => f64::from_bits(self.u64()),
            n => ODD[n],
        }
    }

    pub fn vector<const N: usize>(&mut self) -> [f32; N] {
        std::array::from_fn(|_| self.f32())
    }

    pub fn rotation(&mut self) -> [f32; 4] {
        let all = [[0.0, 0.0, 0.0, 1.0], [0.6, 0.0, 0.0, 0.8], [0.0, -0.5, 0.5, 3.0]];
        if self.wrong(4) { self.vector() } else { self.pick(&all) }
    }
}

/// A block of its own on the heap, or null. AddressSanitizer sees every access beyond it.
pub struct Heap {
    block: *mut u8,
    layout: Layout,
    at: *mut u8,
    bytes: usize,
}

impl Heap {
    /// `bytes` of canary, `skew` bytes beyond a multiple of `align`.
    pub fn new(bytes: usize, align: usize, skew: usize) -> Self {
        let layout = Layout::from_size_align(bytes + skew, align).expect("a small block");
        if layout.size() == 0 {
            let at = std::ptr::without_provenance_mut(align);
            return Self { block: null_mut(), layout, at, bytes };
        }
        // SAFETY: the size is not 0.
        let block = unsafe { alloc(layout) };
        if block.is_null() {
            handle_alloc_error(layout);
        }
        // SAFETY: the block has the skew and the bytes.
        let at = unsafe {
            block.write_bytes(CANARY, layout.size());
            block.add(skew)
        };
        Self { block, layout, at, bytes }
    }

    pub fn null() -> Self {
        Self { block: null_mut(), layout: Layout::new::<()>(), at: null_mut(), bytes: 0 }
    }

    /// A copy of the first `bytes` of the values; those beyond are canary.
    pub fn copy<T: Copy>(values: &[T], bytes: usize, skew: usize) -> Self {
        let heap = Self::new(bytes, align_of::<T>(), skew);
        // SAFETY: both have so many bytes.
        unsafe {
            let from = values.as_ptr().cast::<u8>();
            heap.at.copy_from_nonoverlapping(from, size_of_val(values).min(bytes));
        }
        heap
    }

    pub fn of<T: Copy>(values: &[T]) -> Self {
        Self::copy(values, size_of_val(values), 0)
    }

    pub fn is_null(&self) -> bool {
        self.at.is_null()
    }

    pub fn ptr<T>(&self) -> *const T {
        self.at.cast()
    }

    pub fn ptr_mut<T>(&self) -> *mut T {
        self.at.cast()
    }

    fn slice(&self) -> &[u8] {
        if self.bytes == 0 {
            return &[];
        }
        // SAFETY: all bytes were written in `new`.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes) }
    }

    /// No byte beyond the first `skip` was written.
    pub fn intact(&self, skip: usize) -> bool {
        const BLOCK: [u8; 512] = [CANARY; 512];
        let mut all = self.slice().get(skip..).unwrap_or_default().chunks(BLOCK.len());
        all.all(|bytes| bytes == &BLOCK[..bytes.len()])
    }

    /// The value that a call has written.
    pub fn read<T: Copy>(&self) -> T {
        assert!(self.bytes >= size_of::<T>());
        // SAFETY: it is that long, and the caller knows that it is a `T`.
        unsafe { self.at.cast::<T>().read_unaligned() }
    }
}

impl Drop for Heap {
    fn drop(&mut self) {
        if !self.block.is_null() {
            // SAFETY: it came from `alloc` with this layout.
            unsafe { dealloc(self.block, self.layout) };
        }
    }
}

/// Reads all bytes of a view of the library.
pub fn touch<T>(data: *const T, count: usize) {
    if count > 0 {
        let mut copy = Vec::<MaybeUninit<T>>::with_capacity(count);
        // SAFETY: the library says that so many values are there; the sanitizer looks.
        unsafe { copy.as_mut_ptr().copy_from_nonoverlapping(data.cast(), count) };
        std::hint::black_box(copy);
    }
}
