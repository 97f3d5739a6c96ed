package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestResponsesHaveAIPerfsKeysAlone: additional fields of responses are next to them and are read again; older exports have them inside.
func TestResponsesHaveAIPerfsKeysAlone(t *testing.T) {
	messages := []record.Message{
		{At: 2000, Raw: []byte("data: {}"), Clock: record.KernelClock},
		{At: 3000, Raw: []byte("data: {}"), UncertainNs: 500, Clock: record.UserClock},
		{At: 4000, Body: true, Details: &record.Details{Size: 77, ContentType: "video/mp4"}, Clock: record.KernelClock},
	}
	rec := &record.Record{Start: 1000, End: 5000, WallOffset: 1, Status: 200, Messages: messages, Trace: &record.Trace{}}
	w := &Raw{}
	line := w.Encode(nil, rec, nil, &metric.Row{})
	var raw struct {
		Responses []map[string]any
	}
	if err := json.Unmarshal(line, &raw); err != nil {
		t.Fatal(err)
	}
	allowed := map[string]bool{"perf_ns": true, "packets": true, "text": true, "content_type": true, "raw_bytes": true}
	for _, r := range raw.Responses {
		for key := range r {
			if !allowed[key] {
				t.Errorf("a response has the key %s", key)
			}
		}
	}
	older := strings.NewReplacer(`"response_uncertain_ns":[0,500],`, "", `"response_sizes":[0,0,77],`, "", `"perf_ns":3000,`, `"perf_ns":3000,"uncertain_ns":500,"clock":"`+record.UserClock.String()+`",`,
		`"raw_bytes":"",`, `"size":77,`).Replace(string(line))
	older = strings.Replace(older, `"response_clocks"`, `"other"`, 1)
	if strings.Contains(older, "response_uncertain") || strings.Contains(older, "response_sizes") {
		t.Fatalf("not the older layout: %s", older)
	}
	for name, text := range map[string]string{"now": string(line), "older": older} {
		path := filepath.Join(t.TempDir(), "raw.jsonl")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read := 0
		err := ReadRaw(path, func(r *record.Record) error {
			read++
			for i := range messages {
				got, want := &r.Messages[i], &messages[i]
				if got.UncertainNs != want.UncertainNs || got.Clock != want.Clock || got.Body && got.Size() != want.Size() {
					t.Errorf("%s: response %d: %+v, want %+v", name, i, got, want)
				}
			}
			return nil
		})
		if err != nil || read != 1 {
			t.Errorf("%s: %d lines, %v", name, read, err)
		}
	}
}
