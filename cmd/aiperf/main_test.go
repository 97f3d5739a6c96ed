//go:build unix

package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// asProgram in the environment makes the test binary the program itself, so that tests run real processes (and these their mock server).
const asProgram = "RUN_AS_AIPERF_PROGRAM"

func TestMain(m *testing.M) {
	if os.Getenv(asProgram) != "" {
		faultOnSignal()
		main()
	}
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // what nohup ignores would be ignored by every process of these tests
	if err := moreInParallel(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	os.Exit(testhome.Run(m))
}

// moreInParallel lets six parallel tests run at a time, unless -parallel is given: one uses a sixth of a core on average and waits the rest.
func moreInParallel() error {
	const name = "test.parallel"
	flag.Parse()
	given := runtime.GOMAXPROCS(0) >= 6
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == name })
	if given {
		return nil
	}
	return flag.Set(name, "6")
}

// patience is the longest that any process of these tests may run. None comes near it; one that does hangs.
const patience = 2 * time.Minute

// process is the program under way.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	dir    string // of the artifacts
	stdout bytes.Buffer
	stderr watched
}

// watched is a buffer that tests may read while it grows.
type watched struct {
	mu   sync.Mutex
	text []byte
	more chan struct{}
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.text = append(w.text, p...)
	select {
	case w.more <- struct{}{}:
	default:
	}
	return len(p), nil
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.text)
}

// program is a process of this program that is not started yet: `profile` with its own artifact directory and args.
func program(t *testing.T, args ...string) *process {
	t.Helper()
	p := &process{t: t, dir: filepath.Join(t.TempDir(), "run")}
	p.stderr.more = make(chan struct{}, 1)
	p.cmd = command(t, append([]string{"profile", "--artifact-dir", p.dir}, args...)...)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p
}

// command is any command of this program.
func command(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1")
	return cmd
}

// underShell lets a shell prepare the process, which then takes its place.
func (p *process) underShell(prepare string) *process {
	exe := p.cmd.Path
	args := append([]string{"-c", prepare + `; exec "$0" "$@"`, exe}, p.cmd.Args[1:]...)
	shell, err := exec.LookPath("sh")
	if err != nil {
		p.t.Fatal(err)
	}
	p.cmd.Path, p.cmd.Args = shell, append([]string{"sh"}, args...)
	return p
}

func (p *process) start() *process {
	p.t.Helper()
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	return p
}

