package pods

import (
	"encoding/pem"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// cluster is an API server for a test, and what a pod of it finds in its environment and its service account.
type cluster struct {
	options Options
	mu      sync.Mutex
	asked   []string // paths with queries
}

func newCluster(t *testing.T, answer func(query url.Values, w http.ResponseWriter)) *cluster {
	t.Helper()
	c := &cluster{}
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.asked = append(c.asked, r.URL.Path+"?"+r.URL.RawQuery)
		c.mu.Unlock()
		if r.Header.Get("Authorization") != "Bearer secret" {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		answer(r.URL.Query(), w)
	}))
	t.Cleanup(server.Close)
	host, port, err := net.SplitHostPort(server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	account := t.TempDir()
	for name, text := range map[string]string{
		"token": "secret\n", "namespace": "bench\n",
		"ca.crt": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw})),
	} {
		if err := os.WriteFile(filepath.Join(account, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{hostVariable: host, portVariable: port}
	c.options = Options{Account: account, Getenv: func(name string) string { return env[name] }}
	return c
}

// Pods of two pages: a server by its image with a port called metrics; one by Dynamo's label over IPv6; one with its own paths; a database;
// one without an address.
const (
	firstPage = `{"metadata":{"continue":"more"},"items":[
		{"metadata":{"labels":{"app":"llm"}},"spec":{"containers":[{"image":"docker.io/vLLM/openai:v1","ports":[{"name":"http","containerPort":8000},{"name":"metrics","containerPort":9000}]}]},"status":{"podIP":"10.0.0.1"}},
		{"metadata":{"labels":{"nvidia.com/metrics-enabled":"True"},"annotations":{"prometheus.io/port":"9091","prometheus.io/path":"m","prometheus.io/scheme":"https"}},"spec":{"containers":[{"image":"x"}]},"status":{"podIP":"fd00::2"}}]}`
	lastPage = `{"metadata":{},"items":[
		{"metadata":{"annotations":{"aiperf.nvidia.com/metrics-paths":"/a, b,"}},"spec":{"containers":[{"image":"x","ports":[{"containerPort":81},{"containerPort":82}]}]},"status":{"podIP":"10.0.0.3"}},
		{"metadata":{"annotations":{"prometheus.io/scrape":"true"}},"spec":{"containers":[{"image":"postgres","ports":[{"containerPort":5432}]}]},"status":{"podIP":"10.0.0.4"}},
		{"spec":{"containers":[{"image":"vllm","ports":[{"containerPort":8000}]}]},"status":{}}]}`
)

func pages(query url.Values, w http.ResponseWriter) {
	text := firstPage
	if query.Get("continue") == "more" {
		text = lastPage
	}
	_, _ = w.Write([]byte(text))
}

func TestFind(t *testing.T) {
	servers := []string{"http://10.0.0.1:9000/metrics", "http://10.0.0.3:81/a", "http://10.0.0.3:81/b", "https://[fd00::2]:9091/m"}
	for _, c := range []struct {
		namespace, selector string
		want                []string
		path                string
	}{
		{"", "", servers, "/api/v1/namespaces/bench/pods?fieldSelector=status.phase%3DRunning&limit=500"},
		{"prod", "", servers, "/api/v1/namespaces/prod/pods?fieldSelector=status.phase%3DRunning&limit=500"},
		{"*", "app=llm,env!=x", append(slices.Clone(servers[:3]), "http://10.0.0.4:5432/metrics", servers[3]),
			"/api/v1/pods?fieldSelector=status.phase%3DRunning&labelSelector=app%3Dllm%2Cenv%21%3Dx&limit=500"},
	} {
		k := newCluster(t, pages)
		k.options.Namespace, k.options.Selector = c.namespace, c.selector
		got, err := Find(t.Context(), k.options)
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s %s: %q %v, want %q", c.namespace, c.selector, got, err, c.want)
		}
		k.mu.Lock()
		if len(k.asked) != 2 || k.asked[0] != c.path || !strings.Contains(k.asked[1], "continue=more") {
			t.Errorf("asked %q, want %q and its next page", k.asked, c.path)
		}
		k.mu.Unlock()
	}
}

func TestFindFails(t *testing.T) {
	forbidden := func(_ url.Values, w http.ResponseWriter) { w.WriteHeader(http.StatusForbidden) }
	for _, c := range []struct {
		name   string
		answer func(url.Values, http.ResponseWriter)
		change func(*Options)
		want   string
	}{
		{"no right", forbidden, func(*Options) {}, "pods of namespace bench; give it a Role"},
		{"no right anywhere", forbidden, func(o *Options) { o.Namespace = AllNamespaces }, "give it a ClusterRole"},
		{"status", func(_ url.Values, w http.ResponseWriter) { w.WriteHeader(http.StatusTeapot) }, func(*Options) {}, "status 418"},
		{"no JSON", func(_ url.Values, w http.ResponseWriter) { _, _ = w.Write([]byte("<html>")) }, func(*Options) {}, "is not a list of pods"},
		{"no account", pages, func(o *Options) { o.Account = t.TempDir() }, "namespace of this pod is unknown"},
		{"no certificate", pages, func(o *Options) { o.Account, o.Namespace = t.TempDir(), "x" }, "ca.crt"},
		{"too slow", pages, func(o *Options) { o.Timeout = 1 }, "deadline exceeded"},
	} {
		k := newCluster(t, c.answer)
		c.change(&k.options)
		if got, err := Find(t.Context(), k.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %q %v, want %q", c.name, got, err, c.want)
		}
	}
	if Inside(func(string) string { return "" }) {
		t.Error("in a cluster without its variables")
	}
}
