//! Kubernetes quantities such as `500m`, `4Gi` or `1e3`, as a member's properties have them.

/// Returns the value of a quantity; `None` if the text is none. Values of a cluster's properties are far below the precision
/// of the result.
pub(super) fn parse(text: &str) -> Option<f64> {
    const SUFFIXES: [(&str, f64); 14] = [
        ("Ki", 1024.0),
        ("Mi", 1_048_576.0),
        ("Gi", 1_073_741_824.0),
        ("Ti", 1_099_511_627_776.0),
        ("Pi", 1_125_899_906_842_624.0),
        ("Ei", 1_152_921_504_606_846_976.0),
        ("n", 1e-9),
        ("u", 1e-6),
        ("m", 1e-3),
        ("k", 1e3),
        ("M", 1e6),
        ("G", 1e9),
        ("T", 1e12),
        ("P", 1e15),
    ];
    let with_suffix = SUFFIXES.iter().find_map(|(suffix, factor)| Some((text.strip_suffix(suffix)?, *factor)));
    // `5E` is a number of exa, `5E3` an exponent, which Rust reads by itself.
    let (number, factor) = with_suffix.or_else(|| Some((text.strip_suffix('E')?, 1e18))).unwrap_or((text, 1.0));
    let is_number = number.starts_with(|c: char| c.is_ascii_digit() || ['+', '-', '.'].contains(&c));
    number.parse::<f64>().ok().filter(|value| is_number && value.is_finite()).map(|value| value * factor)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn quantities_are_read_as_kubernetes_writes_them() {
        let values = [("0", 0.0), ("100", 100.0), ("500m", 0.5), ("2k", 2000.0), ("1Ki", 1024.0), ("1e3", 1000.0)];
        for (text, value) in values {
            assert!((parse(text).unwrap() - value).abs() < 1e-9, "{text}");
        }
        assert!((parse("2E").unwrap() - 2e18).abs() < 1.0);
        assert_eq!([parse(""), parse("much"), parse("inf"), parse("Gi")], [None; 4]);
    }
}
