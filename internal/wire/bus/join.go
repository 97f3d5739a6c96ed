package bus

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"time"

	"aiperf/internal/base/lazyregexp"
)

// Join says how a worker reaches a controller: tcp://HOST:PORT on the same machine, tls://HOST:PORT/SHA256 elsewhere. It holds no secret.
type Join struct {
	Host string
	Port int
	Pin  string // SHA-256 of the controller's certificate in hexadecimal digits; "" = no TLS
}

func (j Join) String() string {
	if j.Pin == "" {
		return "tcp://" + j.address()
	}
	return "tls://" + j.address() + "/" + j.Pin
}

// address returns host:port.
func (j Join) address() string { return net.JoinHostPort(j.Host, strconv.Itoa(j.Port)) }

var hostPattern = lazyregexp.New(`^[A-Za-z0-9]([A-Za-z0-9._-]{0,252}[A-Za-z0-9])?$`)

// ParseJoin reads what Join.String writes.
func ParseJoin(text string) (Join, error) {
	u, err := url.Parse(text)
	if err != nil || u.Opaque != "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Hostname() == "" {
		return Join{}, fmt.Errorf("%q is not the address of a controller: it looks like tls://10.0.0.5:4222/ and 64 hexadecimal digits", text)
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return Join{}, fmt.Errorf("the address %q has no port from 1 to 65535", text)
	}
	j := Join{Host: u.Hostname(), Port: int(port)}
	if address, err := netip.ParseAddr(j.Host); !hostPattern.MatchString(j.Host) && (err != nil || address.Zone() != "") {
		return Join{}, fmt.Errorf("%q in the address is neither a host name nor an IP address without a zone", j.Host)
	}
	switch u.Scheme {
	case "tcp":
		if u.Path != "" && u.Path != "/" || !isLoopback(j.Host) {
			return Join{}, fmt.Errorf("%q is not an address of this machine: an address of another machine begins with tls:// and ends with the controller's certificate", text)
		}
		return j, nil
	case "tls":
		pin, err := hex.DecodeString(u.Path[min(1, len(u.Path)):])
		if err != nil || len(pin) != sha256.Size {
			return Join{}, fmt.Errorf("the address %q does not end with the 64 hexadecimal digits of the controller's certificate: copy the whole line that it prints", text)
		}
		j.Pin = hex.EncodeToString(pin)
		return j, nil
	}
	return Join{}, fmt.Errorf("the address %q begins with %s://, only tls:// and tcp:// are possible", text, u.Scheme)
}

// isLoopback reports whether a host is this machine's loopback interface. Names other than localhost are not looked up.
func isLoopback(host string) bool {
	address, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && address.IsLoopback()
}

// newCertificate makes a certificate for one run. Workers know it by its digest, so it names nobody.
func newCertificate(now time.Time) (*tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "aiperf"}, NotBefore: now.Add(-24 * time.Hour), NotAfter: now.Add(366 * 24 * time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	return &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}

// pinOf returns the SHA-256 of a certificate in hexadecimal digits.
func pinOf(der []byte) string {
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:])
}

// pinned returns a configuration that accepts the certificate with this digest and no other.
func pinned(pin string) *tls.Config {
	return &tls.Config{
		MinVersion:         tls.VersionTLS13,
		InsecureSkipVerify: true, //nolint:gosec // VerifyConnection compares the certificate itself
		VerifyConnection: func(state tls.ConnectionState) error {
			if len(state.PeerCertificates) == 0 {
				return errors.New("the controller has no certificate")
			}
			if got := pinOf(state.PeerCertificates[0].Raw); subtle.ConstantTimeCompare([]byte(got), []byte(pin)) != 1 {
				return &wrongCertificateError{got: got}
			}
			return nil
		},
	}
}

// wrongCertificateError reports a controller other than the one in the join line.
type wrongCertificateError struct{ got string }

func (e *wrongCertificateError) Error() string {
	return fmt.Sprintf("the controller's certificate is %s, not the one in the address: copy the line that the controller of this run prints", e.got)
}
