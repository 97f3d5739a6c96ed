package kubeclient

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"
	"k8s.io/streaming/pkg/httpstream"
	"k8s.io/streaming/pkg/httpstream/spdy"

	"aiperf/internal/run/kube"
)

// kubelet answers port-forwards with the server of Kubernetes: it sends back what it gets, or reports a fault.
func kubelet(fault string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		opened := make(chan httpstream.Stream, 2)
		conn := spdy.NewResponseUpgrader().UpgradeResponse(w, r, func(s httpstream.Stream, _ <-chan struct{}) error {
			if fault == "refuse" {
				return errors.New("no streams here")
			}
			opened <- s
			return nil
		})
		if conn == nil {
			return
		}
		defer conn.Close()
		var streams [2]httpstream.Stream
		for i := range streams {
			select {
			case streams[i] = <-opened:
			case <-conn.CloseChan():
				return
			}
		}
		if h := streams[1].Headers(); h.Get("port") != "8080" || h.Get("streamType") != "data" || streams[0].Headers().Get("streamType") != "error" {
			fault = fmt.Sprint("wrong headers ", h)
		}
		if fault == "cut" {
			_, _ = io.ReadFull(streams[1], make([]byte, 1)) // until the client has both streams
			return
		}
		if fault != "" {
			fmt.Fprint(streams[0], fault)
			streams[0].Close()
			<-conn.CloseChan()
			return
		}
		_, _ = io.Copy(streams[1], streams[1])
	}
}

