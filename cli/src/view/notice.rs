//! [`Notice`]: a problem the viewer recovered from, shown for some seconds.

/// Time for which a notice is shown, in seconds.
const SECONDS: f64 = 8.0;

/// The last notice and its remaining time.
#[derive(Debug, Default)]
pub struct Notice {
    text: String,
    left: f64,
}

impl Notice {
    /// Shows a notice in place of the previous one.
    pub fn set(&mut self, text: String) {
        *self = Self { text, left: SECONDS };
    }

    /// Advances time, paused or not.
    pub fn age(&mut self, seconds: f64) {
        self.left -= seconds;
    }

    /// The text while it is shown.
    pub fn text(&self) -> Option<&str> {
        (self.left > 0.0).then_some(&self.text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notices_go_away() {
        let mut notice = Notice::default();
        assert_eq!(notice.text(), None);
        notice.set("lost".into());
        notice.age(7.9);
        assert_eq!(notice.text(), Some("lost"));
        // The next notice starts with the full time.
        notice.set("lost again".into());
        notice.age(7.9);
        assert_eq!(notice.text(), Some("lost again"));
        notice.age(0.2);
        assert_eq!(notice.text(), None);
    }
}
