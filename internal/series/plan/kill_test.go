package plan

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
	"aiperf/internal/report/artifact"
)

// killDir in the environment makes the test binary a program that continues a series in that directory, killSeries names the series.
const (
	killDir    = "RUN_AS_SERIES_IN"
	killSeries = "RUN_AS_SERIES"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(killDir); dir != "" {
		ctx, done := Watch(context.Background(), io.Discard)
		status, err := goOn(ctx, os.Getenv(killSeries), dir)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			status = 1
		}
		os.Exit(done(status))
	}
	if words := os.Getenv(serverOptions); words != "" {
		if err := mockServer(words); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(testhome.Run(m))
}

// killed lists the series that are killed and continued.
var killed = map[string]func(r *config.Run){
	"grid of trials": func(r *config.Run) {
		r.MultiRun.NumRuns = 3
		r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: "repeated", Parameters: config.Axes{{Path: users, Values: []any{1, 2, 4, 8}}}}
	},
	"trials cell by cell": func(r *config.Run) {
		r.MultiRun.NumRuns, r.MultiRun.VarySeedPerTrial = 3, true
		r.Sweep = &config.Sweep{Type: config.SweepGrid, IterationOrder: "independent", Parameters: config.Axes{{Path: users, Values: []any{1, 2, 4}}}}
	},
	"trials until they settle": func(r *config.Run) {
		r.MultiRun.NumRuns, r.MultiRun.VarySeedPerTrial = 8, true
		r.MultiRun.Convergence = &config.Convergence{Metric: "request_latency", Stat: "avg", Mode: "distribution"}
	},
	"zip": func(r *config.Run) {
		r.Sweep = &config.Sweep{Type: config.SweepZip, IterationOrder: "repeated", Parameters: config.Axes{
			{Path: users, Values: []any{1, 2, 4, 8}}, {Path: "phases.profiling.requests", Values: []any{5, 6, 7, 8}},
		}, PostProcess: &config.PostProcess{Handler: "degradation_knee_detect", Filename: "profile_export_aiperf_knee.json", Params: node("{threshold_pct: 0.2, metric_tag: request_latency, stat: p99, swept_param: " + users + "}")}}
	},
	"scenarios": func(r *config.Run) {
		r.Sweep = &config.Sweep{Type: config.SweepScenarios, IterationOrder: "repeated"}
		for k, name := range []string{"few", "some more", "many"} {
			r.Sweep.Runs = append(r.Sweep.Runs, config.Scenario{Name: name, Benchmark: node(fmt.Sprintf("phases: [{name: profiling, concurrency: %d}]", 1<<k))})
		}
	},
	"sobol": func(r *config.Run) {
		r.Sweep = &config.Sweep{Type: config.SweepSobol, IterationOrder: "repeated", Samples: 4, Dimensions: []config.Dimension{{Path: users, Low: 1, High: 32, Kind: "int"}}}
	},
	"monotonic search": func(r *config.Run) { seeking(r, "monotonic_sla") },
	"isotonic search":  func(r *config.Run) { seeking(r, "smooth_isotonic") },
	"bayesian search of trials": func(r *config.Run) {
		seeking(r, "bayesian")
		r.MultiRun.NumRuns, r.Sweep.MaxIterations, r.Sweep.ObjectivePooling = 2, 8, "pooled"
		r.Sweep.Objectives = []config.Objective{{Metric: "request_latency", Stat: "p90", Direction: "minimize"}}
	},
}

// users is the key that the series vary.
const users = "phases.profiling.concurrency"

func node(text string) (n yaml.Node) {
	if err := yaml.Unmarshal([]byte(text), &n); err != nil {
		panic(err)
	}
	return *n.Content[0]
}

// seeking makes a run a search for the most users that keep a limit.
func seeking(r *config.Run, planner string) {
	r.Sweep = config.DefaultSearch()
	r.Sweep.Planner, r.Sweep.MaxIterations = planner, 12
	r.Sweep.SearchSpace = []config.SearchDimension{{Path: users, Low: 1, High: 100, Kind: "int"}}
	r.Sweep.Objectives = []config.Objective{{Metric: "output_token_throughput", Stat: "avg", Direction: "maximize"}}
	r.Sweep.SLAFilters = []config.SLAFilter{{MetricTag: "time_to_first_token", Stat: "p95", Op: "lt", Threshold: 200}}
}

