package cli

import (
	"bufio"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"aiperf/internal/base/setting"
	"aiperf/internal/base/testhome"
)

// TestWatchPage: the page of a run in another process shows its state, and for a series which run it is; it ends with watch.
func TestWatchPage(t *testing.T) {
	testhome.Slow(t)
	w, out, _ := watched(t.TempDir(), speaks)
	w.dir = filepath.Join(w.root, "concurrency_4")
	w.storeState(w.dir, told(1), time.Now())
	set, problems := setting.Scan(watchTable(), []string{"--web=0", w.root})
	if problems != nil {
		t.Fatal(problems)
	}
	p, err := w.openPage(t.Context(), set)
	if err != nil {
		t.Fatal(err)
	}
	_, address, _ := strings.Cut(strings.TrimSpace(out.String()), "live page of this run: ")
	resp, err := http.Get(strings.Replace(address, "?", "events?", 1))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	var m struct{ Parts map[string]any }
	in := bufio.NewScanner(resp.Body)
	in.Buffer(nil, 1<<20)
	for in.Scan() {
		if line, ok := strings.CutPrefix(in.Text(), "data: "); ok {
			if err := json.Unmarshal([]byte(line), &m); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	for id, want := range map[string]string{"stage": "Run 1, concurrency 4</strong> profiling", "log": "line", "series": "No run of the series has finished"} {
		if text, _ := m.Parts[id].(string); !strings.Contains(text, want) {
			t.Errorf("%s is %q, want %q", id, text, want)
		}
	}
	resp.Body.Close()
	p.close(t.Context(), false)
	if again, err := http.Get(address); err == nil {
		again.Body.Close()
		t.Error("the page outlives watch")
	}
	bad, _ := setting.Scan(watchTable(), []string{"--web=host:x", w.root})
	if _, err := w.openPage(t.Context(), bad); err == nil || !strings.Contains(err.Error(), "--web host:x: want HOST:PORT, or a port") {
		t.Error(err)
	}
}

// TestWatchEndOfSeries: a process that removed the file of its last run and ended has not died.
func TestWatchEndOfSeries(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		w, _, _ := watched(dir, isOver)
		w.dir = filepath.Join(w.root, "cell")
		state := told(1)
		state.Host, _ = os.Hostname()
		state.PID = 1 << 30 // no process has such a number
		w.storeState(w.dir, state, time.Now())
		from := time.Now()
		if err := w.follow(t.Context(), func() {}); err != nil {
			t.Error(err)
		}
		if took := time.Since(from); took > betweenRuns+time.Second {
			t.Errorf("took %v", took)
		}
	})
}
