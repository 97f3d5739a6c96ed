package public

import (
	"encoding/base64"
	"encoding/json"
	"testing"
)

func FuzzSound(f *testing.F) {
	for _, s := range []string{"UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQQAAAAAAAEA", "ZkxhQwAAACI="} {
		b, err := base64.StdEncoding.DecodeString(s)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		p, err := decodeSound(string(raw))
		if err != nil {
			return
		}
		again, err := decodeSound(string(p.wav()))
		if err != nil || again.rate != p.rate || len(again.samples) != len(p.samples)/p.channels*p.channels {
			t.Errorf("%d samples became %v, %v", len(p.samples), again, err)
		}
	})
}

func FuzzMessages(f *testing.F) {
	f.Add(`[{"role":"user","parts":[{"type":"text","content":"x"},{"type":"tool_call_response","id":"c","result":{"a":1.50}}]}]`, `[{"type":"text","content":"s"}]`)
	f.Fuzz(func(t *testing.T, list, system string) {
		got, err := messages(map[string]any{"gen_ai.input.messages": list, "gen_ai.system_instructions": system})
		if err != nil {
			return
		}
		for _, m := range got {
			if !json.Valid(m) {
				t.Errorf("%q became %q", list, m)
			}
		}
	})
}
