package plots

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/report/runfiles"
)

// recorded writes a run with records of sessions: name, start and end in ms.
func withSessions(t *testing.T, rows ...[3]any) *runfiles.Run {
	t.Helper()
	dir, text := filepath.Join(t.TempDir(), "run"), ""
	for _, r := range rows {
		text += fmt.Sprintf(`{"metadata":{"x_correlation_id":"%v","request_start_ns":%v000000,"request_end_ns":%v000000},"metrics":{}}`+"\n", r[0], r[1], r[2])
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "profile_export.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return runfiles.Open(dir)
}

// TestSwimLane: a session takes the lowest free slot for all of its time, the curve counts requests, idle sessions are those between turns.
func TestSwimLane(t *testing.T) {
	// a: 0-10, 30-40; b: 5-20; c begins at 20 in b's slot; d at 40 in a's
	run := withSessions(t, [3]any{"b", 1005, 1020}, [3]any{"a", 1000, 1010}, [3]any{"a", 1030, 1040}, [3]any{"c", 1020, 1035}, [3]any{"d", 1040, 1041})
	q, err := run.Requests()
	if err != nil {
		t.Fatal(err)
	}
	list, slots := sessionsOf(q)
	got := ""
	for _, s := range list {
		got += fmt.Sprintf("%d:%d ", s.slot, len(s.requests))
	}
	if got != "0:2 1:1 1:1 0:1 " || slots != 2 {
		t.Errorf("%s in %d slots", got, slots)
	}
	s, err := NewSwimLane(run, 3, 0.005)
	if err != nil {
		t.Fatal(err)
	}
	if s.Lanes.Title != "run — 4 sessions across 2 slots" || s.Curve.Traces[0].Name != "active requests (peak 2)" || len(s.Curve.Traces) != 4 || s.Curve.Traces[3].Y[0] != 3 {
		t.Errorf("%q %+v", s.Lanes.Title, s.Curve.Traces)
	}
	if idle := s.Curve.Traces[1]; fmt.Sprint(idle.X, idle.Y) != "[0 0.005 0.01 0.02 0.03 0.035 0.04 0.041] [0 0 1 1 0 0 0 0]" {
		t.Errorf("idle %v %v", idle.X, idle.Y)
	}
	image, err := s.Image(false)
	if err != nil || [8]byte(image[16:24]) != [8]byte{0, 0, 3000 >> 8, 3000 & 255, 0, 0, 960 >> 8, 960 & 255} {
		t.Errorf("%v %v", err, image[:min(24, len(image))])
	}
	page, err := s.Page()
	if err != nil || !strings.Contains(string(page), "<svg") || !strings.Contains(string(page), "2 slots") {
		t.Error(err)
	}
}

// TestTurnPage: roots first; of a turn only what it adds; long messages and many turns are cut and counted; text of users is not markup.
func TestTurnPage(t *testing.T) {
	run := withSessions(t, [3]any{"x", 1, 2})
	text := ""
	for _, row := range []struct {
		session, parent string
		depth, turn     int
		messages        string
	}{
		{"s2", "s1", 1, 0, `{"role":"user","content":"child"}`},
		{"s1", "", 0, 0, `{"role":"user","content":"<img src=x onerror=1>"}`},
		{"s1", "", 0, 1, `{"role":"user","content":"<img src=x onerror=1>"},{"role":"assistant","content":"answer","tool_calls":[1]},{"role":"user","content":"a very long text"}`},
		{"s1", "", 0, 2, `{"role":"user","content":"three"}`},
	} {
		text += fmt.Sprintf(`{"metadata":{"x_correlation_id":"%s","parent_correlation_id":"%s","conversation_id":"conv-%s","agent_depth":%d,"turn_index":%d,"request_start_ns":5},"payload":{"messages":[%s]}}`+"\n",
			row.session, row.parent, row.session, row.depth, row.turn, row.messages)
	}
	if err := os.WriteFile(filepath.Join(run.Dir, "profile_export_raw.jsonl"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := TurnPage(run, TurnOptions{Conversations: 40, Turns: 2, Letters: 6})
	if err != nil {
		t.Fatal(err)
	}
	page := string(out)
	for _, want := range []string{"2 of 2 conversations", "started by conv-s1", "2 new messages, 1 repeated from the turn before", "&lt;img s\n… 15 more characters", "a very\n… 10 more", "Not shown: 1 more turn."} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	if strings.Contains(page, "<img") || strings.Index(page, "conv-s1") > strings.Index(page, "conv-s2") {
		t.Error("markup of a user, or a child before its root")
	}
	if _, err := TurnPage(withSessions(t, [3]any{"x", 1, 2}), TurnOptions{}); err == nil || !strings.Contains(err.Error(), "profile_export_raw.jsonl") {
		t.Error(err)
	}
}
