#!/usr/bin/env bash
# Runs the program as aiperf does and compares its lines.
cd "$(dirname "$0")" || exit 1
results=$(mktemp -d) && trap 'rm -rf "$results"' EXIT
printf 12345 >"$results/summary.json"
got=$(bash exporter.sh <<LINES
{"type":"hello","protocol":1,"aiperf":"test","category":"data_exporter","name":"my_plugin","options":{}}
{"id":1,"method":"export","params":{"artifact_directory":"$results","summary":{},"records":null,"config":{}}}
{"id":2,"method":"export","params":{"artifact_directory":"$results/missing","summary":{},"records":null,"config":{}}}
LINES
)
want='{"type":"hello","protocol":1,"methods":["export"],"metadata":{}}
{"id":1,"result":{"files":[{"path":"'$results'/my_plugin.txt","description":"names and sizes of the result files"}]}}
{"id":2,"error":{"message":"'$results'/missing/my_plugin.txt: cannot be written"}}'
[ "$got" = "$want" ] || { printf 'got:\n%s\nwant:\n%s\n' "$got" "$want"; exit 1; }
grep -qx '5 summary.json' "$results/my_plugin.txt" || { cat "$results/my_plugin.txt"; exit 1; }
echo ok
