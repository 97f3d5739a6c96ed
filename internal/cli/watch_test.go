package cli

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/report/ui/liveview"
)

// told returns state number n of a run.
func told(n int) *livefile.LiveState {
	return &livefile.LiveState{
		Version: "1", Run: "r", Host: "elsewhere", PID: 7, Written: time.Now(), Log: n,
		State: liveview.State{Stage: liveview.Profiling, Phase: "Profiling", Log: []liveview.Line{{Text: "line"}}},
	}
}

// What a look at the files of a run may come to.
const (
	speaks  = "speaks"
	isOver  = "over"
	torn    = "torn"
	other   = "other version"
	slow    = "slow"
	hanging = "hangs"
)

// watched watches a file system as a run's reader sees it: one answer a look, the last one for ever. What hangs does so until release.
func watched(root string, looks ...string) (w *watchedRun, out *bytes.Buffer, release func()) {
	out = new(bytes.Buffer)
	w = &watchedRun{Program: &Program{Streams: Streams{Out: out, Err: out}}, root: root, pause: time.Hour}
	n, until := 0, make(chan struct{})
	w.read = func(string) (*livefile.LiveState, error) {
		n++
		switch looks[min(n, len(looks))-1] {
		case isOver:
			return nil, fs.ErrNotExist
		case torn:
			return nil, errors.New("it ends too early")
		case other:
			return nil, livefile.ErrVersion
		case hanging:
			<-until
			return nil, fs.ErrNotExist
		case slow:
			<-time.After(20 * time.Second)
		}
		return told(1), nil
	}
	return w, out, func() { close(until) }
}

// TestWatchOddFiles: watch survives files that are torn, replaced or unreadable for a while; after a longer time it ends with the reason. A file
// system that hangs stops neither the view nor the end of watch.
func TestWatchOddFiles(t *testing.T) {
	for name, c := range map[string]struct {
		looks []string
		leave time.Duration // when the user has seen enough; 0 = never
		want  string        // of the error
		says  string
		after time.Duration // at most
	}{
		"torn now and then":       {[]string{speaks, torn, torn, speaks, torn, isOver}, 0, "", "profiling", 5 * time.Second},
		"torn at first":           {[]string{torn, torn, speaks, isOver}, 0, "", "profiling", 5 * time.Second},
		"torn for ever":           {[]string{speaks, torn}, 0, "too early", "", 30 * time.Second},
		"torn from the beginning": {[]string{torn}, 0, "too early", "", 30 * time.Second},
		"of another version":      {[]string{other}, 0, "another version", "", time.Second},
		"replaced by another":     {[]string{speaks, other}, 0, "another version", "", 5 * time.Second},
		"slow":                    {[]string{speaks, slow, isOver}, 0, "", "no update from the run for 4 s", 30 * time.Second},
		"hangs, the user leaves":  {[]string{speaks, hanging}, 10 * time.Second, "left", "no update", 11 * time.Second},
		"hangs at once":           {[]string{hanging}, 2 * time.Second, "left", "", 3 * time.Second},
		"hangs for ever":          {[]string{speaks, hanging}, 0, "it has written nothing for 1m", "no update", 90 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				t.Helper()
				w, out, release := watched(dir, c.looks...)
				defer release()
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.leave > 0 {
					time.AfterFunc(c.leave, cancel)
				}
				from := time.Now()
				goes, err := w.begin(ctx)
				if err == nil && goes {
					err = w.reportLines(ctx, "none")
				}
				if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
					t.Errorf("%v, want %q", err, c.want)
				}
				if took := time.Since(from); took > c.after {
					t.Errorf("took %s", took)
				}
				if !strings.Contains(out.String(), c.says) {
					t.Errorf("said %q, want %q", out.String(), c.says)
				}
			})
		})
	}
}

// TestWatchWaits: a directory that is not there yet is waited for as long as asked.
func TestWatchWaits(t *testing.T) {
	for name, c := range map[string]struct {
		wait time.Duration
		want string
	}{"in time": {5 * time.Second, ""}, "too late": {time.Second, "does not exist; wait for a run"}, "not at all": {0, "--wait SECONDS"}} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "run")
			synctest.Test(t, func(t *testing.T) {
				t.Helper()
				w, out, _ := watched(dir, isOver, isOver, isOver, isOver, isOver, isOver, isOver, isOver, speaks)
				w.wait = c.wait
				goes, err := w.begin(t.Context())
				if goes != (c.want == "") || c.want != "" && !strings.Contains(err.Error(), c.want) {
					t.Errorf("%v, %v", goes, err)
				}
				if waited := strings.Contains(out.String(), "waiting for a run in "+dir); waited != (c.wait > 0) {
					t.Errorf("said %q", out.String())
				}
			})
		})
	}
}

// TestWatchForeignResults: a run that ended before its first request is not described by the results of an earlier one.
func TestWatchForeignResults(t *testing.T) {
	w, out, _ := watched(t.TempDir(), speaks)
	w.dir = w.root
	starting := told(1)
	starting.State.Stage = liveview.Starting
	w.storeState(w.root, starting, time.Now())
	for name, text := range map[string]string{"profile_export_aiperf.json": `{"benchmark_id": "earlier"}`, "profile_export.jsonl": ""} {
		if err := os.WriteFile(filepath.Join(w.root, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if status, err := w.conclude(nil); status != 1 || err == nil || !strings.Contains(err.Error(), "ended before its first request") || out.Len() > 0 {
		t.Errorf("%d %v %q", status, err, out.String())
	}
	w.state = nil
	if status, err := w.conclude(nil); status != 0 || err != nil || !strings.Contains(out.String(), "is over") {
		t.Errorf("%d %v %q", status, err, out.String())
	}
}
