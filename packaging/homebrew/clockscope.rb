# Untested: Homebrew has not built it, and the checksum is that of no archive yet.
class Clockscope < Formula
  desc "Measures every clock of a machine and reports which ones can be trusted"
  homepage "https://github.com/clockscope/clockscope"
  url "https://github.com/clockscope/clockscope/archive/refs/tags/v0.1.0.tar.gz"
  sha256 "0000000000000000000000000000000000000000000000000000000000000000"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://github.com/clockscope/clockscope.git", branch: "main"

  depends_on "rust" => :build
  # The command has been run on Linux alone.
  depends_on :linux

  def install
    system "cargo", "install", *std_cargo_args(path: "crates/clockscope-cli")
    generate_completions_from_executable(bin/"clockscope", "completions")
    (man1/"clockscope.1").write Utils.safe_popen_read(bin/"clockscope", "man")
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/clockscope --version")
    require "json"
    record = JSON.parse(shell_output("#{bin}/clockscope measure --json --duration 200ms"))
    assert_equal "clockscope.measure", record["schema"]
    refute_empty record["clocks"]
  end
end
