//! The libraries that are tested: a table with a row for each class. Reads text only.

use std::path::PathBuf;

use super::super::suite::csv_row;

/// A library and the classes listed of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subject {
    pub name: String,
    pub coordinate: String,
    pub classes: Vec<String>,
}

impl Subject {
    /// Its own jar, then what it needs: without patterns, the classes of the first entry are tested.
    pub fn own_first(&self, jars: Vec<PathBuf>) -> Result<Vec<PathBuf>, String> {
        let mut parts = self.coordinate.split(':').skip(1);
        let own = format!("{}-{}.jar", parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        let (mut first, rest): (Vec<PathBuf>, Vec<PathBuf>) = jars.into_iter().partition(|j| j.file_name().is_some_and(|n| *n == *own));
        if first.is_empty() {
            return Err(format!("{own} is not among the jars of {}", self.coordinate));
        }
        first.extend(rest);
        Ok(first)
    }
}

/// The libraries in the order of the table; `only` names those that are wanted.
pub fn parse(text: &str, only: &[String]) -> Result<Vec<Subject>, String> {
    let mut rows = text.lines().map(csv_row);
    let head = rows.next().unwrap_or_default();
    let column = |name: &str| head.iter().position(|c| c == name).ok_or_else(|| format!("has no column {name}"));
    let (subject, coordinate, class) = (column("subject")?, column("maven_coordinate")?, column("class")?);
    let mut out: Vec<Subject> = Vec::new();
    for row in rows {
        let (Some(name), Some(coordinate), Some(class)) = (row.get(subject), row.get(coordinate), row.get(class)) else { continue };
        if name.is_empty() || coordinate.split(':').count() != 3 {
            return Err(format!("{coordinate:?} is not group:artifact:version"));
        }
        match out.iter_mut().find(|s| s.name == *name) {
            Some(known) => known.classes.push(class.clone()),
            None => out.push(Subject { name: name.clone(), coordinate: coordinate.clone(), classes: vec![class.clone()] }),
        }
    }
    if let Some(unknown) = only.iter().find(|o| !out.iter().any(|s| s.name == **o)) {
        return Err(format!("has no subject {unknown}"));
    }
    out.retain(|s| only.is_empty() || only.contains(&s.name));
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = "subject,maven_coordinate,class\na,g:a:1,x.A\na,g:a:1,x.B\nb,g:b:2,y.C\n";

    #[test]
    fn rows_of_a_library_come_together() {
        let all = parse(TABLE, &[]).unwrap();
        assert_eq!(all.iter().map(|s| (s.name.as_str(), s.classes.len())).collect::<Vec<_>>(), [("a", 2), ("b", 1)]);
        assert_eq!(parse(TABLE, &["b".into()]).unwrap().len(), 1);
        assert!(
            parse(TABLE, &["c".into()]).is_err() && parse("subject,class\n", &[]).is_err() && parse("subject,maven_coordinate,class\na,g,x\n", &[]).is_err()
        );
    }

    #[test]
    fn the_library_itself_comes_first() {
        let subject = &parse(TABLE, &[]).unwrap()[1];
        let jars = ["/c/a-9.jar", "/c/b-2.jar"].map(PathBuf::from).to_vec();
        assert_eq!(subject.own_first(jars).unwrap(), ["/c/b-2.jar", "/c/a-9.jar"].map(PathBuf::from));
        assert!(subject.own_first(vec!["/c/b-3.jar".into()]).is_err());
    }
}
