package rows

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/workload/dataset"
)

func TestReadLines(t *testing.T) {
	var got []Line
	err := read("f", strings.NewReader("\xef\xbb\xbfa\r\n\n  b \nc"), func(l Line) bool { got = append(got, l); return true })
	if err != nil {
		t.Fatal(err)
	}
	var text []string
	for _, l := range got {
		text = append(text, l.Where()+"="+string(l.Text))
	}
	if want := []string{"f:1=a", "f:3=b", "f:4=c"}; !slices.Equal(text, want) {
		t.Errorf("got %q, want %q", text, want)
	}
	for _, empty := range []string{"", "\n", " \r\n\t\n", "\xef\xbb\xbf"} {
		if err := read("f", strings.NewReader(empty), nil); err == nil || err.Error() != "f: no records" {
			t.Errorf("%q: %v", empty, err)
		}
	}
}

// TestReadGzip checks that compressed files are recognised by their first bytes, not by name, like in the Python tool.
func TestReadGzip(t *testing.T) {
	for _, name := range []string{"in.jsonl.gz", "in.jsonl"} {
		t.Run(name, func(t *testing.T) { readsGzip(t, filepath.Join(t.TempDir(), name)) })
	}
}

func readsGzip(t *testing.T, path string) {
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(file)
	if _, err := z.Write([]byte("{}\n{}\n")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	n := 0
	var faults dataset.Faults
	var raw bytes.Buffer
	if err := Objects(path, &raw, &faults, func(*Row) { n++ }); err != nil || n != 2 {
		t.Errorf("%d rows, %v", n, err)
	}
	if lies, err := os.ReadFile(path); err != nil || !bytes.Equal(raw.Bytes(), lies) {
		t.Errorf("%d bytes were passed on, the file has %d, %v", raw.Len(), len(lies), err)
	}
	if err := os.WriteFile(path, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Objects(path, io.Discard, &faults, func(*Row) { n++ }); err != nil || n != 3 {
		t.Errorf("%d rows with the one that is not packed, %v", n, err)
	}
}

// TestInflatedBound checks the limit for unpacked data.
func TestInflatedBound(t *testing.T) {
	b := &limitedReader{from: strings.NewReader(strings.Repeat("x", 100)), path: "bomb.gz", remaining: 99}
	if text, err := io.ReadAll(b); err == nil || !strings.Contains(err.Error(), "bomb.gz: the decompressed file is larger than") {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	b = &limitedReader{from: strings.NewReader(strings.Repeat("x", 100)), remaining: 100}
	if text, err := io.ReadAll(b); err != nil || len(text) != 100 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
}

// TestHalfCharacters checks that an escaped surrogate without its other half is rejected, like in the Python tool. It would be sent as U+FFFD.
func TestHalfCharacters(t *testing.T) {
	for text, want := range map[string]string{
		`{"a":"\ud83d\ude00 \u00e9 \\ud800"}`: "",
		`{"a":"x\ud800y"}`:                    `f:1: invalid JSON: \ud800 is half of a surrogate pair (column 8)`,
		`{"a":"\uDC00"}`:                      `f:1: invalid JSON: \uDC00 is half of a surrogate pair (column 7)`,
		`{"a":"\ud800\u0041"}`:                `f:1: invalid JSON: \ud800 is half of a surrogate pair (column 7)`,
		`{"\ud800":1}`:                        `f:1: invalid JSON: \ud800 is half of a surrogate pair (column 3)`,
	} {
		var faults dataset.Faults
		r := Parse("f:1", []byte(text), &faults)
		got := ""
		if err := faults.Err(); err != nil {
			got = err.Error()
		}
		if got != want || (r == nil) != (want != "") {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	var faults dataset.Faults
	r := Parse("f:1", []byte(`{"s":"x","n":null,"i":"12","f":12.5,"neg":-1,"l":[1,"2",3.0],"bad":[1,{}],"o":{ "b": 1 },"big":99999999999,"inf":"1e999","hex":"0x10","power":"1e2"}`), &faults)
	if r == nil || faults.Count() != 0 {
		t.Fatal(faults.Err())
	}
	if *r.String("s") != "x" || r.String("n") != nil || *r.Int("i", 0) != 12 || *r.Number("f") != 12.5 || string(r.Object("o")) != `{"b":1}` {
		t.Error("good fields are not read")
	}
	if !slices.Equal(r.Ints("l"), []int64{1, 2, 3}) || r.Has("n") || r.Has("none") || faults.Count() != 0 {
		t.Errorf("good fields are not read: %v", faults.Err())
	}
	if r.Int("neg", 0) != nil || *r.Number("neg") != -1 || r.Duration("neg") != nil || r.Ints("bad") != nil || r.Int("big", 0) != nil || r.Number("inf") != nil ||
		r.Int("hex", 0) != nil || r.Int("power", 0) != nil || r.Int("f", 0) != nil || r.String("i") == nil || r.Object("s") != nil || r.List("s") != nil {
		t.Error("bad fields are read")
	}
	if faults.Count() != 10 {
		t.Errorf("%d faults:\n%v", faults.Count(), faults.Err())
	}
}

// FuzzRow reads fields of any row. Nothing may panic, and returned values must be in the row.
func FuzzRow(f *testing.F) {
	for _, seed := range []string{`{"a":1}`, `{"a":"1"}`, `{"a":[1,2]}`, `{"a":{"b":null}}`, `[`, `{"a":1e400}`, `{"a":-0.0}`, "\xff", `{"a":"\ud800"}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var faults dataset.Faults
		r := Parse("f:1", text, &faults)
		if (r == nil) != (faults.Count() > 0) {
			t.Fatalf("row %v with %d faults", r, faults.Count())
		}
		if r == nil {
			return
		}
		for _, key := range r.Keys() {
			if n := r.Int(key, 0); n != nil && *n < 0 {
				t.Errorf("negative: %d", *n)
			}
			r.Number(key)
			r.Duration(key)
			r.String(key)
			r.Ints(key)
			if o := r.Object(key); o != nil && !json.Valid(o) {
				t.Errorf("not JSON: %s", o)
			}
			for i, raw := range r.List(key) {
				r.Item(key, i, raw)
			}
		}
	})
}

// TestInts compares the fast path for integer lists with the general one.
func TestInts(t *testing.T) {
	for text, want := range map[string]string{
		`[1,2,3]`: "[1 2 3]", ` [ -4 , 5
 ] `: "[-4 5]", `[]`: "[]", `[1.0,"2",1e2]`: "[1 2 100]", `[999999999999999999]`: "[999999999999999999]", `[9223372036854775807]`: "[9223372036854775807]",
		`[1,2.5]`: "a[1]: must be an integer of 64 bits, got 2.5", `[1,[2]]`: "a[1]: must be an integer of 64 bits, got an array", `[99999999999999999999]`: "a[0]: must be an integer",
		`[true]`: "a[0]: must be", `5`: "a: must be a list, got a number", `[-0]`: "[0]",
	} {
		var faults dataset.Faults
		got := fmt.Sprint(Parse("x:1", []byte(`{"a":`+text+`}`), &faults).Ints("a"))
		if err := faults.Err(); err != nil {
			got = err.Error()
		}
		if !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

// TestLongLine checks that a long line, its row and its text allocate less than three times its length in total, and that lines of every length are
// complete, whatever buffers are reused.
func TestLongLine(t *testing.T) {
	const length = 16 << 20
	doc := `{"text":"` + strings.Repeat("x", length) + `"}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var faults dataset.Faults
	got := 0
	err := read("f", strings.NewReader(doc), Each(&faults, func(r *Row) { got = len(*r.String("text")) }))
	runtime.ReadMemStats(&after)
	if err != nil || faults.Count() > 0 || got != length {
		t.Fatalf("%d bytes, %v, %v", got, err, faults.Err())
	}
	if took := float64(after.TotalAlloc-before.TotalAlloc) / length; took > 3 {
		t.Errorf("%.1f bytes for each byte of the line", took)
	}
	var want, lines []string
	for _, n := range []int{5, 1 << 17, 9 << 20, 1 << 16, 3, 128<<10 + 1, 384 << 10, 5 << 20, 7} {
		want = append(want, strings.Repeat(string(rune('a'+len(want))), n))
	}
	if err := read("f", strings.NewReader(strings.Join(want, "\n")), func(l Line) bool { lines = append(lines, string(l.Text)); return true }); err != nil || !slices.Equal(lines, want) {
		t.Errorf("%d lines, %v", len(lines), err)
	}
}
