#!/usr/bin/env bash
# hypercorn (Python, h2): HTTP/1.1 and HTTP/2 with prior knowledge, over TLS and over a Unix socket; the same answers by all of them.
. "$(dirname "$0")/lib.sh"
venv hypercorn hypercorn==0.18.0
command -v openssl > /dev/null || skip "no openssl to make a certificate"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/key.pem" -out "$work/cert.pem" -days 2 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' 2> /dev/null
plain=$(port); secret=$(port); socket=$work/hypercorn.sock
rm -f "$socket"
cd "$here"
serve hypercorn.log "$work/hypercorn/bin/hypercorn" app:app --insecure-bind "127.0.0.1:$plain" --bind "127.0.0.1:$secret" \
  --certfile "$work/cert.pem" --keyfile "$work/key.pem"
serve hypercorn-socket.log "$work/hypercorn/bin/hypercorn" app:app --bind "unix:$socket"
listening "$plain"; listening "$secret"
for _ in $(seq 100); do [ -S "$socket" ] && break; sleep 0.1; done
common=(--model m --tokenizer builtin --streaming --concurrency 150 --request-count 300 --osl 20 --isl 50 --export-level raw)
for version in 1.1 2; do
  profile "hypercorn-plain-$version" "${common[@]}" --http-version $version --url "http://127.0.0.1:$plain"
  profile "hypercorn-tls-$version" "${common[@]}" --http-version $version --url "https://localhost:$secret" --tls-ca-file "$work/cert.pem"
  profile "hypercorn-socket-$version" "${common[@]}" --http-version $version --url "unix://$socket"
  for way in plain tls socket; do
    check "hypercorn-$way-$version" 300 --chunks 20
    [ "$(grep -c "\"content\\\\\": \\\\\"$version\\\\\"" "$work/hypercorn-$way-$version/profile_export_raw.jsonl")" = 300 ] || { echo "$way: not every request went by HTTP/$version"; exit 1; }
  done
done
