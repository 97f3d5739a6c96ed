package lab

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// target is a simulated server that counts the bodies it gets.
type target struct {
	url    string
	mu     sync.Mutex
	bodies map[[32]byte]int
}

// take returns the counts of bodies since the last call, by digest.
func (s *target) take() map[[32]byte]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	b := s.bodies
	s.bodies = map[[32]byte]int{}
	return b
}

// startTarget starts aiperf's simulated server, and a proxy on the pods' network that counts bodies.
func startTarget(t *testing.T) *target {
	t.Helper()
	c := aiperf(t, cluster.Kubeconfig, "mock-server", "--port", "0", "--ttft", "50ms", "--itl", "5ms")
	wait(t, "simulated server", func() (bool, error) { return strings.Contains(c.output(), "\n"), nil })
	first, _, _ := strings.Cut(c.output(), "\n")
	words := strings.Fields(first)
	server, err := url.Parse(words[len(words)-1])
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", cluster.Address+":0")
	if err != nil {
		t.Fatal(err)
	}
	s := &target{url: "http://" + l.Addr().String(), bodies: map[[32]byte]int{}}
	proxy := httputil.NewSingleHostReverseProxy(server)
	proxy.FlushInterval = -1
	counting := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err == nil && r.Method == http.MethodPost {
			s.mu.Lock()
			s.bodies[sha256.Sum256(body)]++
			s.mu.Unlock()
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
		proxy.ServeHTTP(w, r)
	})
	web := &http.Server{Handler: counting} //nolint:gosec // its clients are those of the test
	go web.Serve(l)                        //nolint:errcheck // it is closed below
	t.Cleanup(func() { _ = web.Close() })
	return s
}

// exported returns the numbers of a run's summary, by metric and statistic.
func exported(t *testing.T, dir string) map[string]map[string]float64 {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		t.Fatal(err)
	}
	numbers := map[string]map[string]float64{}
	for name, text := range all {
		var fields map[string]any
		if json.Unmarshal(text, &fields) != nil {
			continue
		}
		numbers[name] = map[string]float64{}
		for field, value := range fields {
			if n, ok := value.(float64); ok {
				numbers[name][field] = n
			}
		}
	}
	return numbers
}

func TestKubeEqualsLocalMachines(t *testing.T) {
	ns, server := namespace(t), startTarget(t)
	size := []string{"--url", server.url, "--model", "mock", "--streaming", "--concurrency", "6", "--request-count", "90",
		"--random-seed", "7", "--synthetic-input-tokens-mean", "40", "--output-tokens-mean", "8", "--artifact-dir"}
	dirs := []string{t.TempDir(), t.TempDir()}
	kube := profile(t, ns, "run", append(size, dirs[0]))
	if status := kube.status(t); status != 0 {
		t.Fatalf("exit status %d of kube profile", status)
	}
	inPods := server.take()
	local := aiperf(t, cluster.Kubeconfig, append(append([]string{"profile", "--machines", "local:3"}, size...), dirs[1])...)
	if status := local.status(t); status != 0 {
		t.Fatalf("exit status %d of profile", status)
	}
	if here := server.take(); len(here) == 0 || !reflect.DeepEqual(inPods, here) {
		t.Errorf("%d different bodies from pods, %d from processes here; they should be the same", len(inPods), len(here))
	}
	pods, here := exported(t, dirs[0]), exported(t, dirs[1])
	for _, name := range []string{"request_count", "total_output_tokens", "input_sequence_length", "output_sequence_length"} {
		if got, want := pods[name]["avg"], here[name]["avg"]; got != want || want == 0 {
			t.Errorf("%s: %v in pods, %v here", name, got, want)
		}
	}
	for _, name := range []string{"time_to_first_token", "request_latency"} {
		for _, p := range []string{"p50", "p90"} {
			got, want := pods[name][p], here[name][p]
			t.Logf("%s %s: %.1f ms in pods, %.1f ms here", name, p, got, want)
			if math.Abs(got-want) > 50 || want == 0 {
				t.Errorf("%s %s: %.1f ms in pods, %.1f ms here", name, p, got, want)
			}
		}
	}
	nothingLeft(t, ns)
}