// wait returns the exit status; -1 = ended by a signal.
func (p *process) wait() int {
	p.t.Helper()
	hung := time.AfterFunc(patience, func() {
		p.cmd.Process.Signal(syscall.SIGQUIT)
		time.Sleep(5 * time.Second) // to print its stacks, which a terminal that nobody reads does not take
		p.cmd.Process.Kill()
	})
	defer hung.Stop()
	err := p.cmd.Wait()
	var status *exec.ExitError
	if err != nil && !errors.As(err, &status) {
		p.t.Fatal(err)
	}
	if !hung.Stop() {
		p.t.Fatalf("hangs\n%s", p.stderr.String())
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *process) run() int {
	p.t.Helper()
	return p.start().wait()
}

// says waits until the error stream contains a text.
func (p *process) says(text string) {
	p.t.Helper()
	deadline := time.After(patience)
	for !strings.Contains(p.stderr.String(), text) {
		select {
		case <-p.stderr.more:
		case <-deadline:
			p.t.Fatalf("stderr does not say %q:\n%s", text, p.stderr.String())
		}
	}
}

func (p *process) signal(s os.Signal) {
	p.t.Helper()
	if err := p.cmd.Process.Signal(s); err != nil {
		p.t.Fatal(err)
	}
}

// value is {"value", "unit"} in a record.
type value struct {
	Value json.RawMessage `json:"value"`
	Unit  string          `json:"unit"`
}

// line is what tests read of a line of the records JSONL.
type line struct {
	Metadata struct {
		RequestID string `json:"x_request_id"`
		Phase     string `json:"benchmark_phase"`
		Scheduled int64  `json:"scheduled_ns"`
		Start     int64  `json:"request_start_ns"`
		Turn      int    `json:"turn_index"`
		Cancelled bool   `json:"was_cancelled"`
	} `json:"metadata"`
	Metrics map[string]value `json:"metrics"`
	Error   *struct {
		Code    int    `json:"code"`
		Type    string `json:"type"`
		Message string `json:"message"`
	} `json:"error"`
}

// number is a scalar metric of a record.
func (l *line) number(t *testing.T, tag string) float64 {
	t.Helper()
	v, ok := l.Metrics[tag]
	if !ok {
		t.Fatalf("request %s has no %s", l.Metadata.RequestID, tag)
	}
	var f float64
	if err := json.Unmarshal(v.Value, &f); err != nil {
		t.Fatalf("request %s: %s: %v", l.Metadata.RequestID, tag, err)
	}
	return f
}

// records reads the records JSONL; every line must be whole.
func (p *process) records() []line {
	p.t.Helper()
	return readLines[line](p.t, filepath.Join(p.dir, "profile_export.jsonl"))
}

// counted tells whether a record has a value of a metric. Lines stand in the order in which workers finished, not in that of the requests.
func (p *process) counted(tag string, want float64) bool {
	return slices.ContainsFunc(p.records(), func(l line) bool { return l.number(p.t, tag) == want })
}

func readLines[T any](t *testing.T, path string) []T {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var list []T
	for in := bufio.NewReader(f); ; {
		text, err := in.ReadBytes('\n')
		if err == io.EOF && len(text) == 0 {
			return list
		}
		var l T
		if e := json.Unmarshal(text, &l); err != nil || e != nil {
			t.Fatalf("%s: line %d: %v %v: %.80s", filepath.Base(path), len(list)+1, err, e, text)
		}
		list = append(list, l)
	}
}

// summary is what tests read of the summary JSON.
type summary map[string]json.RawMessage

func (p *process) summary() summary {
	p.t.Helper()
	return readSummary(p.t, filepath.Join(p.dir, "profile_export_aiperf.json"))
}

func readSummary(t *testing.T, path string) summary {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := summary{}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return s
}

// avg is the average of a metric; 0 if it is not there.
func (s summary) avg(t *testing.T, tag string) float64 {
	t.Helper()
	var m struct{ Avg float64 }
	if s[tag] != nil {
		s.read(t, tag, &m)
	}
	return m.Avg
}

// text is a string or a truth value at the top, spelled as in JSON.
func (s summary) text(key string) string { return string(s[key]) }

func (s summary) read(t *testing.T, key string, into any) {
	t.Helper()
	if err := json.Unmarshal(s[key], into); err != nil {
		t.Fatalf("%s: %v", key, err)
	}
}

// verdict is the word of the validity object.
func (s summary) verdict(t *testing.T) string {
	t.Helper()
	var v struct{ Verdict string }
	s.read(t, "validity", &v)
	return v.Verdict
}

// complete fails unless all files of a run are there, and the records are as many as said.
func (p *process) complete(records int) {
	p.t.Helper()
	for _, name := range []string{"inputs.json", "profile_export_aiperf.json", "profile_export_aiperf.csv", "profile_export_console.txt", "logs/aiperf.log"} {
		if info, err := os.Stat(filepath.Join(p.dir, name)); err != nil || info.Size() == 0 {
			p.t.Errorf("%s: missing or empty (%v)", name, err)
		}
	}
	p.summary()
	if n := len(p.records()); n != records {
		p.t.Errorf("%d records, want %d", n, records)
	}
}

// scripted is a server that answers the first requests at once and holds all others until the test releases them, or the client disconnects.
type scripted struct {
	*httptest.Server
	held    chan struct{} // one for each request that is held
	release chan struct{} // closed: answer
}

const answer = `{"id":"1","object":"chat.completion","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":"all is well"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1,"completion_tokens":3,"total_tokens":4}}`

func newScripted(t *testing.T, atOnce int) *scripted {
	s := &scripted{held: make(chan struct{}, 1000), release: make(chan struct{})}
	var mu sync.Mutex
	s.Server = httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		mu.Lock()
		atOnce--
		hold := atOnce < 0
		mu.Unlock()
		if hold {
			s.held <- struct{}{}
			select {
			case <-s.release:
			case <-r.Context().Done():
				return
			}
		}
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, answer)
	}))
	t.Cleanup(s.Close)
	return s
}

// withoutMetrics is a server that answers requests but has no page of metrics, for which it is asked too.
func withoutMetrics(answer http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "/metrics") {
			http.NotFound(w, r)
			return
		}
		answer(w, r)
	})
}

// await waits until n more requests are held.
func (s *scripted) await(t *testing.T, n int) {
	t.Helper()
	deadline := time.After(patience)
	for range n {
		select {
		case <-s.held:
		case <-deadline:
			t.Fatal("the requests do not come")
		}
	}
}

// towards are the flags for a server without a known model, and prompts that are quick to make.
func towards(url string, more ...string) []string {
	return append([]string{"--url", url, "--model", "m", "--tokenizer", "builtin", "--isl", "8", "--num-dataset-entries", "4"}, more...)
}

// grown is the records JSONL during the run.
func (p *process) grown() []byte {
	text, _ := os.ReadFile(filepath.Join(p.dir, "profile_export.jsonl"))
	return text
}

// until waits for something that other processes bring about.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	if !within(patience, is) {
		t.Fatalf("%s does not come", what)
	}
}

// within waits for the same, but not for ever.
func within(most time.Duration, is func() bool) bool {
	for deadline := time.Now().Add(most); !is(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			return false
		}
	}
	return true
}
