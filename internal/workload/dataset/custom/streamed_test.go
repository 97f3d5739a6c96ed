package custom

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// TestHeapOfALargeFile checks the heap for a file of 100 MB: only an index after reading it, and only the current row during use.
func TestHeapOfALargeFile(t *testing.T) {
	testhome.Slow(t)
	const row, count = 1 << 18, 400
	path := filepath.Join(t.TempDir(), "in.jsonl")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	out := bufio.NewWriterSize(file, 1<<20)
	fill := strings.Repeat("word ", row/5)
	for i := range count {
		fmt.Fprintf(out, "{\"text\":\"%d %s\"}\n", i, fill)
	}
	if err := out.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	held := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&m)
		return int(m.HeapAlloc)
	}
	before := held()
	hurry(t)
	o := base("single_turn")
	o.Early = true
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	x := s.(*indexed)
	if x.Len() != count { // the file is read to its end, and leaves nothing in memory
		t.Fatal(x.Len())
	}
	most := 0
	for i := 0; i < count; i++ {
		if ok, err := x.Reach(i); !ok || err != nil {
			t.Fatal(i, err)
		}
		if c := x.Conversation(i); !strings.HasPrefix(c.Turns[0].Parts[0].Text, fmt.Sprint(i, " word")) {
			t.Fatalf("row %d: %.40q", i, c.Turns[0].Parts[0].Text)
		}
		if i%100 == 0 {
			most = max(most, held()-before)
		}
	}
	if limit := 32 << 20; most > limit {
		t.Errorf("%d MB more than before, at most %d are expected of 100 MB", most>>20, limit>>20)
	}
	if err := x.Close(); err != nil {
		t.Error(err)
	}
}

// TestIndexOfEveryFormat checks that the stored data of a large file, including sessions, are a small fraction of it in every format.
func TestIndexOfEveryFormat(t *testing.T) {
	testhome.Slow(t)
	leave(t)
	const count = 4000
	text := strings.Repeat("word ", 200)
	ids := strings.Repeat("1000,", 199)
	messages := `[{"role":"user","content":"` + text + `"}]`
	for format, row := range map[string]func(i int) string{
		"single_turn":            func(i int) string { return fmt.Sprintf(`{"session_id":"s%d","text":"%s"}`, i/2, text) },
		"multi_turn":             func(i int) string { return fmt.Sprintf(`{"session_id":"s%d","turns":[{"text":"%s"}]}`, i/2, text) },
		"mooncake_trace":         func(i int) string { return fmt.Sprintf(`{"session_id":"s%d","text_input":"%s"}`, i/2, text) },
		"raw_payload":            func(int) string { return `{"messages":` + messages + `}` },
		"sagemaker_data_capture": func(i int) string { return capturedRow(text, fmt.Sprintf("2025-03-01T10:00:00.%03dZ", i%1000)) },
		"dag_jsonl":              func(i int) string { return fmt.Sprintf(`{"session_id":"s%d","turns":[{"messages":%s}]}`, i, messages) },
		"speed_bench": func(i int) string {
			return fmt.Sprintf(`{"question_id":"%032d","category":"c","messages":%s}`, i, messages)
		},
		"weka_trace": func(i int) string {
			return fmt.Sprintf(`{"id":"t%d","models":["a"],"block_size":64,"hash_id_scope":"local","requests":[{"t":0,"type":"n","model":"a","in":12800,"out":8,"hash_ids":[%s1]}]}`, i, ids)
		},
		"tracelab": func(i int) string {
			return fmt.Sprintf(`{"session_id":"s%d","round_index":%d,"input_tokens_total":900,"trace_key":"%s","timing_events":[{"event_type":"text","timestamp":"2026-01-01T00:00:00Z"}]}`, i/2, i%2, text)
		},
		"random_pool": func(int) string { return `{"text":"` + text + `"}` },
		"inputs_json": func(i int) string {
			return strings.Repeat(`{"data":[`, boolInt(i == 0)) + strings.Repeat(`,`, boolInt(i > 0)) + fmt.Sprintf(`{"session_id":"s%d","payloads":[{"messages":%s}]}`, i, messages) + strings.Repeat(`]}`, boolInt(i == count-1))
		},
	} {
		t.Run(format, func(t *testing.T) {
			var b strings.Builder
			for i := range count {
				b.WriteString(row(i) + "\n")
			}
			path, size := write(t, b.String()), b.Len()
			b.Reset()
			open(t, wekaTrace, agentsBase("weka_trace")) // create the cached corpus before measuring
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			before := int(m.HeapAlloc)
			s, err := Open(path, agentsBase(format))
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			runtime.ReadMemStats(&m)
			if grown := int(m.HeapAlloc) - before; grown > size/4 {
				t.Errorf("%d bytes are kept of %d", grown, size)
			}
			if n := s.Len(); n < 100 || len(s.Conversation(n-1).Turns) == 0 {
				t.Errorf("%d conversations", n)
			}
		})
	}
}
