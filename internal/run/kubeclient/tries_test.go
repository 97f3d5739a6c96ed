package kubeclient

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"aiperf/internal/base/testhome"
	"aiperf/internal/run/kube"
)

// pod is an object as an answer.
const pod = `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"p"}}`

// TestTries: as many requests are sent as by client-go, whatever the server answers.
func TestTries(t *testing.T) {
	broken := func(w http.ResponseWriter) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err == nil {
			conn.Close()
		}
	}
	asks := func(code int, after string) func(http.ResponseWriter) {
		return func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", after)
			w.WriteHeader(code)
		}
	}
	for name, c := range map[string]struct {
		answer func(http.ResponseWriter)
		times  int64 // then the server answers with an object
		want   int64 // requests; 0 = not fixed here
		slow   bool
	}{
		"429 three times":    {asks(429, "0"), 3, 4, false},
		"429 always":         {asks(429, "0"), 100, 11, false},
		"500 with a time":    {asks(500, "0"), 1, 2, false},
		"503 with a date":    {asks(503, "Wed, 21 Oct 2015 07:28:00 GMT"), 1, 1, false},
		"503 without a time": {func(w http.ResponseWriter) { w.WriteHeader(http.StatusServiceUnavailable) }, 1, 1, false},
		"404 with a time":    {asks(404, "0"), 1, 1, false},
		"a redirect": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/else")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, 1, 2, false},
		"redirects without end": {func(w http.ResponseWriter) {
			w.Header().Set("Location", "/else")
			w.WriteHeader(http.StatusTemporaryRedirect)
		}, 100, 10, false},
		"a wait of a second":        {asks(429, "1"), 1, 2, true},
		"a broken connection (GET)": {broken, 1, 0, true},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodDelete} {
			t.Run(name+" "+method, func(t *testing.T) {
				if c.slow {
					testhome.Slow(t)
				}
				t.Parallel()
				var n atomic.Int64
				p := newPlace(t, false, func(w http.ResponseWriter, _ *http.Request) {
					if n.Add(1) <= c.times {
						c.answer(w)
						return
					}
					w.Header().Set("Content-Type", "application/json")
					fmt.Fprint(w, pod)
				})
				ourError := ask(t.Context(), clientOf(t, p), method)
				ours := n.Swap(0)
				theirs, _, _, err := clientGo(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{cluster: "{server: SERVER}"}).content()), Agent: "x"})
				if err != nil {
					t.Fatal(err)
				}
				pods := theirs.Resource(podResource).Namespace("bench")
				switch method {
				case http.MethodGet:
					_, err = pods.Get(t.Context(), "p", metav1.GetOptions{})
				case http.MethodPost:
					_, err = pods.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"kind": "Pod", "apiVersion": "v1"}}, metav1.CreateOptions{})
				default:
					err = pods.Delete(t.Context(), "p", metav1.DeleteOptions{})
				}
				if ours != n.Load() || c.want != 0 && ours != c.want || (ourError == nil) != (err == nil) {
					t.Errorf("this client: %d requests, %v; client-go: %d requests, %v; want %d", ours, ourError, n.Load(), err, c.want)
				}
			})
		}
	}
}

func ask(ctx context.Context, c *Client, method string) error {
	var err error
	switch method {
	case http.MethodGet:
		_, err = c.Get(ctx, "Pod", "p")
	case http.MethodPost:
		_, err = c.Create(ctx, kube.Object{"kind": "Pod", "apiVersion": "v1"})
	default:
		err = c.Delete(ctx, "Pod", "p")
	}
	return err
}

// TestRedirects: another server gets nothing, in particular no token, and no request turns into another one.
func TestRedirects(t *testing.T) {
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer other.Close()
	to, code := other.URL, 307
	p := newPlace(t, true, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, to, code) })
	c, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: "{token: secret}"}).content())})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdleConnections()
	_, logError := c.Log(t.Context(), kube.LogOptions{Pod: "p"})
	_, dialError := c.Dial(t.Context(), "p", 1)
	for _, err := range []error{ask(t.Context(), c, http.MethodGet), ask(t.Context(), c, http.MethodPost), logError, dialError} {
		if err == nil || !strings.Contains(err.Error(), "the server redirects to "+other.URL+"; if that is the API server, write it into the kubeconfig") || strings.Contains(err.Error(), "secret") {
			t.Error(err)
		}
	}
	to, code = "/else", 302
	if err := ask(t.Context(), c, http.MethodPost); err == nil || !strings.Contains(err.Error(), "the server redirects a POST to /else") {
		t.Error(err)
	}
	if asked.Load() {
		t.Error("the other server was asked")
	}
}

// TestLimits: an answer that breaks off, or a server that wants too much patience, is an error which says so.
func TestLimits(t *testing.T) {
	p := newPlace(t, false, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if r.Method == http.MethodGet {
			w.Header().Set("Content-Length", "1000")
			fmt.Fprint(w, `{"kind":`)
			return
		}
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	c := clientOf(t, p)
	if err := ask(t.Context(), c, http.MethodGet); !kube.Is(err, kube.Unreachable) || !strings.Contains(err.Error(), "the answer has broken off") {
		t.Error(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := ask(ctx, c, http.MethodPost); !kube.Is(err, kube.Unreachable) || !strings.Contains(err.Error(), "503 Service Unavailable") {
		t.Error(err)
	}
}

// TestThrottle: a hundred requests go at once, then fifty a second.
func TestThrottle(t *testing.T) {
	var th throttle
	now := time.Now()
	for i := range 150 {
		if got, want := max(0, th.reserve(now)), max(0, time.Duration(i-99)*20*time.Millisecond); got != want {
			t.Fatalf("request %d waits %v, want %v", i, got, want)
		}
	}
	if got := th.reserve(now.Add(time.Hour)); got > 0 {
		t.Error(got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := th.wait(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
