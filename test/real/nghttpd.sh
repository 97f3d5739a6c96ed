#!/usr/bin/env bash
# nghttpd (C, nghttp2; Debian's nghttp2-server): bodies of every size there and back by HTTP/2, through its windows of 64 KiB and past its limit of
# 100 streams a connection. It echoes what it is sent.
. "$(dirname "$0")/lib.sh"
command -v nghttpd > /dev/null || skip "no nghttpd (Debian: apt-get install nghttp2-server)"
command -v openssl > /dev/null || skip "no openssl to make a certificate"
openssl req -x509 -newkey rsa:2048 -nodes -keyout "$work/ng-key.pem" -out "$work/ng-cert.pem" -days 2 -subj /CN=localhost -addext 'subjectAltName=DNS:localhost' 2> /dev/null
mkdir -p "$work/www"
plain=$(port); secret=$(port)
serve nghttpd.log nghttpd -d "$work/www" --echo-upload --no-tls "$plain"
serve nghttpd-tls.log nghttpd -d "$work/www" --echo-upload "$secret" "$work/ng-key.pem" "$work/ng-cert.pem"
listening "$plain"; listening "$secret"
for url in "http://127.0.0.1:$plain" "https://localhost:$secret"; do
  for isl in 50 40000; do
    profile "nghttpd-$isl" --model m --tokenizer builtin --url "$url" --tls-ca-file "$work/ng-cert.pem" --http-version 2 --endpoint-type template \
      --extra-inputs 'payload_template:{"text": {{ text|tojson }}}' --extra-inputs response_field:text --concurrency 120 --request-count 240 --num-dataset-entries 3 --isl "$isl"
    check "nghttpd-$isl" 240 --output "$isl"
  done
done
