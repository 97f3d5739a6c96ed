package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/binenc"
	"aiperf/internal/base/redact"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/run"
	"aiperf/internal/wire/bus"
	"aiperf/internal/workload/load"
)

// chatServer answers chat requests and returns its address.
func chatServer(t *testing.T) string {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/metrics" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"object":"chat.completion","choices":[{"index":0,"message":{"role":"assistant","content":"yes"},"finish_reason":"stop"}],"usage":{"prompt_tokens":9,"completion_tokens":1,"total_tokens":10}}`)
	}))
	t.Cleanup(s.Close)
	return s.URL
}

// twoMachines is a run that waits for two machines.
type twoMachines struct {
	controller *Controller
	dir        string
	notes      *syncText
	result     chan *metric.Run
	err        error
	closed     sync.Once
}

// syncText collects text from several goroutines.
type syncText struct {
	mu   sync.Mutex
	text strings.Builder
}

func (s *syncText) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(b)
}

func (s *syncText) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}

// startRun starts a run of requests on two machines.
func startRun(t *testing.T, requests int) *twoMachines {
	t.Helper()
	r := &twoMachines{dir: t.TempDir(), notes: new(syncText), result: make(chan *metric.Run, 1)}
	b := config.Default().Benchmark
	users, url, three := 4, chatServer(t), config.Seconds(3)
	b.Models.Items = []config.Model{{Name: "m"}}
	b.Endpoint.URLs = []string{url}
	b.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Concurrency: &users, Requests: &requests}}
	b.Datasets[0].Prompts.ISL = config.Normal(8, 0)
	b.Tokenizer.Name = "builtin"
	b.Artifacts.Dir, b.ServerMetrics.Enabled, b.GPUTelemetry.Enabled = r.dir, false, false
	c, err := Open(t.Context(), Options{
		Machines: config.Machines{On: "2", Listen: "127.0.0.1:0", Timeout: &three}, Version: "test", Secret: func(string) {}, Note: func(string) {},
		As: func(key string) string { return key }, Words: func(join, _, _ string) []string { return []string{"worker", "--join", join} },
	})
	if err != nil {
		t.Fatal(err)
	}
	r.controller = c
	seed := config.Seed("5")
	go func() {
		done, err := run.Run(t.Context(), &b, &seed, run.Options{Version: "test", Err: r.notes, Machines: c, Secrets: redact.NewSecrets()})
		r.err = err
		r.result <- done
	}()
	t.Cleanup(func() { r.close(t) })
	return r
}

// close lets the machines go.
func (r *twoMachines) close(t *testing.T) {
	t.Helper()
	r.closed.Do(func() {
		if err := r.controller.Close(); err != nil {
			t.Error(err)
		}
	})
}

// wait returns the result of the run.
func (r *twoMachines) wait(t *testing.T) *metric.Run {
	t.Helper()
	select {
	case done := <-r.result:
		if r.err != nil {
			t.Fatalf("%v\n%s", r.err, r.notes.String())
		}
		return done
	case <-time.After(time.Minute):
		t.Fatalf("the run hangs\n%s", r.notes.String())
		return nil
	}
}

// stranger is a machine that has the token and speaks the protocol, but says what it likes.
type stranger struct {
	t      *testing.T
	client *bus.Client
	plans  chan *plan
}

