package hf

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
)

// TestAgainstTheReference: whole files that the reference library wrote, and what it makes of some texts by them (../testdata/components.py).
func TestAgainstTheReference(t *testing.T) {
	text, err := os.ReadFile("testdata/reference.json")
	if err != nil {
		t.Fatal(err)
	}
	var cases []struct {
		Name, File   string
		In, Back     []string
		IDs, Special [][]int32
	}
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		f, err := Parse([]byte(c.File), Options{})
		if err != nil {
			t.Errorf("%s: %v", c.Name, err)
			continue
		}
		for i, in := range c.In {
			got := idsOf(t, f.Pipeline, nil, in)
			if !slices.Equal(got, c.IDs[i]) {
				t.Errorf("%s: %q is %v, the reference says %v", c.Name, in, got, c.IDs[i])
			}
			if whole := slices.Concat(f.Wrap.Before, got, f.Wrap.After); !slices.Equal(whole, c.Special[i]) {
				t.Errorf("%s: %q with special tokens is %v, the reference says %v", c.Name, in, whole, c.Special[i])
			}
			if back := f.Pipeline.Decode(c.IDs[i]); back != c.Back[i] {
				t.Errorf("%s: the ids of %q are decoded to %q, the reference says %q", c.Name, in, back, c.Back[i])
			}
		}
		if id := f.ID("the"); id >= 0 && f.Pipeline.Decode([]int32{id}) != "the" {
			t.Errorf("%s: \"the\" has the id %d of %q", c.Name, id, f.Pipeline.Decode([]int32{id}))
		}
	}
}
