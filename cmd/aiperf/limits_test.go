//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// TestUnwritable: a directory that cannot be made is an error before anything is sent.
func TestUnwritable(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("something was sent") }))
	t.Cleanup(server.Close)
	for name, place := range map[string]func(p *process) string{
		"a file in its place": func(p *process) string { return p.dir },
		"a file in the way":   func(p *process) string { return filepath.Dir(p.dir) },
		"a file for the logs": func(p *process) string { return filepath.Join(p.dir, "logs") },
	} {
		t.Run(name, func(t *testing.T) {
			p := program(t, towards(server.URL, "--request-count", "3")...)
			at := place(p)
			if at == filepath.Dir(p.dir) {
				p.cmd.Args[3] = filepath.Join(p.dir, "below") // of --artifact-dir
				at = p.dir
			} else if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(at, []byte("x"), 0o644); err != nil {
				t.Fatal(err)
			}
			if got := p.run(); got != 1 {
				t.Errorf("exit status %d, want 1", got)
			}
			if text := p.stderr.String(); !strings.Contains(text, "--artifact-dir "+p.cmd.Args[3]) {
				t.Errorf("stderr does not name the directory:\n%s", text)
			}
		})
	}
}

// TestFullDisk: a file that cannot grow is an error that names it; what was written before ends with a whole line, and the report comes.
func TestFullDisk(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 1<<30)
	t.Run("records", func(t *testing.T) {
		t.Parallel()
		p := program(t, towards(server.URL, "--concurrency", "4", "--request-count", "400")...).underShell("ulimit -f 100") // of 512 bytes
		if got := p.run(); got != 1 {
			t.Errorf("exit status %d, want 1", got)
		}
		if text := p.stderr.String(); !strings.Contains(text, "profile_export.jsonl: file too large") {
			t.Errorf("stderr does not name the file:\n%s", text)
		}
		if n := len(p.records()); n == 0 || n >= 400 {
			t.Errorf("%d records in the file that could not grow", n)
		}
		if got := p.summary().avg(t, "request_count"); got != 400 {
			t.Errorf("the summary counts %v requests, want 400", got)
		}
		if !strings.Contains(p.stdout.String(), "Request Latency") {
			t.Error("no report")
		}
	})
	t.Run("inputs", func(t *testing.T) {
		t.Parallel()
		args := without(towards(server.URL, "--request-count", "4", "--num-dataset-entries", "2000"), "--num-dataset-entries", "4")
		p := program(t, args...).underShell("ulimit -f 100")
		if got := p.run(); got != 1 {
			t.Errorf("exit status %d, want 1", got)
		}
		if text := p.stderr.String(); !strings.Contains(text, "inputs.json.part: file too large") {
			t.Errorf("stderr does not name the file:\n%s", text)
		}
		if _, err := os.Stat(filepath.Join(p.dir, "inputs.json")); err == nil {
			t.Error("half of inputs.json was left behind")
		}
	})
	t.Run("report", func(t *testing.T) {
		t.Parallel()
		full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
		if err != nil {
			full = readOnly(t) // as good, if there is no such device
		}
		defer full.Close()
		p := program(t, towards(server.URL, "--request-count", "4")...)
		p.cmd.Stdout = full
		if got := p.run(); got != 1 {
			t.Errorf("exit status %d, want 1: the report was lost", got)
		}
		if !strings.Contains(p.stderr.String(), "error: ") {
			t.Errorf("stderr does not say so:\n%s", p.stderr.String())
		}
		p.complete(4)
	})
}

