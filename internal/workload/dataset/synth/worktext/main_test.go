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

// TestPack: numbers by frequency, one byte each; with 512 different tokens, codes of two bytes begin with the values 254 and 255.
func TestPack(t *testing.T) {
	letter := func(id int32) string { return string('a' + id) }
	if got := string(pack([][]int32{{1, 0, 1}}, letter)); got != "\x02\x01\x01ba\x01\x03\x03\x00\x01\x00" {
		t.Errorf("%q", got)
	}
	ids := make([]int32, 512)
	for i := range ids {
		ids[i] = int32(i)
	}
	got := pack([][]int32{ids}, func(int32) string { return "" })
	if end := string(got[len(got)-4:]); end != "\xff\x00\xff\x01" {
		t.Errorf("the last two codes are %q", end)
	}
}
