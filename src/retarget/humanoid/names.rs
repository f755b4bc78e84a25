//! Joint names as the tables compare them.

/// A joint's name without namespace, prefix and separators, in lower case.
///
/// `mixamorig:LeftUpLeg` is `leftupleg`, `DEF-upper_arm.L` is `upperarml`, `Bip01 L Thigh` is `lthigh`.
pub(super) fn plain(name: &str) -> String {
    // What stands before the last colon or bar is a namespace or the name of an armature.
    let own = name.rsplit([':', '|']).next().unwrap_or(name);
    let own = ["DEF-", "ORG-"]
        .iter()
        .find_map(|prefix| own.strip_prefix(prefix))
        .unwrap_or(own);
    let letters = own.chars().filter(|c| !matches!(c, ' ' | '_' | '-' | '.'));
    let plain: String = letters.flat_map(char::to_lowercase).collect();
    let digit = |c: char| c.is_ascii_digit();
    // Some programs leave out the colon behind Mixamo's namespace.
    if let Some(rest) = plain.strip_prefix("mixamorig") {
        return rest.trim_start_matches(digit).to_owned();
    }
    // Biped's name is followed by its number.
    match plain.strip_prefix("bip") {
        Some(rest) if rest.starts_with(digit) => rest.trim_start_matches(digit).to_owned(),
        _ => plain,
    }
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn prefixes_and_separators_are_left_out() {
        for (name, expected) in [
            ("mixamorig:LeftUpLeg", "leftupleg"),
            ("Armature|mixamorig9:Hips", "hips"),
            ("mixamorigLeftUpLeg", "leftupleg"),
            ("mixamorig_1_Hips", "hips"),
            ("DEF-upper_arm.L", "upperarml"),
            ("Bip01 L Thigh", "lthigh"),
            ("Bip001 R Finger01", "rfinger01"),
            ("Bip01", ""),
            ("J_Bip_L_UpperLeg", "jbiplupperleg"),
            ("Biped", "biped"),
            ("Größe_L", "größel"),
            ("", ""),
        ] {
            assert_eq!(plain(name), expected, "{name}");
        }
    }
}