// readOnly is a file that takes no bytes.
func readOnly(t *testing.T) *os.File {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// TestDuration: after the duration answers may come for as long as the grace lasts; what is still in flight then is cut, listed and counted
// nowhere.
func TestDuration(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	for _, c := range []struct {
		grace   string
		release bool
		cut     int
	}{
		{"0", false, 2},
		{"0.2", false, 2},
		{"", true, 0}, // 30 s
		{"inf", true, 0},
	} {
		t.Run("grace "+c.grace, func(t *testing.T) {
			t.Parallel()
			server := newScripted(t, 3)
			args := towards(server.URL, "--concurrency", "2", "--benchmark-duration", "2")
			if c.grace != "" {
				args = append(args, "--benchmark-grace-period", c.grace)
			}
			p := program(t, args...).start()
			server.await(t, 2)
			if c.release {
				time.AfterFunc(2100*time.Millisecond, func() { close(server.release) }) // after the duration, inside the grace
			}
			if got := p.wait(); got != 0 {
				t.Errorf("exit status %d, want 0\n%s", got, p.stderr.String())
			}
			p.complete(5)
			cut := 0
			for _, l := range p.records() {
				if l.Metadata.Cancelled {
					cut++
				}
			}
			s := p.summary()
			if cut != c.cut || s.avg(t, "request_count") != float64(5-c.cut) || s.avg(t, "error_request_count") != 0 {
				t.Errorf("%d cut, %v counted, %v errors; want %d, %d, 0", cut, s.avg(t, "request_count"), s.avg(t, "error_request_count"), c.cut, 5-c.cut)
			}
			if s.text("was_cancelled") == "true" {
				t.Error("the end of the duration is taken for the user's interruption")
			}
		})
	}
}

// TestInputsBesideTheRun: requests do not wait for inputs.json, which lists the whole dataset when the run is over.
func TestInputsBesideTheRun(t *testing.T) {
	t.Parallel()
	var dir atomic.Value
	listed := func() (int, error) {
		text, err := os.ReadFile(filepath.Join(dir.Load().(string), "inputs.json"))
		var inputs struct {
			Data []struct{ Payloads []json.RawMessage }
		}
		if err == nil {
			err = json.Unmarshal(text, &inputs)
		}
		return len(inputs.Data), err
	}
	early := make(chan error, 100)
	server := httptest.NewServer(withoutMetrics(func(w http.ResponseWriter, r *http.Request) {
		_, err := listed()
		early <- err
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(answer))
	}))
	t.Cleanup(server.Close)
	p := program(t, "--url", server.URL, "--model", "m", "--tokenizer", "builtin", "--isl", "8", "--num-dataset-entries", "300", "--request-count", "4")
	dir.Store(p.dir)
	if got := p.run(); got != 0 {
		t.Fatalf("exit status %d\n%s", got, p.stderr.String())
	}
	for range 4 {
		if err := <-early; err == nil {
			t.Error("a request waited for the whole of inputs.json")
		}
	}
	if n, err := listed(); n != 300 || err != nil {
		t.Errorf("%d conversations are listed, %v", n, err)
	}
}

// TestFiles: --export-level and --profile-export-prefix decide which files there are and where; the log is always there.
func TestFiles(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	server := newScripted(t, 1<<30)
	outside := t.TempDir()
	for _, c := range []struct {
		name string
		args []string
		want string // files, sorted
	}{
		{"default", nil, "inputs.json logs/aiperf.log profile_export.jsonl profile_export_aiperf.csv profile_export_aiperf.json profile_export_client_machine.jsonl profile_export_console.txt profile_export_timeline.jsonl"},
		{"summary", []string{"--export-level", "summary"}, "inputs.json logs/aiperf.log profile_export_aiperf.csv profile_export_aiperf.json profile_export_client_machine.jsonl profile_export_console.txt profile_export_timeline.jsonl"},
		{"records", []string{"--export-level", "records"}, "inputs.json logs/aiperf.log profile_export.jsonl profile_export_aiperf.csv profile_export_aiperf.json profile_export_client_machine.jsonl profile_export_console.txt profile_export_timeline.jsonl"},
		{"raw", []string{"--export-level", "raw"}, "inputs.json logs/aiperf.log profile_export.jsonl profile_export_aiperf.csv profile_export_aiperf.json profile_export_client_machine.jsonl profile_export_console.txt profile_export_raw.jsonl profile_export_timeline.jsonl"},
		{"prefix", []string{"--profile-export-prefix", "mine", "--export-level", "raw"}, "inputs.json logs/aiperf.log mine.csv mine.json mine.jsonl mine_client_machine.jsonl mine_console.txt mine_raw.jsonl mine_timeline.jsonl"},
		{"absolute prefix", []string{"--profile-export-prefix", filepath.Join(outside, "abs")}, "inputs.json logs/aiperf.log"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, towards(server.URL, append([]string{"--request-count", "3"}, c.args...)...)...)
			if got := p.run(); got != 0 {
				t.Fatalf("exit status %d\n%s", got, p.stderr.String())
			}
			if got := strings.Join(tree(t, p.dir), " "); got != c.want {
				t.Errorf("files\n got %s\nwant %s", got, c.want)
			}
			for _, name := range footer(p.stdout.String()) { // every file it names is there
				if _, err := os.Stat(name); err != nil {
					t.Errorf("the footer names %v", err)
				}
			}
			if log, err := os.ReadFile(filepath.Join(p.dir, "logs", "aiperf.log")); err != nil || !bytes.Contains(log, []byte("phase complete")) {
				t.Errorf("log: %v\n%s", err, log)
			}
		})
	}
	if got := strings.Join(tree(t, outside), " "); got != "abs.csv abs.json abs.jsonl abs_client_machine.jsonl abs_console.txt abs_timeline.jsonl" {
		t.Errorf("files outside: %s", got)
	}
}

// tree lists the files below a directory.
func tree(t *testing.T, dir string) []string {
	t.Helper()
	var list []string
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(dir, path)
			list = append(list, filepath.ToSlash(rel))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// footer lists the files that the end of a report names.
func footer(report string) []string {
	var list []string
	for line := range strings.Lines(report) {
		if kind, path, ok := strings.Cut(strings.TrimSpace(line), ": /"); ok && (strings.HasSuffix(kind, "Export") || kind == "Log File" || kind == "Raw Records") {
			list = append(list, "/"+path)
		}
	}
	return list
}
