package endpoint

import (
	"strings"
	"testing"

	"aiperf/internal/measure/record"
)

// TestShapeOfBodies: the failure of a body without content describes the body, unless more is known.
func TestShapeOfBodies(t *testing.T) {
	for _, c := range []struct{ kind, body, want string }{
		{"nim_rankings", `{"id":"7","results":[{"index":0}]}`, "; the answer contains id, results"},
		{"embeddings", `[[0.1]]`, "; the answer is a list"},
		{"chat", `7`, "; the answer is a single value"},
		{"chat", `{}`, "; the answer is an empty object"},
		{"chat", `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1,"j":1}`, "; the answer contains a, b, c, d, e, f, g, h, …"},
		{"chat", `{"` + strings.Repeat("x", maxShapeName+1) + `":1}`, "; the answer contains " + strings.Repeat("x", maxShapeName)},
		{"chat", `{"error":"busy"}`, `; the server said: "busy"`},
		{"chat", `<html>`, "; the answer is not JSON"},
	} {
		rec := &record.Record{End: 9, Messages: []record.Message{{At: 1, Body: true, Raw: []byte(c.body)}}}
		_, failure := Decode(codec(t, c.kind, Settings{}), rec, DecodeOptions{})
		if failure == nil || failure.Message != "Invalid inference result: No responses with actual content were received"+c.want {
			t.Errorf("%s: %+v", c.body, failure)
		}
	}
}
