package htmlreport

import (
	"encoding/json"
	"strings"
	"testing"

	"aiperf/internal/base/rng"
	"aiperf/internal/workload/dataset/agentic"
)

func agentsMade(t *testing.T, n int) *agentic.Made {
	t.Helper()
	c := agentic.Default()
	seed := uint64(7)
	sessions, err := agentic.Generate(c, n, rng.New(&seed), func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	return &agentic.Made{Config: c, Name: "<default>", Seed: seed, Sessions: sessions}
}

// TestAgents: the pages load nothing, lead to each other, spell foreign text out, and hold what was generated; one session of one turn makes them too.
func TestAgents(t *testing.T) {
	for _, n := range []int{1, 60} {
		m := agentsMade(t, n)
		if n == 1 {
			m.Sessions[0].Turns = m.Sessions[0].Turns[:1]
		}
		for name, write := range map[string]func(*agentic.Made, string) ([]byte, error){AgentsReportFile: Agents, AgentsCacheFile: AgentsCache, AgentsSimulationFile: AgentsSimulation} {
			page, err := write(m, "1.0")
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			alone(t, page)
			for _, other := range []string{AgentsReportFile, AgentsCacheFile, AgentsSimulationFile} {
				if got := strings.Contains(string(page), `href="`+other+`"`); got == (other == name) {
					t.Errorf("%s leads to %s: %v", name, other, got)
				}
			}
			if strings.Contains(string(page), "<default>") || !strings.Contains(string(page), "&lt;default&gt;") {
				t.Errorf("%s: the name of the configuration is not spelled out", name)
			}
		}
	}
}

// TestAgentsData: every bar of a histogram counts its turns, and all bars together count all turns.
func TestAgentsData(t *testing.T) {
	m := agentsMade(t, 60)
	page, err := Agents(m, "1.0")
	if err != nil {
		t.Fatal(err)
	}
	turns, counted := float64(agentic.Requests(m.Sessions)), 0
	for _, c := range dataOf(t, page).Charts {
		if c.Name != "isl" && c.Name != "hits" && c.Name != "blocks" {
			continue
		}
		sum := 0.0
		for _, y := range c.Traces[0].Y[:len(c.Traces[0].Y)-1] { // the last point ends the last bar
			sum += *y
		}
		if counted++; sum != turns {
			t.Errorf("%s counts %v of %v turns", c.Name, sum, turns)
		}
	}
	if counted != 3 {
		t.Errorf("%d histograms", counted)
	}
	for _, one := range []struct {
		values []float64
		bars   int
		first  float64
	}{{[]float64{1, 2, 2, 4}, 4, 1}, {[]float64{0.5, 1, 500}, 8, 0.5}} {
		c := histogram("x", "x", "s", one.values)
		if tr := c.Traces[0]; len(tr.X) != one.bars+1 || tr.X[0] != one.first || tr.Y[0] == 0 {
			t.Errorf("%v: %v %v", one.values, tr.X, tr.Y)
		}
	}
	if histogram("x", "x", "s", []float64{3, 3}) != nil {
		t.Error("equal values have a histogram")
	}
}

func TestIDRuns(t *testing.T) {
	for text, want := range map[string]string{"[]": "null", "[4]": "[4,1]", "[0,1,2,9,10,4]": "[0,3,9,2,4,1]"} {
		var ids []int
		if err := json.Unmarshal([]byte(text), &ids); err != nil {
			t.Fatal(err)
		}
		if got, err := json.Marshal(idRuns(ids)); err != nil || string(got) != want {
			t.Errorf("%s: %s, want %s (%v)", text, got, want, err)
		}
	}
}

// TestTermsOfTheSimulation: the page defines the terms that its cards show.
func TestTermsOfTheSimulation(t *testing.T) {
	terms := strings.Split(string(rulesOfCache), "<dt>")[1:]
	if len(terms) < 4 {
		t.Fatalf("%d terms, want at least 4", len(terms))
	}
	script := strings.ToLower(asset("agents.js"))
	for _, term := range terms {
		name, _, _ := strings.Cut(term, "</dt>")
		if !strings.Contains(script, `["`+strings.ToLower(name)+`"`) {
			t.Errorf("no card shows %q", name)
		}
	}
}
