use super::*;

fn made(text: &str) -> (String, Vec<String>) {
    let mut notes = Notes::default();
    let mut memory = MemoryLimit::new(text.len() as u64, None);
    let (made, _) = plain(text.as_bytes(), &mut memory, &mut notes).unwrap();
    let entries = notes.finish();
    let entries = entries.iter().map(ToString::to_string).collect();
    (String::from_utf8(made.into_owned()).unwrap(), entries)
}

#[test]
fn members_become_spaces_and_lines_stay() {
    for (text, expected) in [
        (r#"{"a":1,"b":null,"c":2}"#, r#"{"a":1,         "c":2}"#),
        (r#"{"a":1,"b":null}"#, r#"{"a":1         }"#),
        (r#"{"b":null,"a":1}"#, r#"{         "a":1}"#),
        (r#"{"b":null}"#, r#"{        }"#),
        (r#"{"b":null,"c":null}"#, r#"{                 }"#),
        (r#"{"a":1,"b":null,"c":null}"#, r#"{"a":1                  }"#),
        ("{\"b\":\nnull,\"a\":[null]}", "{    \n     \"a\":[null]}"),
        (r#"{"extras":{"b":null},"c":null}"#, r#"{"extras":{"b":null}         }"#),
        (r#"{"x":[{"b":null},{"b":"}"}]}"#, r#"{"x":[{        },{"b":"}"}]}"#),
    ] {
        let (text, entries) = made(text);
        assert_eq!(text, expected);
        assert!(entries.is_empty(), "{entries:?}");
    }
}

#[test]
fn the_last_of_equal_keys_is_kept_and_reported() {
    let (text, entries) = made(r#"{"n":[0,{"a":{"b":1.5},"\u0061":2}]}"#);
    assert_eq!(text, r#"{"n":[0,{              "\u0061":2}]}"#);
    assert_eq!(entries.len(), 1);
    assert!(entries[0].contains("\"/n/1/a\" occurs twice"), "{entries:?}");
    let many: Vec<String> = (0..40).map(|i| format!("\"k{}\":{i}", i % 20)).collect();
    let (text, entries) = made(&format!("{{{}}}", many.join(",")));
    let kept: HashMap<String, usize> = serde_json::from_str(&text).unwrap();
    assert!((0..20).all(|i| kept[&format!("k{i}")] == 20 + i));
    assert!(entries[0].contains("20 keys"), "{entries:?}");
    let (text, _) = made(r#"{"a":1,"a":null}"#);
    assert_eq!(text, "{              }");
}

#[test]
fn integers_lose_fraction_and_exponent() {
    for (text, expected) in [
        (r#"{"node":5126.0}"#, r#"{"node":5126  }"#),
        (r#"{"node":1e2}"#, r#"{"node":100}"#),
        (r#"{"node":1E+4,"x":1}"#, r#"{"node":10000,"x":1}"#),
        (r#"{"node":-0.0}"#, r#"{"node":0   }"#),
        (r#"{"node":50e-1}"#, r#"{"node":5    }"#),
        (r#"{"joints":[0.0,1.0]}"#, r#"{"joints":[0  ,1  ]}"#),
        (r#"{"targets":[{"POSITION":3.0}]}"#, r#"{"targets":[{"POSITION":3  }]}"#),
        (r#"{"attributes":{"_A":3.0}}"#, r#"{"attributes":{"_A":3  }}"#),
    ] {
        assert_eq!(made(text).0, expected);
    }
    for same in [
        r#"{"node":5126.5}"#,
        r#"{"node":1e308}"#,
        r#"{"node":1e999}"#,
        r#"{"matrix":[1.0,-0.0]}"#,
        r#"{"extras":{"node":1.0,"nodes":[2.0]}}"#,
        r#"{"node":"1.0"}"#,
        r#"{"rotation":1.0}"#,
    ] {
        assert_eq!(made(same).0, same);
    }
}

#[test]
fn objects_and_values_are_counted_outside_of_strings() {
    let scan = |text: &[u8]| {
        let found = plain(text, &mut MemoryLimit::new(0, None), &mut Notes::default());
        found.map(|(_, counts)| counts)
    };
    let counts = scan(br#"{"a":[1,2,{"b":"{[,\"{"}]}"#).unwrap();
    assert_eq!((counts.objects, counts.values), (2, 5));
    let deep = "[".repeat(MAX_JSON_DEPTH + 1);
    assert!(scan(deep.as_bytes()).is_err());
    assert!(scan(&deep.as_bytes()[1..]).is_ok());
}

#[test]
fn every_byte_is_passed() {
    for byte in 0..=u8::MAX {
        for text in [&[byte][..], &[b'{', byte], b"{\"a\":\x0c,\x0b\x7f".as_slice()] {
            let mut memory = MemoryLimit::new(text.len() as u64, None);
            // The result does not matter; the call must return.
            let _ = plain(text, &mut memory, &mut Notes::default());
        }
    }
}

#[test]
fn text_that_is_not_json_does_not_become_json() {
    for bad in [
        r#"{"a":null "b":1}"#,
        r#"{"node":01.0}"#,
        r#"{"node":1.e1}"#,
        r#"{"a":null,}"#,
        r#"{"a":null"#,
        r#"{"a" null}"#,
        r#"{null:1}"#,
    ] {
        let mut memory = MemoryLimit::new(0, None);
        let made = plain(bad.as_bytes(), &mut memory, &mut Notes::default());
        let still = made.map(|(text, _)| serde_json::from_slice::<IgnoredAny>(&text).is_err());
        assert!(still.unwrap_or(true), "{bad}");
    }
}
