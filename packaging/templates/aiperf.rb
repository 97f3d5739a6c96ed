# Homebrew formula, filled in by `go run ./test/release manifests`.
class Aiperf < Formula
  desc "Benchmarks of LLM inference servers"
  homepage "@HOME@"
  version "@VERSION@"
  license "Apache-2.0"

  on_macos do
    on_arm do
      url "@BASE@/aiperf_@VERSION@_darwin_arm64.tar.gz"
      sha256 "@SUM_darwin_arm64@"
    end
    on_intel do
      url "@BASE@/aiperf_@VERSION@_darwin_amd64.tar.gz"
      sha256 "@SUM_darwin_amd64@"
    end
  end

  on_linux do
    on_arm do
      url "@BASE@/aiperf_@VERSION@_linux_arm64.tar.gz"
      sha256 "@SUM_linux_arm64@"
    end
    on_intel do
      url "@BASE@/aiperf_@VERSION@_linux_amd64.tar.gz"
      sha256 "@SUM_linux_amd64@"
    end
  end

  def install
    bin.install "aiperf"
    bin.install_symlink "aiperf" => "genai-perf"
    man1.install Dir["man/man1/*"]
    man7.install Dir["man/man7/*"]
    bash_completion.install "completions/bash/aiperf"
    zsh_completion.install "completions/zsh/_aiperf"
    fish_completion.install "completions/fish/aiperf.fish"
    prefix.install "THIRD-PARTY-LICENCES"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/genai-perf --version")
    system bin/"aiperf", "profile", "--url", "mock://", "--streaming", "--request-count", "2"
  end
end
