//! What hostile fixtures aim at: files, listeners and a process outside the jail, and how to see whether they were harmed.

// Each test file uses its own part of it.
#![allow(dead_code)]

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, UdpSocket};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// What the fixture aims at: a home with canaries, listeners, a process.
pub struct Bait {
    pub dir: PathBuf,
    pub listeners: Vec<TcpListener>,
    pub receivers: Vec<UdpSocket>,
    pub port: u16,
    pub process: Child,
    /// Seconds that the grandchild sleeps: it is known by them.
    pub nap: String,
}

impl Bait {
    pub fn set(dir: &Path, nap: &str) -> Bait {
        let home = dir.join("home");
        std::fs::create_dir(&home).unwrap();
        for file in ["secret", "canary", "canary-io", "appended", "truncated", "renamed"] {
            std::fs::write(home.join(file), "alive").unwrap();
        }
        let (listeners, receivers, port) = listeners();
        let process = Command::new("sleep").arg("600").env("SECRET", "1").stdin(Stdio::null()).spawn().unwrap();
        Bait { dir: dir.to_path_buf(), listeners, receivers, port, process, nap: nap.into() }
    }

    pub fn path(&self, sub: &str) -> PathBuf {
        self.dir.join(sub)
    }

    /// A file in the machine's own folder for temporary files.
    pub fn outside(&self) -> PathBuf {
        std::env::temp_dir().join(format!("rethrow-jail-{}", self.nap))
    }

    /// `tcp` and `udp` for each connection or packet that arrived.
    pub fn heard(&self) -> Vec<&'static str> {
        let tcp = self.listeners.iter().filter(|l| l.accept().is_ok()).map(|_| "tcp");
        let udp = self.receivers.iter().filter(|r| r.recv(&mut [0; 8]).is_ok()).map(|_| "udp");
        tcp.chain(udp).collect()
    }

    pub fn alive(&mut self) -> bool {
        self.process.try_wait().unwrap().is_none()
    }
}

impl Drop for Bait {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_file(self.outside());
    }
}

/// On one port of both kinds, for both versions of IP where the machine has them.
fn listeners() -> (Vec<TcpListener>, Vec<UdpSocket>, u16) {
    for _ in 0..20 {
        let first = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = first.local_addr().unwrap().port();
        let Ok(udp) = UdpSocket::bind((Ipv4Addr::LOCALHOST, port)) else { continue };
        let v6 = SocketAddr::from((Ipv6Addr::LOCALHOST, port));
        let listeners: Vec<TcpListener> = [Some(first), TcpListener::bind(v6).ok()].into_iter().flatten().collect();
        let receivers: Vec<UdpSocket> = [Some(udp), UdpSocket::bind(v6).ok()].into_iter().flatten().collect();
        listeners.iter().for_each(|l| l.set_nonblocking(true).unwrap());
        receivers.iter().for_each(|r| r.set_nonblocking(true).unwrap());
        return (listeners, receivers, port);
    }
    panic!("no port is free for both");
}
