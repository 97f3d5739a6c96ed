#!/usr/bin/env bash
# Runs the program as aiperf does and compares its lines.
cd "$(dirname "$0")" || exit 1
odd=$(mktemp) && trap 'rm -f "$odd"' EXIT
printf 'a "quoted"\\\twörd\n' >"$odd"
got=$(bash loader.sh <<LINES
{"type":"hello","protocol":1,"aiperf":"test","category":"custom_dataset_loader","name":"my_plugin","options":{}}
{"id":1,"method":"can_load","params":{"path":"a.turns","head":[]}}
{"id":2,"method":"can_load","params":{"path":"a.jsonl","head":["a.turns"]}}
{"id":3,"method":"load","params":{"path":"example.turns","options":{}}}
{"id":4,"method":"load","params":{"path":"$odd","options":{}}}
{"id":5,"method":"load","params":{"path":"missing.turns","options":{}}}
LINES
)
want='{"type":"hello","protocol":1,"methods":["can_load","load"],"metadata":{}}
{"id":1,"result":{"can_load":true}}
{"id":2,"result":{"can_load":false}}
{"id":3,"part":{"conversations":[{"turns":[{"texts":["What is a token?"]},{"texts":["And how long is one?"]}]}]}}
{"id":3,"part":{"conversations":[{"turns":[{"texts":["Name three colours."]}]}]}}
{"id":3,"result":{}}
{"id":4,"part":{"conversations":[{"turns":[{"texts":["a \"quoted\"\\\u0009wörd"]}]}]}}
{"id":4,"result":{}}
{"id":5,"error":{"message":"missing.turns: cannot be read"}}'
[ "$got" = "$want" ] || { printf 'got:\n%s\nwant:\n%s\n' "$got" "$want"; exit 1; }
echo ok
