package agentic

import (
	"bufio"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
)

func generate(t *testing.T, c *Config, n int) []Session {
	t.Helper()
	list, err := Generate(c, n, rng.NewDecimal("42"), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// row is a line of the dataset.
type row struct {
	ID      string   `json:"session_id"`
	Input   int      `json:"input_length"`
	Output  int      `json:"output_length"`
	IDs     []int    `json:"hash_ids"`
	Group   *int     `json:"group_id"`
	Restart bool     `json:"is_restart"`
	Delay   *float64 `json:"delay"`
}

func rowsOf(t *testing.T, c *Config, sessions []Session) (list []row) {
	t.Helper()
	var b bytes.Buffer
	if err := WriteRows(&b, c, sessions); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(&b)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var r row
		if err := json.Unmarshal(lines.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	return list
}

// TestRows checks the layers of ids, the number of ids per row, and that no id of a session appears in another one.
func TestRows(t *testing.T) {
	c := Default()
	c.RestartChance = 0.8
	sessions := generate(t, c, 60)
	if len(sessions) <= 60 {
		t.Fatalf("%d sessions, want more than 60: some are split", len(sessions))
	}
	seen, heads, owner := map[string]bool{}, 0, map[int]string{}
	for i, r := range rowsOf(t, c, sessions) {
		if want := (r.Input + 511) / 512; len(r.IDs) != want || r.Output < 30 {
			t.Fatalf("row %d: %d ids for %d tokens, output %d", i, len(r.IDs), r.Input, r.Output)
		}
		head := !seen[r.ID]
		seen[r.ID] = true
		if head != (r.Group != nil) || head == (r.Delay != nil) {
			t.Fatalf("row %d: %+v", i, r)
		}
		for k, id := range r.IDs {
			switch {
			case head && k < 63 && id != k, head && k >= 63 && k < 103 && id != 63+200**r.Group+k-63:
				t.Fatalf("row %d: id %d is %d", i, k, id)
			case !head || k >= 103:
				if o := owner[id]; o != "" && !r.Restart {
					t.Fatalf("row %d: id %d is of %s too", i, id, o)
				}
				owner[id] = r.ID
			}
		}
		if head {
			heads++
		}
	}
	if heads != len(sessions) {
		t.Errorf("%d heads of %d sessions", heads, len(sessions))
	}
	if again := generate(t, c, 60); !reflect.DeepEqual(again, sessions) {
		t.Error("the same seed gives other sessions")
	}
}

// TestDistributions compares the means of 2,000 sessions with the distributions: exp(mu + sigma²/2), and the output with its minimum.
func TestDistributions(t *testing.T) {
	c := Default()
	q := Judge(c, generate(t, c, 2000))
	stream, output := rng.NewDecimal("1").Stream("x"), 0.0
	for range 200000 {
		output += max(30, c.Output.draw(stream)) / 200000
	}
	for _, one := range []struct {
		name      string
		got, want float64
	}{
		{"first prompt", q.Observed.Initial.Observed.Mean, 52736 + 10000}, {"output", q.Observed.Output.Observed.Mean, output}, {"median of it", q.Observed.Output.Observed.Median, 300},
	} {
		if math.Abs(one.got/one.want-1) > 0.02 {
			t.Errorf("%s: %.1f, want %.1f within 2 %%", one.name, one.got, one.want)
		}
	}
	if e := q.Ends; e.Sessions != 2000 || e.Retired+e.Reset != 2000 || e.Retired < 200 || e.Reset < 200 {
		t.Errorf("%+v", e)
	}
}

func TestConfigs(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	c, name, err := Load("default")
	if err != nil || name != "default" || c.MaxPrompt != 167000 || *c.Output.Max != 1500 || c.NewTokens.Bias != 1.1 || c.NewTokens.Sigma != 0 {
		t.Errorf("%s %+v %v", name, c, err)
	}
	made := &Made{Config: c, Name: name, Seed: 7, Sessions: generate(t, c, 3)}
	if _, err := made.Write(dir); err != nil {
		t.Fatal(err)
	}
	again, name, err := Load(filepath.Join(dir, "manifest.json"))
	if err != nil || name != "manifest" || !reflect.DeepEqual(again, c) {
		t.Errorf("a manifest gives %+v, want %+v (%v)", again, c, err)
	}
	turns, _, err := Load(write("turns.json", `{"reset":null,"turns":{"mean":4,"median":3,"min":2,"max":6}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range generate(t, turns, 50) {
		if n := len(s.Turns); n < 2 || n > 6 || s.End != Completed {
			t.Errorf("%d turns, end %d", n, s.End)
		}
	}
	for text, want := range map[string]string{
		`{"max_promt_tokens":5}`: "max_promt_tokens", `{"generation_length":{"mean":5,"median":9}}`: "generation_length: mean 5", `[]`: "array",
		`{"turns":{"mean":4,"median":3,"min":2,"max":6}}`: "cannot be combined with reset", `{"block_size":0}`: "block_size", `{"restart_turn_range":[5,5]}`: "restart_turn_range",
	} {
		if _, _, err := Load(write("bad.json", text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
	if _, _, err := Load("nothing"); err == nil || !strings.Contains(err.Error(), "bundled") {
		t.Error(err)
	}
}
