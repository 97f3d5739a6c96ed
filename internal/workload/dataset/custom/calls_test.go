package custom

import (
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/dataset/rowstore"
)

// TestCallsAreWrittenDown checks that the texts of calls can be read in any order and take hardly any memory.
func TestCallsAreWrittenDown(t *testing.T) {
	const count, size = 64, 1 << 20
	heap := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	text := func(i int) string { return strings.Repeat(string(rune('0'+i)), size+i) }
	before := heap()
	s := &callSupply{path: "x", rowFile: boundedfile.SpooledBytes{Name: "x"}}
	l := &loader{Options: base("baseten_trace"), set: &Dataset{}}
	list := make([]int64, count)
	for i := range list {
		list[i] = s.rowFile.Size()
		if err := s.put(&call{row: i, session: "s", prompt: text(i), hints: []byte(`,"a":` + text(i)[:i])}); err != nil {
			t.Fatal(i, err)
		}
	}
	if grown, most := heap()-before, boundedfile.HeadInMemory+4*size; grown > most {
		t.Errorf("%d bytes of memory, at most %d are expected", grown, most)
	}
	for i := count - 1; i >= 0; i-- {
		skip := i % 3
		e, err := s.reread(l, rowstore.Run{Offset: list[i-skip]}, skip)
		if err != nil || e.ID != "s" || e.Turns[0].Parts[0].Text != text(i) || string(e.Turns[0].ExtraBody) != `{"min_tokens":0,"a":`+text(i)[:i]+"}" ||
			e.Turns[0].Origin != rowOf("x", i) {
			t.Errorf("call %d: %.200v %v", i, e, err)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	t.Setenv("TMPDIR", filepath.Join(t.TempDir(), "none"))
	var err error
	for i := 0; i < 2*boundedfile.HeadInMemory/size && err == nil; i++ {
		err = s.put(&call{prompt: text(i)})
	}
	if err == nil || !strings.Contains(err.Error(), "the content of x is kept in a temporary file, and writing it failed") {
		t.Error(err)
	}
}
