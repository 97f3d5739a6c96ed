#!/usr/bin/env bash
# Runs the program as aiperf does and compares its lines.
cd "$(dirname "$0")" || exit 1
got=$(bash grader.sh <<'LINES'
{"type":"hello","protocol":1,"aiperf":"test","category":"accuracy_grader","name":"my_plugin","options":{}}
{"id":1,"method":"grade","params":{"response_text":"Let me \"think\".\n\u003cB\\\u003e ","ground_truth":"\u003cb\\\u003e","task":"t","metadata":{}}}
{"id":2,"method":"grade","params":{"response_text":"B\nor C","ground_truth":"B","task":"t","metadata":{}}}
{"id":3,"method":"grade","params":{"response_text":" \n","ground_truth":"B","task":"t","metadata":{}}}
{"id":4,"method":"mark","params":{}}
LINES
)
want='{"type":"hello","protocol":1,"methods":["grade"],"metadata":{}}
{"id":1,"result":{"correct":true,"unparsed":false,"confidence":1,"extracted_answer":"<B\\>"}}
{"id":2,"result":{"correct":false,"unparsed":false,"confidence":1,"extracted_answer":"or C"}}
{"id":3,"result":{"correct":false,"unparsed":true,"confidence":0}}
{"id":4,"error":{"message":"unknown method mark"}}'
[ "$got" = "$want" ] || { printf 'got:\n%s\nwant:\n%s\n' "$got" "$want"; exit 1; }
echo ok