// goOn carries a series out and takes over what is finished.
func goOn(ctx context.Context, name, dir string) (status int, err error) {
	seed := config.Seed("7")
	r := config.Default()
	r.Artifacts.Dir, r.RandomSeed, r.Resume = dir, &seed, true
	requests, users := 20, 1
	r.Phases = []config.Phase{{Name: "profiling", Kind: config.KindProfiling, Type: config.PhaseConcurrency, Requests: &requests, Concurrency: &users}}
	r.Models.Items = []config.Model{{Name: "m"}}
	r.Endpoint.URLs = []string{"http://localhost:1"}
	killed[name](r)
	i := invocation{Streams: Streams{Out: io.Discard, Err: io.Discard, Version: "test", Secrets: redact.NewSecrets()}, ctx: ctx, run: r}
	i.runner = seeded
	return i.execute()
}

// seeded is a run whose figures follow from its seed, its load and which trial it is alone; it writes its files one after the other with pauses
// between them, so that a kill may come at any of them. An interrupt leaves the run cancelled, with its files.
func seeded(ctx context.Context, b *config.Benchmark, seed *config.Seed, info metric.RunInfo, id string) (*metric.Run, error) {
	set, err := metric.NewSelection(metric.Options{Streaming: true, ProducesTokens: true, TokenizesInput: true})
	if err != nil {
		return nil, err
	}
	n := *b.Profiling().Concurrency
	var number uint64
	if _, err := fmt.Sscan(string(*seed), &number); err != nil {
		return nil, err
	}
	layout := artifact.NewLayout(b.Artifacts.Dir, "")
	if _, err := layout.Clear(func(string) bool { return false }); err != nil {
		return nil, err
	}
	if err := artifact.RemoveCell(layout.Dir); err != nil {
		return nil, err
	}
	lines, err := artifact.CreateRecords(layout.Records(), artifact.RecordOptions{})
	if err != nil {
		return nil, err
	}
	r := rand.New(rand.NewPCG(number, uint64(n+1000*info.Trial)))
	reducer := set.NewReducer()
	const ms = 1_000_000
	for k := range *b.Profiling().Requests {
		start := int64(1+100*k) * ms
		first := start + int64(10+r.IntN(10*n))*ms
		reply := &record.Reply{PerChunkTokens: -1, Contents: []record.Content{{At: first, Text: "a"}, {At: first + 50*ms, Text: "b"}}}
		rec := &record.Record{Start: start, End: first + 50*ms, WallOffset: 1e18}
		row := set.Row(rec, reply, record.Counts{Input: 5, Output: 8, Reasoning: -1})
		reducer.Add(row)
		if err := lines.Write(lines.Encode(nil, rec, reply, row)); err != nil {
			return nil, err
		}
		if k == 3 {
			if err := lines.Flush(); err != nil {
				return nil, err
			}
			breath(ctx)
		}
	}
	if err := lines.Close(); err != nil {
		return nil, err
	}
	breath(ctx)
	at := time.Unix(1e9, 0)
	run := &metric.Run{
		Version: "test", BenchmarkID: id, Info: info, Profiling: reducer.Summary(metric.Window{}), Cancelled: ctx.Err() != nil, Start: at, End: at.Add(2 * time.Second),
		Submission: &metric.Submission{Scenario: "seeded", Valid: n < 4, Reasons: []string{"a reason"}[:min(1, n/4)]},
	}
	if err := artifact.WriteReport(layout, run, ""); err != nil {
		return nil, err
	}
	breath(ctx)
	return run, nil
}

