package table

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// damagedError reads a file to its end, or to its first error.
func damagedError(name string, text []byte) error {
	in, err := Read(name, name, content{bytes.NewReader(text)}, int64(len(text)))
	for n := 0; err == nil && n < 100_000; n++ {
		_, err = in.Next()
	}
	if in != nil {
		_ = in.Close() // nothing is left to lose
	}
	if errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// TestDamagedFiles checks that a truncated or changed file gives an error that names the file, and never the text of a library panic.
func TestDamagedFiles(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	refused := 0
	for _, name := range []string{"parquet_zstd_v2.parquet", "nested.parquet", "arrow.arrow", "../../custom/testdata/baseten.arrow"} {
		whole, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		for round := range 400 {
			text := bytes.Clone(whole)
			if round%4 == 0 {
				text = text[:draw.IntN(len(text))]
			} else {
				for range 1 << (round % 4) {
					text[draw.IntN(len(text))] ^= byte(1 + draw.IntN(255))
				}
			}
			err := damagedError(name, text)
			if err == nil {
				continue
			}
			refused++
			if says := err.Error(); !strings.HasPrefix(says, name+": ") || strings.Contains(says, "runtime error") || strings.Contains(says, "goroutine") {
				t.Errorf("round %d: %v", round, err)
			}
		}
	}
	if refused < 400 {
		t.Errorf("only %d of 1600 damaged files are refused", refused)
	}
}
