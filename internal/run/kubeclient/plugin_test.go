package kubeclient

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/run/kube"
)

// programUser returns a user whose log-in program prints a text and keeps its questions in a file of the folder.
func programUser(out, more string) string {
	return "{exec: {command: ./login, args: [a, b], apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: ok}, {name: TEST_PLUGIN_LOG, value: DIR/log}, {name: TEST_PLUGIN_OUT, value: '" +
		strings.ReplaceAll(out, "'", "''") + "'}]" + more + "}}"
}

// questions returns what a log-in program was asked since the last call, a line each.
func questions(t *testing.T, p *place) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(p.dir, "log"))
	if err != nil {
		t.Fatal(err)
	}
	_ = os.Remove(filepath.Join(p.dir, "log"))
	return strings.Split(strings.TrimSpace(string(text)), "\n")
}

// TestPluginQuestion: a log-in program gets the same arguments and the same question from this client and from client-go.
func TestPluginQuestion(t *testing.T) {
	token := credentialText("v1", `"token":"t"`)
	everything := secureAs(`, tls-server-name: api.example, disable-compression: true, proxy-url: 'http://user:pw@127.0.0.1:1', extensions: [{name: other, extension: 1}, {name: client.authentication.k8s.io/exec, extension: {audience: x, list: [1, 2.5, true, null]}}]`)
	for name, c := range map[string]kubeconfigCase{
		"alone":       {user: programUser(token, "")},
		"cluster":     {user: programUser(token, ", provideClusterInfo: true")},
		"everything":  {user: programUser(token, ", provideClusterInfo: true"), cluster: everything},
		"insecure":    {user: programUser(token, ", provideClusterInfo: true"), cluster: "{server: 'SERVER/a?b', insecure-skip-tls-verify: true}"},
		"interactive": {user: strings.ReplaceAll(programUser(token, ""), "Never", "IfAvailable")},
	} {
		p := newPlace(t, true, nil)
		o := Options{Kubeconfig: p.write(t, "config", c.content())}
		_, _ = ourList(t, o) // the proxy does not answer
		ours := questions(t, p)
		_, _ = theirList(t, o)
		theirs := questions(t, p)
		if len(ours) != 1 || len(theirs) != 1 {
			t.Fatal(ours, theirs)
		}
		ourWords, ourText, _ := strings.Cut(ours[0], "|")
		theirWords, theirText, _ := strings.Cut(theirs[0], "|")
		var a, b any
		if json.Unmarshal([]byte(ourText), &a) != nil || json.Unmarshal([]byte(theirText), &b) != nil || !reflect.DeepEqual(a, b) || ourWords != theirWords || ourWords != "a b" {
			t.Errorf("%s: this client asks\n%s\nclient-go asks\n%s", name, ours[0], theirs[0])
		}
	}
}

// TestPluginRenewal: a program is run once, again when its credentials have expired, and once when the API server refuses them.
func TestPluginRenewal(t *testing.T) {
	var refuse atomic.Int64
	p := newPlace(t, true, func(w http.ResponseWriter, _ *http.Request) {
		if refuse.Add(-1) >= 0 {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, pod)
	})
	for _, c := range []struct {
		expires   string
		refusals  int64
		questions int
		requests  int
		fails     bool
	}{
		{"", 0, 1, 2, false}, {`,"expirationTimestamp":null`, 0, 1, 2, false}, {`,"expirationTimestamp":"2100-01-01T00:00:00Z"`, 0, 1, 2, false},
		{`,"expirationTimestamp":"2020-01-01T00:00:00Z"`, 0, 2, 2, false}, {"", 1, 2, 3, false}, {"", 100, 3, 4, true},
	} {
		client, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: programUser(credentialText("v1", `"token":"t"`+c.expires), "")}).content())})
		if err != nil {
			t.Fatal(err)
		}
		refuse.Store(c.refusals)
		for range 2 {
			if err := ask(t.Context(), client, http.MethodGet); c.fails != kube.Is(err, kube.Unauthorized) {
				t.Errorf("%+v: %v", c, err)
			}
		}
		if q, r := questions(t, p), p.requests(); len(q) != c.questions || len(r) != c.requests {
			t.Errorf("%+v: %d questions, %d requests", c, len(q), len(r))
		}
		client.CloseIdleConnections()
	}
}