// secureClient returns a client of a server with TLS.
func secureClient(t *testing.T, p *place) *Client {
	t.Helper()
	c, err := Open(Options{Kubeconfig: p.write(t, "config", (&kubeconfigCase{user: "{token: t}"}).content()), Agent: "x"})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// noLeaks fails a test that leaves goroutines behind.
func noLeaks(t *testing.T) {
	t.Helper()
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		// The server of Kubernetes keeps a goroutine for a second if it closes second.
		err := goleak.Find(running)
		for end := time.Now().Add(5 * time.Second); err != nil && time.Now().Before(end); {
			err = goleak.Find(running)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

// TestForward: bytes go both ways, many, and nothing is left when the connection is closed.
func TestForward(t *testing.T) {
	noLeaks(t)
	p := newPlace(t, true, kubelet(""))
	c := secureClient(t, p)
	t.Cleanup(c.CloseIdleConnections)
	for range 3 {
		conn, err := c.Dial(t.Context(), "p", 8080)
		if err != nil {
			t.Fatal(err)
		}
		sent := strings.Repeat("0123456789abcdef", 20000)
		go func() { _, _ = io.WriteString(conn, sent) }()
		got := make([]byte, len(sent))
		if _, err := io.ReadFull(conn, got); err != nil || string(got) != sent || conn.RemoteAddr().String() != "p" {
			t.Fatal(err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if _, err := conn.Read(got); err == nil {
			t.Error("read after the end")
		}
	}
	if r := p.requests()[0]; !strings.HasPrefix(r, "POST HTTP/1.1 /api/v1/namespaces/default/pods/p/portforward") || !strings.Contains(r, `Authorization: ["Bearer t"]`) || !strings.Contains(r, `X-Stream-Protocol-Version: ["portforward.k8s.io"]`) {
		t.Error(r)
	}
}

// TestForwardFaults: a fault that the kubelet reports is read as the error of the connection, and refusals have their reason.
func TestForwardFaults(t *testing.T) {
	noLeaks(t)
	for fault, want := range map[string]string{"connection refused in the pod": "connection refused in the pod", "cut": "EOF"} {
		c := clientOf(t, newPlace(t, false, kubelet(fault)))
		conn, err := c.Dial(t.Context(), "p", 8080)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = conn.Write([]byte("x")) // the fault may come first
		if _, err := conn.Read(make([]byte, 1)); err == nil || err.Error() != want {
			t.Errorf("%s: %v", fault, err)
		}
		_ = conn.Close()
	}
	c := clientOf(t, newPlace(t, false, kubelet("refuse")))
	if _, err := c.Dial(t.Context(), "p", 8080); !kube.Is(err, kube.Unreachable) || !strings.Contains(err.Error(), "Stream reset") {
		t.Error(err)
	}
	for code, want := range map[int]kube.Reason{401: kube.Unauthorized, 403: kube.Forbidden, 404: kube.Unreachable, 500: kube.Unreachable, 200: kube.Unreachable, 101: kube.Unreachable} {
		c := clientOf(t, newPlace(t, false, func(w http.ResponseWriter, _ *http.Request) {
			if code == 101 {
				w.Header().Set("Connection", "Upgrade")
				w.Header().Set("Upgrade", "websocket")
			}
			w.WriteHeader(code)
		}))
		if _, err := c.Dial(t.Context(), "p", 8080); !kube.Is(err, want) {
			t.Errorf("%d: %v", code, err)
		}
	}
}

// TestCancel: the end of a context ends every wait at once and leaves nothing behind.
func TestCancel(t *testing.T) {
	noLeaks(t)
	// mute agrees to streams and then says nothing.
	mute := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/portforward") && strings.Contains(r.URL.Path, "mute"):
			w.Header().Set("Connection", "Upgrade")
			w.Header().Set("Upgrade", "SPDY/3.1")
			w.WriteHeader(http.StatusSwitchingProtocols)
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				_, _ = io.Copy(io.Discard, conn)
				conn.Close()
			}
		case strings.HasSuffix(r.URL.Path, "/log"):
			fmt.Fprintln(w, "first line")
			w.(http.Flusher).Flush()
			<-r.Context().Done()
		default:
			_, _ = io.Copy(io.Discard, r.Body)
			<-r.Context().Done()
		}
	}
	p := newPlace(t, true, mute)
	plain := newPlace(t, false, mute)
	hangs := newPlace(t, true, nil)
	program, err := Open(Options{Kubeconfig: hangs.write(t, "config", (&kubeconfigCase{user: "{exec: {command: ./login, apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, env: [{name: TEST_PLUGIN, value: hang}]}}"}).content())})
	if err != nil {
		t.Fatal(err)
	}
	c := secureClient(t, p)
	t.Cleanup(c.CloseIdleConnections)
	for name, wait := range map[string]func(context.Context) error{
		"get":         func(ctx context.Context) error { return ask(ctx, c, http.MethodGet) },
		"get (HTTP)":  func(ctx context.Context) error { return ask(ctx, clientOf(t, plain), http.MethodGet) },
		"create":      func(ctx context.Context) error { return ask(ctx, c, http.MethodPost) },
		"delete":      func(ctx context.Context) error { return ask(ctx, c, http.MethodDelete) },
		"program":     func(ctx context.Context) error { return ask(ctx, program, http.MethodGet) },
		"upgrade":     func(ctx context.Context) error { _, err := c.Dial(ctx, "p", 1); return err },
		"streams":     func(ctx context.Context) error { _, err := clientOf(t, plain).Dial(ctx, "mute", 1); return err },
		"streams TLS": func(ctx context.Context) error { _, err := c.Dial(ctx, "mute", 1); return err },
		"log": func(ctx context.Context) error {
			log, err := c.Log(ctx, kube.LogOptions{Pod: "p", Follow: true})
			if err != nil {
				return err
			}
			defer log.Close()
			_, err = io.ReadAll(log)
			return err
		},
	} {
		var late time.Duration
		for range 3 { // a crowded machine may be late once
			ctx, cancel := context.WithCancel(t.Context())
			var at time.Time
			time.AfterFunc(80*time.Millisecond, func() { at = time.Now(); cancel() })
			err := wait(ctx)
			late = time.Since(at)
			cancel()
			if !errors.Is(err, context.Canceled) {
				t.Errorf("%s: %v after %v", name, err, late)
			}
			if late <= 500*time.Millisecond {
				break
			}
		}
		if late > 500*time.Millisecond {
			t.Errorf("%s: ended %v after it was cancelled, three times", name, late)
		}
	}
}
