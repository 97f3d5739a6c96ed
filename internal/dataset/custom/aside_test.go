package custom

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/infile"
)

// TestAside: texts of calls come back in any order, and hardly any are in memory.
func TestAside(t *testing.T) {
	const count, size = 64, 1 << 20
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	text := func(i int) string { return strings.Repeat(string(rune('0'+i)), size+i) }
	before := heap()
	a := newAside("x")
	list := make([]laid, count)
	for i := range list {
		c := &call{session: "s", prompt: text(i), hints: []byte(text(i)[:i])}
		if a.put(c); c.prompt != "" || c.hints != nil || a.fault != nil {
			t.Fatal(i, a.fault)
		}
		list[i] = c.laid
	}
	if grown, most := heap()-before, infile.KeptHead+4*size; grown > most {
		t.Errorf("%d bytes of memory, at most %d are expected", grown, most)
	}
	for i := count - 1; i >= 0; i-- {
		if prompt, hints := a.get(list[i]); prompt != text(i) || string(hints) != text(i)[:i] {
			t.Errorf("call %d: %.20q %.20q", i, prompt, hints)
		}
	}
	if err := a.kept.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	a = newAside("x")
	for i := range 2 * infile.KeptHead / size {
		a.put(&call{prompt: text(i)})
	}
	if a.fault == nil || !strings.Contains(a.fault.Error(), "what x holds is kept in a temporary file, which failed") {
		t.Error(a.fault)
	}
}