// TestPluginCertificate: a program may return a certificate; another certificate gets another connection.
func TestPluginCertificate(t *testing.T) {
	p := newPlace(t, true, nil)
	pair := func(cert, key []byte) string {
		text, err := json.Marshal(map[string]string{"clientCertificateData": string(cert), "clientKeyData": string(key), "expirationTimestamp": "2020-01-01T00:00:00Z"})
		if err != nil {
			t.Fatal(err)
		}
		return credentialText("v1", strings.Trim(string(text), "{}"))
	}
	client, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: programUser(pair(certificates().certPEM, certificates().keyPEM), "")}).content())})
	if err != nil {
		t.Fatal(err)
	}
	defer client.CloseIdleConnections()
	for range 2 {
		first := client.link.transports.http2
		if _, err := client.List(t.Context(), "Pod", "", ""); err != nil {
			t.Fatal(err)
		}
		if client.link.transports.http2 == first {
			t.Error("the connection of another certificate was used")
		}
		if r := p.requests(); len(r) != 1 || !strings.Contains(r[0], "certificate: somebody") {
			t.Error(r)
		}
	}
}

// TestPluginFaults: what is wrong with a program is said in one sentence, without what it has printed.
func TestPluginFaults(t *testing.T) {
	for _, c := range []struct{ out, want string }{
		{"", "its output is empty"},
		{"secret", "its output is not a credential"},
		{`{"secret"`, "its output is not a credential"},
		{credentialText("v1beta1", `"token":"secret"`), `its output is "ExecCredential" of "client.authentication.k8s.io/v1beta1", but the kubeconfig asks for "ExecCredential" of "client.authentication.k8s.io/v1"`},
		{strings.Replace(credentialText("v1", `"token":"secret"`), "ExecCredential", "Pod", 1), `its output is "Pod" of`},
		{`{"kind":"ExecCredential","apiVersion":"client.authentication.k8s.io/v1"}`, "its output has no token and no certificate"},
		{credentialText("v1", ""), "its output has no token and no certificate"},
		{credentialText("v1", `"clientKeyData":"secret"`), "its output has a certificate without key, or a key without certificate"},
		{credentialText("v1", `"clientKeyData":"secret","clientCertificateData":"x"`), "its certificate cannot be used"},
		{credentialText("v1", `"token":"secret","expirationTimestamp":"tomorrow"`), "its output is not a credential"},
	} {
		p := newPlace(t, true, nil)
		_, err := ourList(t, Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: programUser(c.out, "")}).content())})
		if err == nil || !strings.HasPrefix(err.Error(), "list pods: log-in program login: "+c.want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: %v", c.out, err)
		}
		if _, err := theirList(t, Options{Kubeconfig: filepath.Join(p.dir, "config")}); err == nil {
			t.Errorf("%s: client-go accepts it", c.out)
		}
	}
	for user, want := range map[string]string{
		"{exec: {command: absent-program, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, installHint: \"brew \\e[1minstall\"}}": `log-in program absent-program: it is not installed: brew \x1b[1minstall`,
		"{exec: {command: absent-program, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never}}":                                      "it is not installed; install it",
		"{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: fail}]}}":    "log-in program login: it failed with exit status 3",
		"{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Always, env: [{name: TEST_PLUGIN, value: fail}]}}":   "it asks questions, but standard input is not a terminal",
		"{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1alpha1, interactiveMode: Never}}":                                       `user "u": apiVersion "client.authentication.k8s.io/v1alpha1" of exec is not supported; allowed are client.authentication.k8s.io/v1 and`,
		"{auth-provider: {name: gcp}}": `user "u": auth-provider "gcp" is not supported, and Kubernetes has removed it; log in with a program of the provider that writes an exec entry instead`,
	} {
		p := newPlace(t, true, nil)
		if _, err := ourList(t, Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: user}).content())}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", user, err)
		}
	}
}

// TestTokenFile: a token that is replaced is used soon, and the last one as long as the file cannot be read.
func TestTokenFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "token")
	f := &tokenFile{path: path}
	expect := func(want, why string) {
		t.Helper()
		if got, err := f.token(); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q %v", why, got, err)
		}
	}
	put := func(text string) {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	expect("", "no file")
	put(" \n")
	expect("", "an empty file")
	put("one\n")
	expect("one", "the first token")
	put("two")
	expect("one", "a young token")
	f.read = time.Now().Add(-tokenAge)
	expect("two", "an old token")
	f.read = time.Now().Add(-tokenAge)
	_ = os.Remove(path)
	expect("two", "the file is away")
}