// breath is a moment in which a kill may come.
func breath(ctx context.Context) {
	timer := time.NewTimer(time.Millisecond)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// ids are drawn anew by every invocation.
var ids = regexp.MustCompile(`[0-9a-f]{32}|[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// left are the files of a series. The mark of a finished run is not compared: it contains the machine's directories.
func left(t *testing.T, dir string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == artifact.CellFile {
			return err
		}
		text, err := os.ReadFile(path)
		files[strings.TrimPrefix(path, dir)] = ids.ReplaceAllString(strings.ReplaceAll(string(text), dir, "DIR"), "ID")
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// tear cuts a file of the run that was written last, as a loss of power may.
func tear(t *testing.T, dir string, r *rand.Rand) {
	t.Helper()
	var paths []string
	var latest time.Time
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.Name() != artifact.CellFile {
			return err
		}
		info, err := d.Info()
		if err == nil && info.ModTime().After(latest) {
			l := artifact.NewLayout(filepath.Dir(path), "")
			latest, paths = info.ModTime(), []string{path, l.SummaryJSON(), l.Records()}
		}
		return err
	})
	if err != nil || len(paths) == 0 { // no run was finished yet
		return
	}
	path := paths[r.IntN(len(paths))]
	if info, err := os.Stat(path); err != nil || os.Truncate(path, r.Int64N(info.Size())) != nil {
		t.Fatalf("%s was not cut: %v", path, err)
	}
}

// TestKilled: a series that is killed at random instants and continued each time ends in the same files as one that was not: by every signal, with
// files of its last run cut as well.
func TestKilled(t *testing.T) {
	testhome.Slow(t)
	for name := range killed {
		t.Run(name, func(t *testing.T) { killAgain(t, name) })
	}
}

func killAgain(t *testing.T, name string) {
	kills := 3
	if *full {
		kills = 30
	}
	whole, cut := filepath.Join(t.TempDir(), "whole"), filepath.Join(t.TempDir(), "cut")
	if status, err := goOn(t.Context(), name, whole); err != nil || status != 0 {
		t.Fatalf("status %d: %v", status, err)
	}
	want := left(t, whole)
	if strings.Contains(name, "search") && want["/search_iter_0000/profile_runs/run_0001/profile_export_aiperf.json"] == "" {
		t.Error("the first run of a search is not where the Python tool has it")
	}
	r := rand.New(rand.NewPCG(1, uint64(len(name))))
	signals := []os.Signal{os.Kill, syscall.SIGTERM, os.Interrupt}
	n := 0
	for range 20 * kills {
		if n == kills {
			break
		}
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), killDir+"="+cut, killSeries+"="+name)
		var said bytes.Buffer
		cmd.Stderr = &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		by := signals[r.IntN(len(signals))]
		timer := time.AfterFunc(time.Duration(r.IntN(60_000))*time.Microsecond, func() { _ = cmd.Process.Signal(by) })
		err := cmd.Wait()
		came := !timer.Stop()
		switch code := cmd.ProcessState.ExitCode(); {
		case came && by == os.Interrupt && code <= 1 || code == -1 || code == 128+int(syscall.SIGTERM): // an interrupt leaves the status to what there is
			n++
			if r.IntN(2) == 0 {
				tear(t, cut, r)
			}
		case err == nil: // it was faster: another one begins
			same(t, cut, want, n)
			if err := os.RemoveAll(cut); err != nil {
				t.Fatal(err)
			}
		default:
			t.Fatalf("after %d kills: %v %s", n, err, said.String())
		}
	}
	if n < kills {
		t.Fatalf("killed %d times only", n)
	}
	if status, err := goOn(t.Context(), name, cut); err != nil || status != 0 {
		t.Fatalf("status %d: %v", status, err)
	}
	same(t, cut, want, n)
}

// same compares the files of a series with those of one that was not killed.
func same(t *testing.T, dir string, want map[string]string, kills int) {
	t.Helper()
	got := left(t, dir)
	for name, text := range want {
		if got[name] != text {
			t.Fatalf("%s differs after %d kills:\n%.2000s\nwant\n%.2000s", name, kills, got[name], text)
		}
	}
	for name := range got {
		if _, ok := want[name]; !ok {
			t.Errorf("%s was left after %d kills", name, kills)
		}
	}
}
