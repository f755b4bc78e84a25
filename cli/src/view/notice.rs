//! `Notice`: something that went wrong and was put right; told for some seconds.

/// Seconds that a notice stays.
const SECONDS: f64 = 8.0;

/// The last notice and how much longer it is told.
#[derive(Debug, Default)]
pub struct Notice {
    text: String,
    left: f64,
}

impl Notice {
    /// Tells something, in place of what was told before.
    pub fn set(&mut self, text: String) {
        *self = Self {
            text,
            left: SECONDS,
        };
    }

    /// Time passes, paused or not.
    pub fn age(&mut self, seconds: f64) {
        self.left -= seconds;
    }

    /// What is to be told, while it is.
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
        // The next one has its own time.
        notice.set("lost again".into());
        notice.age(7.9);
        assert_eq!(notice.text(), Some("lost again"));
        notice.age(0.2);
        assert_eq!(notice.text(), None);
    }
}
