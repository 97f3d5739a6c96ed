package table

import (
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
)

// all reads a whole file.
func all(t *testing.T, path string, columns ...string) []Row {
	t.Helper()
	rows, err := drain(path, columns...)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

func drain(path string, columns ...string) (rows []Row, err error) {
	r, err := Open(path, columns...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	for {
		row, err := r.Next()
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, row)
	}
}

// TestFormatsAgree checks that the same six rows, written by pyarrow and Python's own writers, have the same values in every format.
func TestFormatsAgree(t *testing.T) {
	plain := all(t, filepath.Join("testdata", "jsonl.jsonl"))
	for i, want := range map[int]any{0: "one", 1: nil, 2: "", 4: "a,\"b\",\nc", 5: "last"} {
		if got := plain[i]["problem"]; got != want {
			t.Fatalf("JSON lines, row %d: %q, want %q", i, got, want)
		}
	}
	for _, name := range []string{"arrow.arrow", "csv.csv", "json_array.json", "parquet_lz4_large.parquet", "parquet_zstd_v2.parquet"} {
		rows := all(t, filepath.Join("testdata", name))
		if len(rows) != len(plain) {
			t.Errorf("%s: %d rows, want %d", name, len(rows), len(plain))
			continue
		}
		for i, row := range rows {
			w := plain[i]["problem"]
			if name == "csv.csv" && w == "" {
				w = nil // CSV has no empty text
			}
			if row["problem"] != w {
				t.Errorf("%s row %d: %q, want %q", name, i, row["problem"], w)
			}
			if id := row["id"]; name != "csv.csv" && id != int64(i) {
				t.Errorf("%s row %d: id %v (%T)", name, i, id, id)
			}
		}
	}
}

func TestNestedParquet(t *testing.T) {
	path := filepath.Join("testdata", "nested.parquet")
	rows := all(t, path)
	want := []any{[]any{map[string]any{"role": "user", "content": "null image"}}}
	if !reflect.DeepEqual(rows[0]["conversation"], want) || rows[0]["images"] != nil || rows[0]["num_turns"] != int64(1) {
		t.Errorf("row 0: %#v", rows[0])
	}
	image := rows[1]["images"].([]any)[0].(map[string]any)
	if bytes, _ := image["bytes"].(string); !strings.HasPrefix(bytes, "\x89PNG") || image["path"] != "c.png" {
		t.Errorf("image %q", image)
	}
	some := all(t, path, "language", "nowhere")
	if len(some) != len(rows) || !reflect.DeepEqual(some[0], Row{"language": "English"}) {
		t.Errorf("one column: %#v", some)
	}
}

func TestOpenTellsColumns(t *testing.T) {
	for _, name := range []string{"arrow.arrow", "csv.csv", "parquet_zstd_v2.parquet"} {
		r, err := Open(filepath.Join("testdata", name), "id")
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Columns(), " "); got != "id problem answer" {
			t.Errorf("%s: columns %s", name, got)
		}
		r.Close()
	}
}

func TestJSON(t *testing.T) {
	dir := t.TempDir()
	zipped := filepath.Join(dir, "z.jsonl.gz")
	f, err := os.Create(zipped)
	if err != nil {
		t.Fatal(err)
	}
	z := gzip.NewWriter(f)
	io.WriteString(z, "{\"a\":1}\n{\"b\":1.5}\n")
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if rows := all(t, zipped); !reflect.DeepEqual(rows, []Row{{"a": int64(1)}, {"b": 1.5}}) {
		t.Errorf("gzip: %v", rows)
	}
	for text, says := range map[string]string{
		"[{\"a\":1},":     "unexpected EOF",
		"{\"a\":1}\n7":    "row 1: must be a JSON object, got 7",
		"{\"a\":1}\n{\"a": "row 1",
		"[1]":             "must be a JSON object",
	} {
		path := filepath.Join(dir, "x.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := drain(path); err == nil || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "x.json") {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", " \n", "[]", "\xef\xbb\xbf[]"} {
		path := filepath.Join(dir, "y.json")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if rows, err := drain(path); err != nil || len(rows) > 0 {
			t.Errorf("%q: %v, %v", text, rows, err)
		}
	}
}

// TestDamaged checks that every truncation and every flipped byte at the end gives an error or a table, never a crash.
func TestDamaged(t *testing.T) {
	testhome.Slow(t)
	for _, name := range []string{"parquet_zstd_v2.parquet", "arrow.arrow", "csv.csv"} {
		whole, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), name)
		for cut := 0; cut < len(whole); cut += 7 {
			if err := os.WriteFile(path, whole[:cut], 0o600); err != nil {
				t.Fatal(err)
			}
			if rows, err := drain(path); err == nil && len(rows) > 6 {
				t.Errorf("%s cut at %d: %d rows", name, cut, len(rows))
			}
		}
	}
	if _, err := Open("x.xlsx"); err == nil {
		t.Error("x.xlsx was opened")
	}
}
