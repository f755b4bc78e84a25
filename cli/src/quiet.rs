//! Keeps what graphics drivers write to standard error from the user.
//!
//! Mesa and the libraries of window systems report on standard error what they looked for and did not find
//! ("XDG_RUNTIME_DIR is invalid"), although a device is then opened. Errors of the device reach this program
//! as values, so nothing is lost.

/// Runs `work` with standard error led to a file in memory. If `work` panics, the file is printed.
#[cfg(target_os = "linux")]
pub fn during<T>(work: impl FnOnce() -> T) -> T {
    let _redirected = Redirected::begin();
    work()
}

/// Other systems' drivers are not known to write to standard error.
#[cfg(not(target_os = "linux"))]
pub fn during<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// Standard error while it is redirected; the old one returns when this is dropped.
#[cfg(target_os = "linux")]
struct Redirected {
    own: std::os::fd::OwnedFd,
    /// The text written while standard error is redirected.
    said: std::fs::File,
}

#[cfg(target_os = "linux")]
impl Redirected {
    /// Redirects standard error; `None` if the system refuses, and the work then runs without redirection.
    fn begin() -> Option<Self> {
        use rustix::fs::{MemfdFlags, memfd_create};
        use std::os::fd::AsFd;
        let said = memfd_create("phalanx-stderr", MemfdFlags::CLOEXEC).ok()?;
        let own = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        rustix::stdio::dup2_stderr(&said).ok()?;
        Some(Self { own, said: said.into() })
    }
}

#[cfg(target_os = "linux")]
impl Drop for Redirected {
    fn drop(&mut self) {
        use std::io::{Seek, copy, stderr};
        // Fails for descriptors that are not open only.
        let _ = rustix::stdio::dup2_stderr(&self.own);
        if std::thread::panicking() && self.said.rewind().is_ok() {
            // Nothing can be done if standard error is closed too.
            let _ = copy(&mut self.said, &mut stderr());
        }
    }
}
