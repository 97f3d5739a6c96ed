#!/bin/sh
# Installs aiperf without root: downloads the archive of this system, compares its SHA-256 checksum, and puts the program into a directory.
#
#   sh install.sh --from URL [--version X.Y.Z] [--dir DIR]
#   sh install.sh --remove [--dir DIR]
#
# URL is the page of the releases (https://HOST/OWNER/REPOSITORY/releases). The default directory is ~/.local/bin. The same command upgrades; --remove deletes
# the two files that were installed.
set -eu

from=${AIPERF_RELEASES:-} version= dir=${HOME:-}/.local/bin remove=

fail() {
  echo "install.sh: $*" >&2
  exit 1
}

while [ $# -gt 0 ]; do
  case $1 in
    --from | --version | --dir)
      [ $# -ge 2 ] || fail "$1 needs a value"
      case $1 in --from) from=$2 ;; --version) version=$2 ;; --dir) dir=$2 ;; esac
      shift 2
      ;;
    --remove)
      remove=yes
      shift
      ;;
    -h | --help)
      sed -n '2,8s/^# \{0,1\}//p' "$0"
      exit 0
      ;;
    *) fail "$1 is not an option; see sh install.sh --help" ;;
  esac
done
if [ -n "$remove" ]; then
  [ -e "$dir/aiperf" ] || fail "$dir has no aiperf; name the directory with --dir"
  rm -f "$dir/aiperf"
  [ "$(readlink "$dir/genai-perf" 2>/dev/null || true)" != aiperf ] || rm -f "$dir/genai-perf"
  echo "removed: $dir/aiperf and $dir/genai-perf"
  exit 0
fi
[ -n "$from" ] || fail 'say where the releases are: --from https://HOST/OWNER/REPOSITORY/releases'
version=${version#v}
case $version in *[!0-9A-Za-z.+-]*) fail "--version $version is not a version such as 1.2.3" ;; esac

case $(uname -s) in
  Linux) os=linux ;;
  Darwin) os=darwin ;;
  *) fail "there is no archive for $(uname -s) here; on Windows use Scoop or the ZIP archive" ;;
esac
case $(uname -m) in
  x86_64 | amd64) arch=amd64 ;;
  aarch64 | arm64) arch=arm64 ;;
  *) fail "there is no archive for the processor $(uname -m); build it from source: make install" ;;
esac

if command -v curl >/dev/null; then
  get() { curl -fsSL --retry 3 -o "$2" "$1"; }
elif command -v wget >/dev/null; then
  get() { wget -q -O "$2" "$1"; }
else
  fail 'curl or wget is needed'
fi
if command -v sha256sum >/dev/null; then
  sum() { sha256sum "$1" | cut -d' ' -f1; }
elif command -v shasum >/dev/null; then
  sum() { shasum -a 256 "$1" | cut -d' ' -f1; }
else
  fail 'sha256sum or shasum is needed'
fi

place=${from%/}/latest/download
[ -z "$version" ] || place=${from%/}/download/v$version

temporary=$(mktemp -d)
trap 'rm -rf "$temporary"' EXIT
trap 'exit 1' HUP INT TERM

get "$place/checksums.txt" "$temporary/checksums.txt" || fail "cannot download $place/checksums.txt"
line=$(grep -E "^[0-9a-f]{64} [ *]aiperf_[0-9A-Za-z.+-]+_${os}_${arch}\.tar\.gz\$" "$temporary/checksums.txt" || true)
[ "$(printf '%s\n' "$line" | grep -c .)" = 1 ] || fail "$place/checksums.txt does not list one archive for $os/$arch"
wanted=${line%% *}
archive=${line##*[ *]}

get "$place/$archive" "$temporary/$archive" || fail "cannot download $place/$archive"
found=$(sum "$temporary/$archive")
[ "$found" = "$wanted" ] || fail "$archive has the checksum $found, not $wanted; nothing was installed"

tar -xzf "$temporary/$archive" -C "$temporary" aiperf
chmod 755 "$temporary/aiperf"
said=$("$temporary/aiperf" --version) || fail "the downloaded program does not run on this machine; nothing was installed"

mkdir -p "$dir"
cp "$temporary/aiperf" "$dir/.aiperf.$$" && mv -f "$dir/.aiperf.$$" "$dir/aiperf" # in one step: a running program keeps its file
ln -sf aiperf "$dir/genai-perf"
echo "$said"
echo "installed: $dir/aiperf and $dir/genai-perf"
case :$PATH: in
  *":$dir:"*) ;;
  *) echo "add it to your PATH: export PATH=\"$dir:\$PATH\"" ;;
esac
