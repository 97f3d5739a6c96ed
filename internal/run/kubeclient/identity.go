package kubeclient

import (
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"

	"aiperf/internal/run/kubeconfig"
)

// credential proves to the API server who sends a request.
type credential struct {
	authorization string           // header; "" = none
	cert          *tls.Certificate // of a program; nil = that of the kubeconfig, if there is one
}

// identity is the account of the kubeconfig.
type identity struct {
	fixed  *credential
	file   *tokenFile
	plugin *plugin
	as     http.Header // headers of impersonation
}

func newIdentity(a *kubeconfig.Access) (*identity, error) {
	i := &identity{fixed: &credential{}, as: impersonation(&a.As)}
	switch {
	case a.TokenFile != "":
		i.file = &tokenFile{path: a.TokenFile}
		if _, err := i.file.token(); err != nil && a.Token == "" {
			return nil, err
		}
		i.file.otherwise = a.Token
	case a.Token != "":
		i.fixed.authorization = "Bearer " + a.Token
	case a.Username != "":
		i.fixed.authorization = "Basic " + base64.StdEncoding.EncodeToString([]byte(a.Username+":"+a.Password))
	case a.Plugin != nil:
		i.plugin = newPlugin(a.Plugin)
	}
	return i, nil
}

// get returns the credential for a request. It may run a program, for which it waits as long as the context allows.
func (i *identity) get(ctx context.Context) (*credential, error) {
	switch {
	case i.plugin != nil:
		return i.plugin.get(ctx)
	case i.file != nil:
		token, err := i.file.token()
		return &credential{authorization: "Bearer " + token}, err
	}
	return i.fixed, nil
}

// renew returns a new credential after the API server has refused one; nil = there is no new one.
func (i *identity) renew(ctx context.Context, refused *credential) (*credential, error) {
	if i.plugin == nil {
		return nil, nil
	}
	return i.plugin.renew(ctx, refused)
}

// sign adds the credential to a request.
func (i *identity) sign(req *http.Request, c *credential) {
	if c.authorization != "" {
		req.Header.Set("Authorization", c.authorization)
	}
	for name, values := range i.as {
		req.Header[name] = values
	}
}

// impersonation returns the headers of an account as which requests are made.
func impersonation(as *kubeconfig.Impersonation) http.Header {
	h := http.Header{}
	if as.User == "" {
		return h
	}
	h.Set("Impersonate-User", as.User)
	if as.UID != "" {
		h.Set("Impersonate-Uid", as.UID)
	}
	for _, group := range as.Groups {
		h.Add("Impersonate-Group", group)
	}
	for name, values := range as.Extra {
		for _, value := range values {
			h.Add("Impersonate-Extra-"+escaped(name), value)
		}
	}
	return h
}

// escaped writes bytes as %XX that may not be in the name of a header.
func escaped(name string) string {
	var b strings.Builder
	for i := range len(name) {
		c := name[i]
		if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("!#$&'*+-.^_`|~", c) >= 0 {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}
