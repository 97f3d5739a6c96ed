package livefile

import (
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"aiperf/internal/report/termdraw"
	"aiperf/internal/report/ui/liveview"
)

// full has something in every field, so that one that is forgotten is seen.
func full(t *testing.T) *LiveState {
	t.Helper()
	told := new(LiveState)
	n := 0
	fill(t, reflect.ValueOf(told).Elem(), &n)
	told.Written = time.Unix(5, 7)
	s := &told.State
	s.Stage, s.Log[0].Level, s.Log[0].At = liveview.Draining, liveview.Error, time.Unix(3, 4)
	s.NoNews, s.Timeline = 0, termdraw.Timeline{} // of who watches
	return told
}

func fill(t *testing.T, v reflect.Value, n *int) {
	*n++
	switch v.Kind() {
	case reflect.Struct:
		if v.Type() == reflect.TypeFor[time.Time]() {
			return
		}
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
		if v.Type() == reflect.TypeFor[[]liveview.Line]() {
			v.Index(1).FieldByName("Level").SetInt(1)
			v.Index(1).FieldByName("At").Set(reflect.ValueOf(time.Unix(1, 1)))
		}
	case reflect.Int, reflect.Int64:
		v.SetInt(int64(*n))
	case reflect.Float64:
		v.SetFloat(float64(*n) + .5)
	case reflect.String:
		v.SetString("text")
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("no value for %v", v.Type())
	}
}

// TestWhatIsToldIsRead: every field of a state comes through.
func TestWhatIsToldIsRead(t *testing.T) {
	told := full(t)
	dir := t.TempDir()
	if _, err := Read(dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a file: %v", err)
	}
	put(t, dir, told.Bytes())
	got, err := Read(dir)
	if err != nil || !reflect.DeepEqual(got, told) {
		t.Errorf("%v\n%s", err, cmp.Diff(told, got))
	}
	told.State.Figures.TTFT.Run = math.NaN()
	put(t, dir, told.Bytes())
	if got, err = Read(dir); err != nil || !math.IsNaN(got.State.Figures.TTFT.Run) {
		t.Errorf("a figure that does not exist: %v, %v", got, err)
	}
	for text, want := range map[string]string{"": "does not begin", "aiperf li": "does not begin", "\x00\x00\n": "does not begin", "aiperf live 9\n": "another version", magic: "ends too early", string(told.Bytes()) + "x": "unexpected data"} {
		put(t, dir, []byte(text))
		if _, err := Read(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.20q: %v, want %q", text, err, want)
		}
	}
}

func put(t *testing.T, dir string, data []byte) {
	t.Helper()
	path := filepath.Join(dir, Name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestDead: a run whose process is gone is dead at once, one of another machine when it has said nothing new for long, whatever its clock says; one that
// does not move is alive; of a series the live run is found.
func TestDead(t *testing.T) {
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	const nobody = 1 << 30 // beyond the numbers that systems give
	self := int64(os.Getpid())
	for _, c := range []struct {
		name   string
		told   LiveState
		clock  time.Duration // by which that of the run is ahead
		silent time.Duration // since it was heard
		want   string
	}{
		{"speaks", LiveState{Host: host, PID: nobody}, 0, time.Second, ""},
		{"is gone", LiveState{Host: host, PID: nobody}, 0, 5 * time.Second, "does not exist"},
		{"was gone before", LiveState{Host: host, PID: nobody}, -time.Hour, 0, "does not exist"},
		{"stands still", LiveState{Host: host, PID: self}, 0, 2 * time.Minute, ""},
		{"has another's number by now", LiveState{Host: host, PID: self}, -24 * time.Hour, 0, "written nothing for 24h 00m"},
		{"elsewhere", LiveState{Host: "elsewhere", PID: nobody}, 0, 30 * time.Second, ""},
		{"elsewhere and silent", LiveState{Host: "elsewhere", PID: nobody}, 0, 2 * time.Minute, "written nothing for 2m 00s"},
		{"elsewhere, clock behind", LiveState{Host: "elsewhere", PID: nobody}, -30 * time.Minute, time.Second, ""},
		{"elsewhere, clock ahead", LiveState{Host: "elsewhere", PID: nobody}, 30 * time.Minute, 2 * time.Minute, "written nothing for 2m 00s"},
	} {
		var l Listener
		c.told.Written = now.Add(c.clock)
		l.Hear(&c.told, now)
		again := c.told
		l.Hear(&again, now.Add(c.silent)) // an unchanged state is not shown again
		if why := l.Dead(now.Add(c.silent)); why != c.want && (c.want == "" || !strings.Contains(why, c.want)) {
			t.Errorf("%s: %q, want %q", c.name, why, c.want)
		}
	}
	root := t.TempDir()
	if found := Find(root, now); found != "" {
		t.Errorf("found %q where there is nothing", found)
	}
	for name, silent := range map[string]time.Duration{"a": 5 * time.Second, "b/c": time.Second, "d": 2 * time.Hour} {
		one := LiveState{Host: host, PID: nobody, Written: now.Add(-silent)}
		put(t, filepath.Join(root, name), one.Bytes())
	}
	if found := Find(root, now); found != filepath.Join(root, "b/c") {
		t.Errorf("found %q", found)
	}
}

// FuzzRead: any file is read or refused, and a state that was read can be drawn.
func FuzzRead(f *testing.F) {
	told := LiveState{Version: "1", State: liveview.State{Stage: liveview.Profiling, Timelines: []liveview.SizedTimeline{{Width: 100, Timeline: termdraw.Timeline{Seconds: 1, Bins: 3, Series: []termdraw.Series{{Name: "a", Values: []float64{1, 2, 3}}}}}}}}
	f.Add(told.Bytes())
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, data []byte) {
		told, err := Parse(data)
		if err != nil {
			return
		}
		told.State.Fit(120)
		for panel := liveview.Overview; panel <= liveview.Log; panel++ {
			if rows := liveview.Frame(&told.State, liveview.View{Width: 120, Height: 40, Panel: panel}); len(rows) != 40 {
				t.Errorf("%d rows", len(rows))
			}
		}
	})
}
