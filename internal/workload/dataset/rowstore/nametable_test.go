package rowstore

import (
	"fmt"
	"testing"
)

// TestNameTable checks that every text keeps its first number while the index grows.
func TestNameTable(t *testing.T) {
	n, want := NewNameTable(), map[string]uint32{}
	for i := range 60_000 {
		text := fmt.Sprintf("session %d", i*7919%20_011)
		number, met := n.Number(text)
		before, known := want[text]
		if met != known || known && number != before || !known && int(number) != len(want) {
			t.Fatalf("%q: %d, met %v; want %d, %v", text, number, met, before, known)
		}
		want[text] = number
	}
	if n.keys.Len() != len(want) || len(want) != 20_011 {
		t.Errorf("%d names of %d", n.keys.Len(), len(want))
	}
}
