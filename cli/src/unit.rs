//! `--unit`: metres per unit of .bvh files, which do not say it themselves.

/// `m`, `cm`, or metres as a number.
pub fn parse(text: &str) -> Result<f64, String> {
    match text {
        "m" => return Ok(1.0),
        "cm" => return Ok(0.01),
        _ => {}
    }
    match text.parse::<f64>() {
        Ok(metres) if metres > 0.0 && metres.is_finite() => Ok(metres),
        _ => Err("expected m, cm, or metres above 0".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_numbers() {
        let parsed = ["m", "cm", "0.0254", "1e-3"].map(|t| parse(t).ok());
        assert_eq!(parsed, [Some(1.0), Some(0.01), Some(0.0254), Some(0.001)]);
        for bad in ["", "km", "0", "-1", "nan", "inf", "1 m"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
