package plan

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"aiperf/internal/config"
)

// answering is a server that counts its prompts and answers each with four tokens; status other than 200 fails them. It has no metrics.
func answering(t *testing.T, status int) (url string, served *atomic.Int64) {
	t.Helper()
	served = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.NotFound(w, r)
			return
		}
		served.Add(1)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"object":"chat.completion","choices":[{"message":{"content":"one two three four"}}]}`)
	}))
	t.Cleanup(server.Close)
	return server.URL, served
}

// asked is a small run against a server.
func asked(t *testing.T, url string) *config.Run {
	t.Helper()
	r := config.Default()
	r.Models.Items = []config.Model{{Name: "m"}}
	r.Endpoint.URLs = []string{url}
	r.Tokenizer.Name = "builtin"
	r.Artifacts.Dir = filepath.Join(t.TempDir(), "out")
	r.Dataset().Entries, r.Dataset().Prompts.ISL = 3, config.Normal(12, 0)
	requests, concurrency := 5, 2
	r.Phases[0].Requests, r.Phases[0].Concurrency = &requests, &concurrency
	return r
}

// carriedOut is what an invocation did: its status and what it printed.
func carriedOut(t *testing.T, r *config.Run, terminal bool) (status int, out, told string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	ctx, done := Watch(t.Context(), &stderr)
	status = done(Profile(ctx, r, Streams{
		Out: &stdout, Err: &stderr, Width: 90, Terminal: terminal, Version: "v", Args: []string{"profile", "--url", "http://h", "--api-key", "sk-very-secret"},
	}))
	return status, stdout.String(), stderr.String()
}

// summary reads the part of a summary that tells which run it was.
func summary(t *testing.T, dir string) (s struct {
	Count struct{ Avg float64 } `json:"request_count"`
	Info  struct {
		CLICommand string      `json:"cli_command"`
		Seed       json.Number `json:"random_seed"`
	} `json:"run_info"`
}) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	return s
}

// TestOneRun: the tables are printed and left as a file, the command is shown without its secrets, and a terminal gets the headline.
func TestOneRun(t *testing.T) {
	url, served := answering(t, http.StatusOK)
	r, no := asked(t, url), false
	r.Endpoint.Probe = &no
	status, out, told := carriedOut(t, r, true)
	if status != 0 || served.Load() != 5 {
		t.Fatalf("status %d, %d requests\n%s", status, served.Load(), told)
	}
	for _, want := range []string{"Req Latency", "Verdict", "Results", "--api-key"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	console, err := os.ReadFile(filepath.Join(r.Artifacts.Dir, "profile_export_console.txt"))
	if err != nil || !strings.Contains(string(console), "Request Latency") {
		t.Errorf("%v: %s", err, console)
	}
	s := summary(t, r.Artifacts.Dir)
	if s.Count.Avg != 5 || strings.Contains(out+s.Info.CLICommand, "very-secret") || !strings.Contains(s.Info.CLICommand, "aiperf profile --url 'http://h'") {
		t.Errorf("%+v", s)
	}
}

// TestOneRunThatFails: the status says that no request succeeded, or that there was no run.
func TestOneRunThatFails(t *testing.T) {
	url, served := answering(t, http.StatusServiceUnavailable)
	if status, _, told := carriedOut(t, asked(t, url), false); status != 1 || served.Load() != 5 || !strings.Contains(told, "all 5 requests failed: 5 × 503") {
		t.Errorf("status %d after %d requests: %s", status, served.Load(), told)
	}
	r := asked(t, "ftp://h")
	if status, _, told := carriedOut(t, r, false); status != 1 || !strings.HasPrefix(told, "error: ") {
		t.Errorf("status %d: %s", status, told)
	}
}

// TestSeries: every cell of a sweep runs as often as asked for, each run with its own directory and seed, and what they add up to is
// printed and written for every cell.
func TestSeries(t *testing.T) {
	for order, places := range map[string]struct{ run, aggregate string }{
		"repeated":    {"profile_runs/trial_000%d/concurrency_%d", "aggregate/concurrency_%d"},
		"independent": {"concurrency_%[2]d/profile_runs/trial_000%[1]d", "concurrency_%d/aggregate"},
	} {
		url, served := answering(t, http.StatusOK)
		r := asked(t, url)
		seed := config.Seed("7")
		r.RandomSeed = &seed
		r.MultiRun.NumRuns, r.MultiRun.VarySeedPerTrial, r.MultiRun.Cooldown = 2, true, 0
		r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: order, Parameters: config.Axes{{Path: "phases.profiling.concurrency", Values: []any{1, 2}}}}
		status, out, told := carriedOut(t, r, false)
		if status != 0 || served.Load() != 20 {
			t.Fatalf("%s: status %d, %d requests\n%s", order, status, served.Load(), told)
		}
		seeds := map[json.Number]bool{}
		for trial := 1; trial <= 2; trial++ {
			for concurrency := 1; concurrency <= 2; concurrency++ {
				dir := filepath.Join(r.Artifacts.Dir, filepath.FromSlash(fmt.Sprintf(places.run, trial, concurrency)))
				s := summary(t, dir)
				if s.Count.Avg != 5 {
					t.Errorf("%s: %v requests in %s", order, s.Count.Avg, dir)
				}
				if _, err := os.Stat(filepath.Join(dir, "profile_export_console.txt")); err != nil {
					t.Error(err)
				}
				seeds[s.Info.Seed] = true
			}
		}
		if len(seeds) != 4 {
			t.Errorf("%s: seeds %v, want one of its own for each run", order, seeds)
		}
		for concurrency := 1; concurrency <= 2; concurrency++ {
			dir := filepath.Join(r.Artifacts.Dir, filepath.FromSlash(fmt.Sprintf(places.aggregate, concurrency)))
			text, err := os.ReadFile(filepath.Join(dir, "profile_export_aiperf_aggregate.json"))
			if err != nil || !strings.Contains(string(text), `"request_count_avg"`) {
				t.Errorf("%s: %v: %.300s", order, err, text)
			}
			if !strings.Contains(out, "Aggregate: "+dir) {
				t.Errorf("%s: %s is not named in\n%s", order, dir, out)
			}
		}
		for _, want := range []string{"2 of 2 runs, 95 % confidence", "Sweep: 2 cells", "req/s"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s: no %q in\n%s", order, want, out)
			}
		}
	}
}

// TestSeriesOfFailures: the series continues, says what failed, and its status is 1 only where nothing succeeded.
func TestSeriesOfFailures(t *testing.T) {
	url, _ := answering(t, http.StatusServiceUnavailable)
	r := asked(t, url)
	r.MultiRun.NumRuns, r.MultiRun.Cooldown, r.Tables = 2, 0, config.TablesAll
	status, out, told := carriedOut(t, r, false)
	if status != 1 || strings.Count(out, "503") < 2 || !strings.Contains(told, "error: no run succeeded") {
		t.Errorf("status %d\n%s\n%s", status, out, told)
	}
	if _, err := os.Stat(filepath.Join(r.Artifacts.Dir, "aggregate")); err == nil {
		t.Error("nothing succeeded and there is an aggregate")
	}
}
