//! Some of many names.

/// Returns names, the first ones if there are more than `most`: `east, west (and 3 more)`.
#[must_use]
pub fn some_names(names: &[impl AsRef<str>], most: usize) -> String {
    let named = names.iter().take(most).map(AsRef::as_ref).collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(most) {
        0 => named,
        more => format!("{named} (and {more} more)"),
    }
}

#[cfg(test)]
mod tests {
    use super::some_names;

    #[test]
    fn names_beyond_the_most_are_counted() {
        assert_eq!(some_names(&["a", "b"], 2), "a, b");
        assert_eq!(some_names(&["a", "b", "c", "d"], 2), "a, b (and 2 more)");
        assert_eq!(some_names(&[""; 0], 2), "");
    }
}
