package framing

import (
	"bytes"
	"strings"
	"testing"
)

// The quick search for the word must find it wherever it stands.
func TestNamesError(t *testing.T) {
	for _, word := range []string{"error", "ERROR", "Error", "eRRor"} {
		for before := range 6 {
			for after := range 3 {
				raw := strings.Repeat("r", before) + word + strings.Repeat("x", after)
				if !namesError([]byte(raw)) {
					t.Errorf("%q: not found", raw)
				}
			}
		}
	}
	for _, raw := range []string{"", "e", "err", "rror", "erro", "terrors"[:6], "mirror", "event: ping\ndata: {}"} {
		if want := strings.Contains(raw, "error"); namesError([]byte(raw)) != want {
			t.Errorf("%q: want %v", raw, want)
		}
	}
}

// What the cheap test lets pass must hold no error, for messages of one line and of several.
func TestMayFail(t *testing.T) {
	filler := strings.Repeat(`{"role":"mirror","x":"r"},`, 20)
	for _, c := range []struct {
		raw          string
		single, want bool
	}{
		{`data: {"error":{"code":500}}`, true, true},
		{`data: ` + filler + `"error":1`, true, true},
		{`data: {"type":"response.failed"}`, true, true},
		{`data: {"text":"an error occurred"}`, true, false},
		{`data: {"type":"failed"}`, true, false},
		{"event: Error\ndata: x", false, true},
		{"event: response.failed\ndata: {}", false, true},
		{"event: token\ndata: " + filler, false, false},
	} {
		if got := SSE.MayFail([]byte(c.raw), c.single); got != c.want {
			t.Errorf("%q: %v, want %v", c.raw, got, c.want)
		}
	}
}

func BenchmarkMayFail(b *testing.B) {
	one := []byte(`data: {"id":"chatcmpl-00000001","object":"chat.completion.chunk","created":1795271830,"model":"mock","choices":[{"index":0,"delta":{"content":" energy"},"logprobs":null,"finish_reason":null}]}`)
	for name, raw := range map[string][]byte{"one line": one, "two lines": append([]byte("event: token\n"), one...)} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if SSE.MayFail(raw, !bytes.Contains(raw, []byte("\n"))) {
					b.Fatal("suspicious")
				}
			}
		})
	}
}
