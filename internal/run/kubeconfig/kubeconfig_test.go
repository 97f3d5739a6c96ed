package kubeconfig

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// places returns places in a folder, with variables.
func places(t *testing.T, env map[string]string) (*Places, string) {
	t.Helper()
	dir := t.TempDir()
	return &Places{Getenv: func(name string) string { return env[name] }, ServiceAccount: filepath.Join(dir, "account")}, dir
}

func write(t *testing.T, path, text string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// one is a kubeconfig with one context.
const one = "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nclusters: [{name: c, cluster: {server: 'https://one'}}]\nusers: [{name: u, user: {token: t}}]\n"

// TestPod: in a pod without kubeconfig the service account counts, with a kubeconfig only its namespace. client-go reads fixed paths, so it cannot be a witness here.
func TestPod(t *testing.T) {
	env := map[string]string{"KUBERNETES_SERVICE_HOST": "::1", "KUBERNETES_SERVICE_PORT": "6443"}
	p, dir := places(t, env)
	env["HOME"] = dir
	if _, err := p.Load(Options{}); !errors.Is(err, ErrNoCluster) {
		t.Fatal(err)
	}
	token := write(t, filepath.Join(p.ServiceAccount, "token"), "t")
	expect := func(o Options, server, namespace, tokenFile, ca string) {
		t.Helper()
		a, err := p.Load(o)
		if err != nil {
			t.Fatal(err)
		}
		if a.URL.String() != server || a.Namespace != namespace || a.TokenFile != tokenFile || a.CAFile != ca {
			t.Errorf("%+v", a)
		}
	}
	expect(Options{}, "https://[::1]:6443", "default", token, "")
	ca := write(t, filepath.Join(p.ServiceAccount, "ca.crt"), "no certificate")
	expect(Options{}, "https://[::1]:6443", "default", token, "")
	write(t, ca, authority)
	write(t, filepath.Join(p.ServiceAccount, "namespace"), "of-account\n")
	expect(Options{}, "https://[::1]:6443", "of-account", token, ca)
	expect(Options{Namespace: "mine"}, "https://[::1]:6443", "mine", token, ca)
	env["POD_NAMESPACE"] = "of-pod"
	expect(Options{}, "https://[::1]:6443", "of-pod", token, ca)
	config := write(t, filepath.Join(dir, ".kube", "config"), one)
	if runtime.GOOS != "windows" {
		expect(Options{}, "https://one", "of-pod", "", "")
	}
	expect(Options{Path: write(t, filepath.Join(dir, "default"), strings.Replace(one, "user: u}", "user: u, namespace: default}", 1))}, "https://one", "default", "", "")
	if err := os.Remove(config); err != nil {
		t.Fatal(err)
	}
	if _, err := p.Load(Options{Context: "y"}); err == nil || !strings.Contains(err.Error(), `there is no context "y"; the kubeconfig has none`) {
		t.Error(err)
	}
	// client-go uses the cluster around the pod here, which the context does not name.
	if _, err := p.Load(Options{Path: write(t, config, strings.Replace(one, "name: c,", "name: d,", 1))}); err == nil || !strings.Contains(err.Error(), `context "x": there is no cluster "c"; the kubeconfig has ["d"]`) {
		t.Error(err)
	}
	env["KUBERNETES_SERVICE_PORT"] = ""
	if _, err := p.Load(Options{Path: write(t, config, "")}); !errors.Is(err, ErrNoCluster) {
		t.Error(err)
	}
}

// TestNoHome: without a home no file counts that happens to be in the working directory: it could run a program.
func TestNoHome(t *testing.T) {
	p, dir := places(t, nil)
	write(t, filepath.Join(dir, ".kube", "config"), one)
	t.Chdir(dir)
	if _, err := p.Load(Options{}); !errors.Is(err, ErrNoCluster) {
		t.Error(err)
	}
}

// TestErrors: errors name the file and the line, or the entry, and show no secrets.
func TestErrors(t *testing.T) {
	entry := func(user string) string { return strings.Replace(one, "{token: t}", user, 1) }
	for text, want := range map[string]string{
		"users:\n- name: u\n  user: {token: [s3cret]}\n":               "FILE:3: found a list, expected a text",
		"users:\n- name: u\n  user: s3cret\n":                          "FILE:3: found a text, expected a mapping",
		"clusters:\n\n- cluster: {insecure-skip-tls-verify: s3cret}\n": "FILE:3: found a text, expected true or false",
		"clusters: s3cret\n":                                           "FILE:1: found a text, expected a list",
		"users:\n- user: {client-key-data: '*s3cret'}\n":               "FILE:2: the value is not base64",
		"users:\n- user: {token: s3cret\n":                             "FILE:",
		"a: b\n c: d\n":                                                "FILE:2: mapping values are not allowed in this context",
		"kind: Pod\n":                                                  `FILE is not a kubeconfig: its kind is "Pod" of "", but must be "Config" of "v1"`,
		one + "users: []\n":                                            `FILE:5: mapping key "users" already defined at line 4`,
		strings.Replace(one, "t}}]", "t}}, {name: u, user: {token: s3cret}}]", 1):              `FILE: two entries of users have the name "u"`,
		strings.Replace(one, "context: x", "context: y", 1):                                    `there is no context "y"; the kubeconfig has ["x"]`,
		strings.Replace(one, "name: u,", "name: v,", 1):                                        `context "x": there is no user "u"; the kubeconfig has ["v"]`,
		strings.Replace(one, "https://one", "", 1):                                             `cluster "c": it has no server`,
		strings.Replace(one, "https://one", "https://u:s3cret@a b", 1):                         `cluster "c": its server is not a URL`,
		strings.Replace(one, "https://one", "u:s3cret@one/a", 1):                               `cluster "c": its server has a path but no scheme; write https:// before it`,
		strings.Replace(one, "https://one'", "https://one', proxy-url: 'ftp://u:s3cret@x'", 1): `cluster "c": proxy-url has the scheme "ftp"; allowed are http, https and socks5`,
		entry("{token: s3cret, username: a, as-uid: '1'}"):                                     `user "u": token and username exclude each other; remove one of them; user "u": as-uid, as-groups and as-user-extra need as`,
		entry("{tokenFile: a, username: a}"):                                                   `user "u": username and tokenFile exclude each other`,
		entry("{client-certificate: absent}"):                                                  `user "u": client-certificate needs client-key or client-key-data; user "u": client-certificate: open `,
		entry("{exec: {}}"):                                                                    `user "u": exec needs command; user "u": exec needs apiVersion, for example client.authentication.k8s.io/v1; user "u": interactiveMode of exec is ""; allowed are`,
	} {
		p, dir := places(t, nil)
		path := write(t, filepath.Join(dir, "config"), text)
		_, err := p.Load(Options{Path: path})
		if err == nil || !strings.Contains(err.Error(), strings.ReplaceAll(want, "FILE", path)) || strings.Contains(err.Error(), "s3cret") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// TestFolders: relative paths are those of the folder of their file, and names of programs are not paths.
func TestFolders(t *testing.T) {
	p, dir := places(t, nil)
	folder := filepath.Join(dir, "of-file")
	write(t, filepath.Join(folder, "ca.crt"), "x")
	path := func(exec string) string {
		return write(t, filepath.Join(folder, "config"), strings.NewReplacer("'https://one'", "'https://one', certificate-authority: ca.crt", "{token: t}",
			"{exec: {command: "+exec+", apiVersion: client.authentication.k8s.io/v1beta1}}").Replace(one))
	}
	for exec, want := range map[string]string{"aws": "aws", "./aws": filepath.Join(folder, "aws"), "/bin/aws": "/bin/aws"} {
		if runtime.GOOS == "windows" && exec != "aws" {
			continue
		}
		a, err := p.Load(Options{Path: path(exec)})
		if err != nil {
			t.Fatal(err)
		}
		if a.CAFile != filepath.Join(folder, "ca.crt") || a.Plugin.Command != want || a.Plugin.Interactive != MaybeInteractive {
			t.Errorf("%+v %+v", a, a.Plugin)
		}
	}
}

// authority is a certificate that signs itself.
const authority = `-----BEGIN CERTIFICATE-----
MIIBcDCCARegAwIBAgIUXgodgt6hsURrsLXlUdjFostWUxYwCgYIKoZIzj0EAwIw
DTELMAkGA1UEAwwCY2EwIBcNMjYxMTI5MDcyMzIyWhgPMjEyNjExMDUwNzIzMjJa
MA0xCzAJBgNVBAMMAmNhMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEWkh8I+nF
icQSC8PWlrPvnAN0XFWx7pIZZW+t27xK8Pnn9z3dy8GAvNniEXcUOt+oxPnNZ64E
knBFg11RA0mmMKNTMFEwHQYDVR0OBBYEFOuBCU30aHmOAGT8myxJ1+y/ztZGMB8G
A1UdIwQYMBaAFOuBCU30aHmOAGT8myxJ1+y/ztZGMA8GA1UdEwEB/wQFMAMBAf8w
CgYIKoZIzj0EAwIDRwAwRAIgYGEqXqLPy3luCqBSXogKva1RKM/iK7JLy3DzU6uW
c7QCIAe38F188r+4Y9IXJa/u+2LEUHBGvhYSGT5+YKDxxkVG
-----END CERTIFICATE-----
`
