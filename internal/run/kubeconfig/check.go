package kubeconfig

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
)

// check returns what is wrong with a user. client-go refuses the same, with a server by HTTP too.
func (u *user) check(name string) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("user %q: "+format, append([]any{name}, args...)...))
	}
	if u.Token != "" && (u.Username != "" || u.Password != "") {
		wrong("token and username exclude each other; remove one of them")
	}
	if u.CertFile != "" || len(u.Cert) > 0 {
		u.checkPair(wrong)
	}
	if u.Exec != nil {
		u.checkPlugin(wrong)
	}
	if u.As == "" && (u.AsUID != "" || len(u.AsGroups) > 0 || len(u.AsExtra) > 0) {
		wrong("as-uid, as-groups and as-user-extra need as")
	}
	return joined(errs)
}

// checkPair returns what is wrong with the certificate of a user.
func (u *user) checkPair(wrong func(string, ...any)) {
	if u.CertFile != "" && len(u.Cert) > 0 {
		wrong("client-certificate and client-certificate-data exclude each other; remove one of them")
	}
	if u.KeyFile != "" && len(u.Key) > 0 {
		wrong("client-key and client-key-data exclude each other; remove one of them")
	}
	if u.KeyFile == "" && len(u.Key) == 0 {
		wrong("client-certificate needs client-key or client-key-data")
	}
	readable("client-certificate", u.CertFile, wrong)
	readable("client-key", u.KeyFile, wrong)
}

// checkPlugin returns what is wrong with the program of a user.
func (u *user) checkPlugin(wrong func(string, ...any)) {
	if u.AuthProvider != nil {
		wrong("exec and auth-provider exclude each other; remove auth-provider")
	}
	if u.Exec.Command == "" {
		wrong("exec needs command")
	}
	if u.Exec.APIVersion == "" {
		wrong("exec needs apiVersion, for example %s", PluginV1)
	}
	for _, e := range u.Exec.Env {
		if e.Name == "" {
			wrong("a variable in env of exec has no name")
		}
	}
	switch u.Exec.mode() {
	case NeverInteractive, MaybeInteractive, AlwaysInteractive:
	default:
		wrong("interactiveMode of exec is %q; allowed are %s, %s and %s", u.Exec.Interactive, NeverInteractive, MaybeInteractive, AlwaysInteractive)
	}
}

// check returns what is wrong with a cluster.
func (c *cluster) check(name string) error {
	var errs []error
	wrong := func(format string, args ...any) {
		errs = append(errs, fmt.Errorf("cluster %q: "+format, append([]any{name}, args...)...))
	}
	if strings.TrimSpace(c.Server) == "" {
		wrong("it has no server")
	}
	if c.Proxy != "" {
		if _, err := proxyURL(c.Proxy); err != nil {
			wrong("%w", err)
		}
	}
	if c.CAFile != "" && len(c.CA) > 0 {
		wrong("certificate-authority and certificate-authority-data exclude each other; remove one of them")
	}
	readable("certificate-authority", c.CAFile, wrong)
	return joined(errs)
}

// readable checks that a file can be opened.
func readable(key, path string, wrong func(string, ...any)) {
	if path == "" {
		return
	}
	f, err := os.Open(path)
	if err != nil {
		wrong("%s: %w", key, err)
		return
	}
	_ = f.Close() // nothing was written
}

// joined returns errors as one line; nil = none.
func joined(errs []error) error {
	errs = slices.DeleteFunc(errs, func(err error) bool { return err == nil })
	if len(errs) < 2 {
		return errors.Join(errs...)
	}
	texts := make([]string, len(errs))
	for i, err := range errs {
		texts[i] = err.Error()
	}
	return errors.New(strings.Join(texts, "; "))
}
