package artifact

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// TestOutputsOrder: entries arrive as requests end, several at once, and are written in the order of sessions and turns; cut requests are omitted.
// With no requests both lists are empty.
func TestOutputsOrder(t *testing.T) {
	set, err := metric.NewSelection(metric.Options{})
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "sub", "outputs.json")
	type place struct {
		Session int `json:"session_num"`
		Turn    int `json:"turn_index"`
	}
	for name, c := range map[string]struct {
		ended [][3]int // session, turn, 1 = cut
		want  []place
	}{
		"mixed": {[][3]int{{10, 0, 0}, {2, 1, 0}, {2, 0, 0}, {3, 0, 1}, {0, 0, 0}}, []place{{0, 0}, {2, 0}, {2, 1}, {10, 0}}},
		"none":  {nil, []place{}},
	} {
		w, err := CreateOutputs(path)
		if err != nil {
			t.Fatal(err)
		}
		var lines []byte
		for _, e := range c.ended {
			rec := &record.Record{Meta: record.Meta{SessionNum: int64(e[0]), TurnIndex: e[1]}, Start: 1, End: 2}
			if e[2] == 1 {
				rec.Cut = "grace"
			}
			lines = w.Encode(lines, rec, &record.Reply{Contents: []record.Content{{Text: "a\nb \"c\""}}}, set.Row(rec, nil, record.Counts{}))
		}
		if err := w.Write(lines); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Data, Warmup []place }
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err, string(text))
		}
		if len(got.Data) != len(c.want) || got.Warmup == nil {
			t.Errorf("%s: %s", name, text)
			continue
		}
		for i, p := range got.Data {
			if p != c.want[i] {
				t.Errorf("%s: %v, want %v", name, got.Data, c.want)
			}
		}
	}
}
