//! A trace in the format of `Throwable.printStackTrace`.

use std::fmt::{self, Display, Formatter};

use rethrow_core::trace::{Frame, Throwable, Trace};

/// Prints a trace as a JVM does. A trace that is not truncated is read back as it was.
pub struct Standard<'a>(pub &'a Trace);

impl Display for Standard<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        print_trace(f, self.0, "", "", &[])
    }
}

fn print_trace(f: &mut Formatter<'_>, trace: &Trace, caption: &str, indent: &str, enclosing: &[Frame]) -> fmt::Result {
    print_throwable(f, &trace.thrown, caption, indent, enclosing)?;
    let mut enclosing = &trace.thrown.frames;
    for cause in &trace.causes {
        print_throwable(f, cause, "Caused by: ", indent, enclosing)?;
        enclosing = &cause.frames;
    }
    Ok(())
}

fn print_throwable(f: &mut Formatter<'_>, thrown: &Throwable, caption: &str, indent: &str, enclosing: &[Frame]) -> fmt::Result {
    write!(f, "{indent}{caption}{}", thrown.exception)?;
    match &thrown.message {
        Some(message) => writeln!(f, ": {message}")?,
        None => writeln!(f)?,
    }
    let common = thrown.frames.iter().rev().zip(enclosing.iter().rev()).take_while(|(a, b)| a == b).count();
    for frame in &thrown.frames[..thrown.frames.len() - common] {
        writeln!(f, "{indent}\tat {}", Place(frame))?;
    }
    if common > 0 {
        writeln!(f, "{indent}\t... {common} more")?;
    }
    for suppressed in &thrown.suppressed {
        print_trace(f, suppressed, "Suppressed: ", &format!("{indent}\t"), &thrown.frames)?;
    }
    Ok(())
}

/// A frame after the word `at`.
pub struct Place<'a>(pub &'a Frame);

impl Display for Place<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let frame = self.0;
        // An archive has a version after a colon and follows the frame; a module or loader precedes it.
        let (archive, module) = match frame.origin.as_deref() {
            Some(origin) if origin.contains(':') => (Some(origin), None),
            origin => (None, origin),
        };
        if let Some(module) = module {
            write!(f, "{module}/")?;
        }
        write!(f, "{}.{}(", frame.class, frame.method)?;
        match (&frame.file, frame.line) {
            _ if frame.native => write!(f, "Native Method)")?,
            (Some(file), Some(line)) => write!(f, "{file}:{line})")?,
            (Some(file), None) => write!(f, "{file})")?,
            (None, Some(line)) => write!(f, "Unknown Source:{line})")?,
            (None, None) => write!(f, "Unknown Source)")?,
        }
        match archive {
            Some(archive) => write!(f, " ~[{archive}]"),
            None => Ok(()),
        }
    }
}
