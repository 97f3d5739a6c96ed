package htmlreport

import (
	"fmt"

	"aiperf/internal/report/htmlgen"
	"aiperf/internal/workload/dataset/agentic"
)

// agentsData is the dataset in the form that the simulation of a cache needs.
type agentsData struct {
	Block    int // tokens of a block
	Layer1   int // tokens that all sessions share
	Layer15  int // tokens that a group shares
	FirstOwn int // lowest id that belongs to a single session
	Sessions []agentSession
}

// agentSession is a session. A turn consists of the tokens that its row adds, its output, its pause in ms, and the ids of its row as runs: first id
// and count, alternating.
type agentSession struct {
	ID       string
	Group    int
	Restart  bool `json:",omitempty"`
	Turns    [][3]float64
	BlockIDs [][]int
}

// AgentsSimulation returns a page that simulates in the browser a server with a block cache under the sessions of a dataset. It shows how load and
// sizes affect hit rate, evictions and latency.
func AgentsSimulation(m *agentic.Made, version string) ([]byte, error) {
	b := agentsPage(m, "Simulation of a cache", version)
	a := &agentsData{Block: m.BlockSize, Layer1: m.Cache.Layer1, Layer15: m.Cache.Layer15, FirstOwn: agentic.FirstOwn(m.Config)}
	err := agentic.Rows(m.Config, m.Sessions, func(s *agentic.Session, turn int, ids []int) error {
		pause := 0.0
		if turn == 0 {
			a.Sessions = append(a.Sessions, agentSession{ID: s.ID, Group: s.Group, Restart: s.Continues})
		} else {
			pause = s.Turns[turn].Pause()
		}
		one := &a.Sessions[len(a.Sessions)-1]
		one.Turns = append(one.Turns, [3]float64{float64(s.Turns[turn].New), float64(s.Turns[turn].Output), pause})
		one.BlockIDs = append(one.BlockIDs, idRuns(ids))
		return nil
	})
	if err != nil {
		return nil, err
	}
	b.Agents, b.Seconds = a, 1
	b.Sections = []section{
		{
			ID: "server", Title: "The server", Own: serverForm(m.BlockSize) + simulated + otherPages([2]string{AgentsReportFile, "The distributions of the data set"}, [2]string{AgentsCacheFile, "Layers of the prompts"}),
			Lead: "Sessions start in order, up to the given number at once. Prompts are processed one after another at the total rate; only blocks missing from the cache are processed. Answers are generated in parallel. A full cache evicts paused or ended sessions, the longest idle first.",
		},
		{ID: "time", Title: "Over time", Tools: true, Own: `<div class="lanes panel" id="lanes"></div>`},
		{ID: "slots", Title: "Sessions by slot", Own: slots, Lead: "Every row is a place for one session at a time, every bar a turn. Choose one by a click or with the arrow keys."},
		{ID: "rules", Title: "Definitions", Own: rulesOfCache},
	}
	return b.html()
}

// idRuns encodes ids as runs: first id and count, alternating.
func idRuns(ids []int) (list []int) {
	for _, id := range ids {
		if n := len(list); n > 0 && list[n-2]+list[n-1] == id {
			list[n-1]++
		} else {
			list = append(list, id, 1)
		}
	}
	return list
}

// serverForm is the form for the settings of the server. Its defaults are those of the Python tool's page.
func serverForm(block int) node {
	fields := htmlgen.Each([]struct{ id, name, value, step string }{
		{"concurrency", "Sessions at once", "50", "1"}, {"prefill", "Prompt tokens/s, all sessions", "64000", "any"}, {"decode", "Output tokens/s, per session", "30", "any"}, {"gigabytes", "Cache, GB", "300", "any"},
		{"bytes", "Bytes of a token in it", "35136", "any"},
	}, func(_ int, f struct{ id, name, value, step string }) node {
		return el("label", nil, text(f.name), " ", el("input", attrs{"type", "number", "id", f.id, "value", f.value, "min", "0", "step", f.step, "required?", "yes"}))
	})
	return el("form", attrs{"id", "server-form", "class", "panel fields no-print drawn"}, fields, t("span", "", fmt.Sprintf("Blocks of %d tokens, as generated", block)),
		el("button", attrs{"type", "submit"}, "Simulate"), el("p", attrs{"id", "said", "role", "status"}))
}

// simulated is the element in which the script puts the figures.
const simulated node = `<div class="cards drawn" id="simulated" role="group" aria-label="Figures of the simulation"></div>`

// slots is the chart of the turns, drawn by the script of the waterfall.
const slots node = `<div class="panel drawn"><div class="tools no-print" role="group" aria-label="Turns"><label>Show <select id="filter"><option value="all">all turns</option><option value="slow">the slowest 1 %</option></select></label> <span id="shown" role="status"></span></div>
<p class="legend"><span class="wait"></span> pause, or wait for other prompts <span class="prefill"></span> prompt processing <span class="decode"></span> answer generation</p>
<canvas id="waterfall" tabindex="0" role="application" aria-label="Turns over time by slot; arrow keys choose one, its figures stand below"></canvas><div id="detail" class="detail" aria-live="polite">No turn is chosen.</div></div>`

// rulesOfCache explains how the simulation counts.
const rulesOfCache node = `<dl class="panel words"><div><dt>Hit rate</dt><dd>share of prompt blocks that were in the cache when needed; an unlimited cache with the sessions one after another gives the maximum</dd></div>
<div><dt>Cache in use</dt><dd>tokens of the cached sessions, shared layers counted once; above its size only working sessions remain</dd></div>
<div><dt>Evicted</dt><dd>sessions whose blocks left the cache, and blocks that no other session held</dd></div><div><dt>Read again</dt><dd>evicted blocks that were needed again: of the group's layer (L1.5), of sessions (L2, L3)</dd></div></dl>`
