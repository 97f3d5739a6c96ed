package plane

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
)

// credentials are the administrator's token, and the paths of keys that the components share.
type credentials struct {
	token                         string
	privateKey, publicKey, tokens string
}

// newCredentials draws new credentials and writes them into a folder.
func newCredentials(dir string) (credentials, error) {
	c := credentials{token: rand.Text(), privateKey: filepath.Join(dir, "sa.key"), publicKey: filepath.Join(dir, "sa.pub"),
		tokens: filepath.Join(dir, "tokens.csv")}
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return c, err
	}
	public, err := x509.MarshalPKIXPublicKey(&key.PublicKey)
	if err != nil {
		return c, err
	}
	for path, text := range map[string][]byte{
		c.privateKey: pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		c.publicKey:  pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}),
		c.tokens:     fmt.Appendf(nil, "%s,admin,admin,system:masters\n", c.token),
	} {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			return c, err
		}
	}
	return c, nil
}

// authority is the certificate that the API server made for itself.
func (p *Plane) authority() string { return p.in("certs/apiserver.crt") }

// writeKubeconfig writes the administrator's kubeconfig and returns its path.
func (p *Plane) writeKubeconfig() (string, error) {
	path := p.in("kubeconfig")
	return path, os.WriteFile(path, fmt.Appendf(nil, `apiVersion: v1
kind: Config
clusters: [{name: lab, cluster: {server: %q, certificate-authority: %q}}]
users: [{name: admin, user: {token: %q}}]
contexts: [{name: lab, context: {cluster: lab, user: admin, namespace: default}}]
current-context: lab
`, p.server(), p.authority(), p.credentials.token), 0o600)
}
