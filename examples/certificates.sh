#!/usr/bin/env bash
# Makes an authority, and certificates of it for a server on this machine and for a client, to try TLS with. Real ones come
# from your own authority; see docs/security.md.
#
#   examples/certificates.sh DIR        writes ca.crt, server.crt, server.key, client.crt, client.key (and ca.key) to DIR
set -euo pipefail
mkdir -p "$1"
cd "$1"
umask 077

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1.key"; }

# issue NAME SUBJECT EXTENSIONS
issue() {
  key "$1"
  openssl req -new -key "$1.key" -subj "$2" -out "$1.csr"
  openssl x509 -req -in "$1.csr" -CA ca.crt -CAkey ca.key -CAcreateserial -days 30 -sha256 -extfile <(printf '%s\n' "$3") -out "$1.crt" 2>/dev/null
  rm "$1.csr"
}

key ca
openssl req -new -x509 -key ca.key -subj "/CN=thriftpack example authority" -days 30 -sha256 \
  -addext "basicConstraints=critical,CA:TRUE" -addext "keyUsage=critical,keyCertSign" -out ca.crt
issue server "/CN=localhost" "subjectAltName=DNS:localhost,IP:127.0.0.1
extendedKeyUsage=serverAuth"
issue client "/CN=example client" "subjectAltName=DNS:client.example
extendedKeyUsage=clientAuth"
rm -f ca.srl
