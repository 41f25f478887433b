//! A printed traceback in the names of the program.

use rethrow_core::trace::{Frame, Throwable, Trace};

use super::Sources;

/// Rewrites the frames of a traceback to the program's names: class, method, and whether it is the platform's. Frames that are not found stay as
/// printed. Comprehensions that are no code of their own for this interpreter lend their line to the function around them.
pub fn align(trace: &Trace, sources: &Sources) -> Trace {
    let one = |thrown: &Throwable| Throwable {
        frames: frames(&thrown.frames, sources),
        suppressed: thrown.suppressed.iter().map(|t| align(t, sources)).collect(),
        ..thrown.clone()
    };
    Trace { thrown: one(&trace.thrown), causes: trace.causes.iter().map(one).collect(), truncated: trace.truncated }
}

fn frames(printed: &[Frame], sources: &Sources) -> Vec<Frame> {
    let inlined = sources.places.version >= (3, 12);
    let mut out: Vec<Frame> = Vec::with_capacity(printed.len());
    let mut lent: Option<(Option<String>, Option<u32>)> = None;
    for frame in printed {
        let mut frame = frame.clone();
        if inlined && matches!(frame.method.as_str(), "<listcomp>" | "<setcomp>" | "<dictcomp>") {
            let line = lent.take().filter(|(file, _)| *file == frame.file).map_or(frame.line, |(_, line)| line);
            lent = Some((frame.file, line));
            continue;
        }
        if let Some((file, line)) = lent.take()
            && file == frame.file
        {
            frame.line = line;
        }
        name(&mut frame, sources);
        out.push(frame);
    }
    out
}

fn name(frame: &mut Frame, sources: &Sources) {
    if frame.platform {
        return;
    }
    let Some(found) = sources.places.locate(&frame.class) else { return };
    if sources.places.is_stdlib(&found.path) {
        frame.platform = true;
        return;
    }
    let Some(file) = sources.by_path.get(&found.path).copied() else {
        frame.class = found.module;
        return;
    };
    let index = &sources.files[file].index;
    let nearest = || {
        let named = index.codes.iter().enumerate().filter(|(_, c)| c.name == frame.method);
        named.min_by_key(|(_, c)| frame.line.map_or(0, |l| c.first_line.abs_diff(l).min(c.last_line.abs_diff(l)))).map(|(i, _)| i)
    };
    let code = frame.line.and_then(|line| index.code_at(&frame.method, line)).or_else(nearest);
    frame.file = Some(found.path.to_string_lossy().into_owned());
    frame.class = code.map_or_else(|| sources.files[file].module.clone(), |code| sources.owner_name(file, code));
    if let Some(code) = code.filter(|_| frame.method.is_empty()) {
        frame.method = index.codes[code].name.clone();
    }
}
