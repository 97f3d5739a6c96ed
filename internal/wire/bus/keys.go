package bus

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names of the files with the keys of a controller. The last two are those of a TLS Secret of Kubernetes.
const (
	tokenFile       = "token"
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
)

// Keys are what a controller and its machines know each other by.
type Keys struct {
	Token       string
	Certificate *tls.Certificate // nil = one is made for the session if connections are encrypted
}

// NewKeys makes a token and a certificate.
func NewKeys() (*Keys, error) {
	certificate, err := newCertificate(time.Now())
	if err != nil {
		return nil, err
	}
	return &Keys{NewToken(), certificate}, nil
}

// Join returns how machines reach a controller with these keys.
func (k *Keys) Join(host string, port int) Join {
	return Join{Host: host, Port: port, Pin: pinOf(k.Certificate.Certificate[0])}
}

// Files returns the keys as files that ReadKeys reads, by name.
func (k *Keys) Files() (map[string][]byte, error) {
	key, err := x509.MarshalPKCS8PrivateKey(k.Certificate.PrivateKey)
	if err != nil {
		return nil, err
	}
	return map[string][]byte{
		tokenFile:       []byte(k.Token),
		certificateFile: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: k.Certificate.Certificate[0]}),
		keyFile:         pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: key}),
	}, nil
}

// longestKeyFile limits the size of a file with keys, bytes.
const longestKeyFile = 1 << 20

// ReadKeys reads the keys in a folder.
func ReadKeys(dir string) (*Keys, error) {
	texts := map[string][]byte{}
	for _, name := range []string{tokenFile, certificateFile, keyFile} {
		text, err := readLimited(filepath.Join(dir, name))
		if err != nil {
			return nil, err
		}
		texts[name] = text
	}
	token := strings.TrimSpace(string(texts[tokenFile]))
	if len(token) < shortestToken {
		return nil, fmt.Errorf("%s has %d characters; use at least %d", tokenFile, len(token), shortestToken)
	}
	certificate, err := tls.X509KeyPair(texts[certificateFile], texts[keyFile])
	if err != nil {
		return nil, fmt.Errorf("%s and %s: %w", certificateFile, keyFile, err)
	}
	return &Keys{token, &certificate}, nil
}

// readLimited reads a small file.
func readLimited(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, longestKeyFile+1))
	if len(text) > longestKeyFile {
		return nil, errors.New(path + " is too large for a key")
	}
	return text, err
}
