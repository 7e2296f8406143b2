//! Lines of a disassembly.

/// An instruction with its address.
pub(super) struct Instruction<'a> {
    pub(super) address: u64,
    pub(super) text: &'a str,
}

impl<'a> Instruction<'a> {
    /// Reads a line of the disassembly.
    pub(super) fn parse(line: &'a str) -> Option<Self> {
        let (address, text) = line.trim().split_once(':')?;
        Some(Self { address: u64::from_str_radix(address, 16).ok()?, text: text.trim() })
    }

    /// Address to which a jump or a call goes.
    pub(super) fn target(&self) -> Option<u64> {
        let operand = self.text.split_whitespace().skip(1).find_map(|word| u64::from_str_radix(word, 16).ok());
        let is_transfer = ["j", "call", "b", "cb", "tb", "loop"].iter().any(|name| self.text.starts_with(name));
        operand.filter(|_| is_transfer)
    }

    /// The numbers of the general registers that aarch64 names, in this order.
    pub(super) fn registers(&self) -> Vec<u32> {
        let operands = self.text.split(['<', '/']).next().unwrap_or_default();
        let words = operands.split(|letter: char| !letter.is_ascii_alphanumeric()).skip(1);
        words.filter_map(|word| word.strip_prefix(['x', 'w'])?.parse().ok()).collect()
    }

    /// Returns true if its name is one of these.
    pub(super) fn is(&self, names: &[&str]) -> bool {
        let name = self.text.split_whitespace().next().unwrap_or_default();
        names.contains(&name)
    }
}