func (r *twoMachines) stranger(t *testing.T) *stranger {
	t.Helper()
	s := &stranger{t: t, plans: make(chan *plan, 1)}
	var err error
	s.client, err = bus.Dial(t.Context(), bus.DialOptions{Join: r.controller.server.Join(), Token: r.controller.token, Name: "stranger", Order: func(kind string, data []byte) {
		if p := new(plan); kind == orderRun && decode(data, p) == nil {
			s.plans <- p
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.client.Close)
	data, err := encode(&hello{Version: "test", Build: build(), Host: "\x1b[31mred", Cores: -5})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.client.Ask(t.Context(), askHello, data); err != nil {
		t.Fatal(err)
	}
	return s
}

// asks asks a question, whatever the answer.
func (s *stranger) asks(kind string, data []byte) error {
	limited, stop := context.WithTimeout(s.t.Context(), 5*time.Second)
	defer stop()
	_, err := s.client.Ask(limited, kind, data)
	return err
}

// lies returns the binary form of messages that are well-formed and absurd.
func lies(t *testing.T, p *plan) map[string][]byte {
	t.Helper()
	far := int64(math.MaxInt64)
	stats := &load.PhaseStats{Started: -far, SentAll: far, Ended: far, Sent: -7, Completed: far}
	w := binenc.NewWriter(nil)
	if stats.Visit(w); w.Err() != nil {
		t.Fatal(w.Err())
	}
	state := progress{Epoch: p.Epoch, Offset: far, Bound: -far}
	for range 100 {
		state.Snapshots = append(state.Snapshots, load.Snapshot{Started: -far, SentAll: far, Ended: far, Sent: far, Completed: -far})
	}
	all := map[string][]byte{
		askOpen: []byte(`{"Phase":0,"Used":{"Conversations":9223372036854775807}}`), askBegin: []byte(`{"Phase":-1}`), askLease: []byte(`{"Phase":0,"Ask":{"Unused":-5,"Return":99}}`),
	}
	completed, err := json.Marshal(question{Stats: w.Bytes()})
	if err != nil {
		t.Fatal(err)
	}
	all[askComplete] = completed
	for kind, m := range map[string]any{
		noteProgress: &state, askKeep: &keptPart{Epoch: p.Epoch, File: 99, Text: []byte("x")}, askFile: &filePart{Epoch: p.Epoch, Number: -1, Offset: -far},
	} {
		data, err := encode(m)
		if err != nil {
			t.Fatal(err)
		}
		all[kind] = data
	}
	return all
}

// TestHostileMachine: a machine with the right token that sends absurd and damaged messages is given up, with the reason. It cannot end the
// controller, write outside of its files, or change what the other machine measured.
func TestHostileMachine(t *testing.T) {
	testhome.Slow(t)
	r := startRun(t, 40)
	honest := make(chan error, 1)
	go func() {
		honest <- Work(t.Context(), WorkerOptions{Join: r.controller.server.Join().String(), Token: r.controller.token, Name: "honest", Version: "test", Err: io.Discard, Secrets: redact.NewSecrets()})
	}()
	s := r.stranger(t)
	p := <-s.plans
	refused := 0
	random := rand.New(rand.NewPCG(3, 4))
	for kind, lie := range lies(t, p) {
		for _, data := range [][]byte{lie, damaged(random, lie), damaged(random, lie), {}, []byte("null"), make([]byte, 100_000)} {
			if kind == noteProgress {
				if err := s.client.Note(kind, data); err != nil {
					t.Fatal(err)
				}
				continue
			}
			if kind == askOpen || kind == askBegin { // well-formed ones wait for the other machine
				go func() { _ = s.asks(kind, data) }()
				continue
			}
			if s.asks(kind, data) != nil {
				refused++
			}
		}
	}
	if refused < 20 {
		t.Errorf("%d messages were refused", refused)
	}
	out := s.client.Outbox(p.Epoch, 1<<20)
	if _, err := out.Put(t.Context(), []byte("not a piece"), false); err != nil {
		t.Fatal(err)
	}
	done := r.wait(t)
	r.close(t)
	if err := <-honest; err != nil {
		t.Error(err)
	}
	machines := done.Validity.Machines
	if len(machines) != 2 {
		t.Fatalf("%+v", machines)
	}
	for _, m := range machines {
		switch {
		case m.Name == "honest" && (!m.Complete || m.Delivered == 0 || m.Delivered != done.Profiling.Valid):
			t.Errorf("%+v; %d valid requests", m, done.Profiling.Valid)
		case m.Name == "stranger" && (m.Complete || m.LostAt == 0 || !strings.Contains(m.Problem, "its results cannot be used")):
			t.Errorf("%+v", m)
		}
	}
	if w := done.Profiling.Window; w.To-w.From > int64(time.Minute) || w.To <= w.From {
		t.Errorf("the window is %v", time.Duration(w.To-w.From))
	}
	if strings.Contains(r.notes.String(), "\x1b") {
		t.Errorf("control characters reach the terminal: %q", r.notes.String())
	}
	entries, err := os.ReadDir(filepath.Join(r.dir, "machines"))
	for _, e := range entries {
		if e.Name() != "honest" && e.Name() != "stranger" {
			t.Errorf("%s was written", e.Name())
		}
	}
	if err != nil {
		t.Error(err)
	}
}

// damaged returns data with a few bytes changed, or a part of it.
func damaged(r *rand.Rand, data []byte) []byte {
	out := append([]byte(nil), data...)
	for range 1 + r.IntN(5) {
		if len(out) > 0 {
			out[r.IntN(len(out))] = byte(r.Uint32())
		}
	}
	return out[:len(out)-r.IntN(len(out)/2+1)]
}
