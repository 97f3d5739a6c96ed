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

// TestPack: the words, without what each shares with the one before, then the codes of each chunk's tokens.
func TestPack(t *testing.T) {
	text := func(id int32) string { return []string{"to", "be", "best", "tea"}[id] }
	want := "\x04" + "\x00\x02\x00\x01" + "\x02\x02\x03\x01" + "be" + "st" + "tea" + "o" + "\x02\x03\x02" + "\x03\x00\x00\x00\x03\x00" + "\x01\x00\x02\x00"
	if got := string(pack([][]int32{{0, 1, 0}, {2, 3}}, text)); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
