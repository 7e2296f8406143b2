//! The content that a browser may load and run: the page's own styles and script, by their hashes.

/// The policy. A test computes the hashes.
pub(super) const POLICY: &str = "default-src 'none'; \
    style-src 'sha256-vXdAv3EsAzOOX5czPrehnCMNKFPDWD9MdxvP1yz3oaA=' \
    'sha256-UJXdeP/ZfKA2d8peTHiHVwIt2vo+aaeEDRr10RY9znk='; \
    script-src 'sha256-KTISIgHa+91kl+Xd0BhJd2nl+PEzSBfvfPfUUWq3KMg='; \
    base-uri 'none'; form-action 'none'";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::super::{SCRIPT, STYLE, svg};
    use super::*;

    /// Base 64 (RFC 4648) of a hash.
    fn base64(bytes: &[u8]) -> String {
        const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut text = String::new();
        for chunk in bytes.chunks(3) {
            let bits = chunk.iter().fold(0u32, |bits, byte| bits << 8 | u32::from(*byte)) << (8 * (3 - chunk.len()));
            for index in 0..4 {
                let digit = DIGITS[(bits >> (18 - 6 * index)) as usize & 63];
                text.push(if index <= chunk.len() { digit.into() } else { '=' });
            }
        }
        text
    }

    #[test]
    fn base64_is_that_of_the_standard() {
        assert_eq!(
            ["f", "fo", "foo", "foob"].map(|text| base64(text.as_bytes())),
            ["Zg==", "Zm8=", "Zm9v", "Zm9vYg=="]
        );
    }

    #[test]
    fn the_policy_admits_the_styles_and_the_script() {
        let hash = |text: &str| format!("'sha256-{}'", base64(&Sha256::digest(text.as_bytes())));
        let [chart, page, script] = [svg::STYLE, STYLE, SCRIPT].map(hash);
        assert_eq!(
            POLICY,
            format!(
                "default-src 'none'; style-src {chart} {page}; script-src {script}; base-uri 'none'; form-action 'none'"
            )
        );
    }

    /// Characters that end an element early, or are no XML in an image, are not there.
    #[test]
    fn styles_and_script_can_be_embedded() {
        for text in [svg::STYLE, STYLE] {
            assert!(!text.contains(['<', '&']), "{text}");
        }
        assert!(!SCRIPT.contains("</") && !SCRIPT.contains("<!--"));
        assert!(SCRIPT.lines().count() <= 200);
    }
}
