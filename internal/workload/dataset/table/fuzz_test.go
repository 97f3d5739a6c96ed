package table

import (
	"bytes"
	"os"
	"strings"
	"testing"
)

// content is a file in memory.
type content struct{ *bytes.Reader }

func (content) Close() error { return nil }

// TestFooterLength checks that a stated footer of 4 GB in a small file is rejected before memory is allocated for it.
func TestFooterLength(t *testing.T) {
	text := []byte("PAR1....\xff\xff\xff\xffPAR1")
	_, err := Read("x.parquet", "x.parquet", content{bytes.NewReader(text)}, int64(len(text)))
	if err == nil || !strings.Contains(err.Error(), "a footer of 4294967295 bytes in a file of 16") {
		t.Error(err)
	}
}

// FuzzRead reads any file as every format. This must give an error, or rows until the end.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"csv.csv", "parquet_zstd_v2.parquet", "nested.parquet", "jsonl.jsonl", "arrow.arrow", "../../custom/testdata/baseten.arrow"} {
		seed, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(seed)
	}
	f.Add([]byte(`[{"a":1},{"a":[null]}]`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, ending := range Endings() {
			in, err := Read("x"+ending, "x"+ending, content{bytes.NewReader(text)}, int64(len(text)))
			if err != nil {
				continue
			}
			for n := 0; ; n++ {
				if _, err := in.Next(); err != nil {
					break
				}
				if n > 8*len(text)+1000 {
					if ending == ".arrow" { // a column of nulls takes no bytes
						break
					}
					t.Fatalf("%s: %d rows of %d bytes", ending, n, len(text))
				}
			}
			_ = in.Close() // nothing is left to lose
		}
	})
}
