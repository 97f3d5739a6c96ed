package main

import (
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	long := strings.Repeat("x", chunkChars)
	got := splitChunks([]byte("a\n\n  b \n" + long + "\n\t\nc"))
	if len(got) != 2 || got[0] != "a b "+long || got[1] != "c" {
		t.Errorf("%d chunks", len(got))
	}
}

// TestPack: the words by frequency, then the numbers of each chunk's tokens.
func TestPack(t *testing.T) {
	letter := func(id int32) string { return string('a' + id) }
	want := "\x02\x01\x01ba" + "\x02\x03\x01" + "\x00\x00\x01\x00\x00\x00" + "\x00\x00"
	if got := string(pack([][]int32{{1, 0, 1}, {1}}, letter)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
