#!/usr/bin/env bash
# granian (Rust, hyper): HTTP/1.1 and HTTP/2 with prior knowledge, and by ALPN over TLS; the same answers by all of them.
. "$(dirname "$0")/lib.sh"
venv granian granian==2.8.7
command -v openssl > /dev/null || skip "no openssl to make a certificate"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/gr-key.pem" -out "$work/gr-cert.pem" -days 2 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' 2> /dev/null
plain=$(port); secret=$(port)
cd "$here"
serve granian.log "$work/granian/bin/granian" --interface asgi --http auto --host 127.0.0.1 --port "$plain" app:app
serve granian-tls.log "$work/granian/bin/granian" --interface asgi --http auto --host 127.0.0.1 --port "$secret" --ssl-certificate "$work/gr-cert.pem" \
  --ssl-keyfile "$work/gr-key.pem" app:app
listening "$plain"; listening "$secret"
common=(--model m --tokenizer builtin --streaming --concurrency 100 --request-count 300 --osl 20 --isl 50 --export-level raw)
for version in 1.1 2; do
  profile "granian-plain-$version" "${common[@]}" --http-version $version --url "http://127.0.0.1:$plain"
  profile "granian-tls-$version" "${common[@]}" --http-version $version --url "https://localhost:$secret" --tls-ca-file "$work/gr-cert.pem"
  for way in plain tls; do
    check "granian-$way-$version" 300 --chunks 20
    [ "$(grep -c "\"content\\\\\": \\\\\"$version\\\\\"" "$work/granian-$way-$version/profile_export_raw.jsonl")" = 300 ] || { echo "$way: not every request went by HTTP/$version"; exit 1; }
  done
done
