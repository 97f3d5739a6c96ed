package kubeclient

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"golang.org/x/term"

	"aiperf/internal/run/kube"
	"aiperf/internal/run/kubeconfig"
)

// plugin gets credentials from a program and keeps them until they expire. Only one request at a time runs the program, because it may ask the user.
type plugin struct {
	spec     *kubeconfig.Plugin
	terminal func() bool // whether standard input is one

	turn    chan struct{} // full while a request runs the program or reads the fields below
	last    *credential
	expires time.Time // zero = never
}

func newPlugin(spec *kubeconfig.Plugin) *plugin {
	return &plugin{spec: spec, terminal: func() bool { return term.IsTerminal(int(os.Stdin.Fd())) }, turn: make(chan struct{}, 1)}
}

// get returns credentials that have not expired.
func (p *plugin) get(ctx context.Context) (*credential, error) {
	return p.unless(ctx, func() bool { return p.last != nil && (p.expires.IsZero() || !time.Now().After(p.expires)) })
}

// renew returns other credentials than those that the API server has refused.
func (p *plugin) renew(ctx context.Context, refused *credential) (*credential, error) {
	return p.unless(ctx, func() bool { return p.last != refused })
}

// unless returns the last credentials if they are good, else new ones.
func (p *plugin) unless(ctx context.Context, good func() bool) (*credential, error) {
	select {
	case p.turn <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-p.turn }()
	if good() {
		return p.last, nil
	}
	made, expires, err := p.run(ctx)
	if err != nil {
		return nil, &kube.APIError{Reason: kube.Other, Message: fmt.Sprintf("log-in program %s: %v", filepath.Base(p.spec.Command), err)}
	}
	p.last, p.expires = made, expires
	return made, nil
}

// message is what a program gets and returns: ExecCredential of client.authentication.k8s.io.
type message struct {
	Kind       string        `json:"kind"`
	APIVersion string        `json:"apiVersion"`
	Spec       messageSpec   `json:"spec"`
	Status     *issuedStatus `json:"status,omitempty"`
}

type messageSpec struct {
	Cluster     *kubeconfig.PluginCluster `json:"cluster,omitempty"`
	Interactive bool                      `json:"interactive"`
}

type issuedStatus struct {
	Expires *time.Time `json:"expirationTimestamp,omitempty"`
	Token   string     `json:"token,omitempty"`
	Cert    string     `json:"clientCertificateData,omitempty"`
	Key     string     `json:"clientKeyData,omitempty"`
}

// messageKind is the kind of messages.
const messageKind = "ExecCredential"

// run runs the program. If the context ends, so does the program.
func (p *plugin) run(ctx context.Context) (*credential, time.Time, error) {
	interactive, err := p.interactive()
	if err != nil {
		return nil, time.Time{}, err
	}
	about, err := json.Marshal(message{Kind: messageKind, APIVersion: p.spec.APIVersion, Spec: messageSpec{p.spec.Cluster, interactive}})
	if err != nil {
		return nil, time.Time{}, err
	}
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, filepath.Clean(p.spec.Command), p.spec.Args...)
	cmd.Env = append(append(os.Environ(), p.spec.Env...), "KUBERNETES_EXEC_INFO="+string(about))
	cmd.Stdout, cmd.Stderr = &out, os.Stderr
	cmd.WaitDelay = 100 * time.Millisecond // a process that the program has started may keep the output open
	if interactive {
		cmd.Stdin = os.Stdin
	}
	if err := cmd.Run(); err != nil {
		return nil, time.Time{}, p.failure(ctx, err)
	}
	return p.issued(out.Bytes())
}

// interactive reports whether the program gets standard input.
func (p *plugin) interactive() (bool, error) {
	switch p.spec.Interactive {
	case kubeconfig.NeverInteractive:
		return false, nil
	case kubeconfig.AlwaysInteractive:
		if !p.terminal() {
			return false, errors.New("it asks questions, but standard input is not a terminal; log in before, or run this in a terminal")
		}
		return true, nil
	}
	return p.terminal(), nil
}

// failure describes why the program has not run to its end. Its own messages are on standard error.
func (p *plugin) failure(ctx context.Context, err error) error {
	var missing *exec.Error
	var ended *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &missing) && p.spec.InstallHint != "":
		return fmt.Errorf("it is not installed: %s", p.spec.InstallHint)
	case errors.As(err, &missing):
		return errors.New("it is not installed; install it, or log in to the cluster in another way")
	case errors.As(err, &ended):
		return fmt.Errorf("it failed with exit status %d", ended.ExitCode())
	}
	return err
}

// issued reads what the program has returned.
func (p *plugin) issued(out []byte) (*credential, time.Time, error) {
	var none time.Time
	var m message
	if len(bytes.TrimSpace(out)) == 0 {
		return nil, none, errors.New("its output is empty")
	}
	if err := unmarshal(out, &m); err != nil {
		return nil, none, errors.New("its output is not a credential") // the output may be a secret
	}
	if m.Kind != messageKind || m.APIVersion != p.spec.APIVersion {
		return nil, none, fmt.Errorf("its output is %q of %q, but the kubeconfig asks for %q of %q", m.Kind, m.APIVersion, messageKind, p.spec.APIVersion)
	}
	switch s := m.Status; {
	case s == nil || s.Token == "" && s.Cert == "" && s.Key == "":
		return nil, none, errors.New("its output has no token and no certificate")
	case (s.Cert == "") != (s.Key == ""):
		return nil, none, errors.New("its output has a certificate without key, or a key without certificate")
	}
	made := &credential{}
	if m.Status.Token != "" {
		made.authorization = "Bearer " + m.Status.Token
	}
	if m.Status.Cert != "" {
		pair, err := tls.X509KeyPair([]byte(m.Status.Cert), []byte(m.Status.Key))
		if err != nil {
			return nil, none, fmt.Errorf("its certificate cannot be used: %w", err)
		}
		made.cert = &pair
	}
	if m.Status.Expires != nil {
		return made, *m.Status.Expires, nil
	}
	return made, none, nil
}
