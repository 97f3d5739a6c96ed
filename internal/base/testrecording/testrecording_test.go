package testrecording

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"testing"
)

func TestPlainAndPackedFilesReadAlike(t *testing.T) {
	dir := t.TempDir()
	text := []byte("{\"n\":1}\n{\"n\":2}\n")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	z.Write(text)
	z.Close()
	for name, data := range map[string][]byte{"a.jsonl": text, "a.jsonl.gz": packed.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
		if got := Read(t, path); !bytes.Equal(got, text) {
			t.Errorf("%s: %q", name, got)
		}
		type row struct{ N int }
		if rows := Lines[row](t, path); len(rows) != 2 || rows[1].N != 2 {
			t.Errorf("%s: %v", name, rows)
		}
	}
}
