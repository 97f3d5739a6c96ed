package page

import (
	"fmt"

	"aiperf/internal/dataset/agentic"
	"aiperf/internal/markup"
)

// agentsData is what the simulation of a cache needs: the rows of the data set.
type agentsData struct {
	Block    int // tokens
	Layer1   int // tokens that all sessions share
	Layer15  int // tokens that a group shares
	FirstOwn int // ids from here on are of single sessions
	Sessions []agentSession
}

// agentSession is a session. A turn is the tokens that its row adds, its output, its pause in ms, and the ids of its row as runs: first and count in turn.
type agentSession struct {
	ID       string
	Group    int
	Restart  bool `json:",omitempty"`
	Turns    [][3]float64
	BlockIDs [][]int
}

// AgentsSimulation simulates a server with a cache of blocks under the sessions of a data set, in the browser: what loads and sizes do to hit rate,
// evictions and latency.
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
			ID: "server", Title: "The server", Own: serverForm(m.BlockSize) + simulated + otherPages([2]string{AgentsReportFile, "The distributions of the data set"}, [2]string{AgentsCacheFile, "Of which layers the prompts are"}),
			Lead: "Sessions begin in order, as many at once as are let in. Prompts are read one after another at the rate of all; only blocks that the cache lacks are read. Answers are written side by side. A session that pauses or has ended is thrown out of a full cache, the one that is idle longest first.",
		},
		{ID: "time", Title: "Over time", Tools: true, Own: `<div class="lanes panel" id="lanes"></div>`},
		{ID: "slots", Title: "Sessions by slot", Own: slots, Lead: "Every row is a place for one session at a time, every bar a turn. Choose one by a click or with the arrow keys."},
		{ID: "rules", Title: "What is counted", Own: rulesOfCache},
	}
	return b.html()
}

// idRuns are ids as runs: first and count in turn.
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

// serverForm asks for the server. Its values are those of the Python tool's page.
func serverForm(block int) node {
	fields := markup.Each([]struct{ id, name, value, step string }{
		{"concurrency", "Sessions at once", "50", "1"}, {"prefill", "Prompt tokens/s, of all", "64000", "any"}, {"decode", "Output tokens/s, of each", "30", "any"}, {"gigabytes", "Cache, GB", "300", "any"},
		{"bytes", "Bytes of a token in it", "35136", "any"},
	}, func(_ int, f struct{ id, name, value, step string }) node {
		return el("label", nil, text(f.name), " ", el("input", attrs{"type", "number", "id", f.id, "value", f.value, "min", "0", "step", f.step, "required?", "yes"}))
	})
	return el("form", attrs{"id", "server-form", "class", "panel fields no-print drawn"}, fields, t("span", "", fmt.Sprintf("Blocks of %d tokens, as generated", block)),
		el("button", attrs{"type", "submit"}, "Simulate"), el("p", attrs{"id", "said", "role", "status"}))
}

// simulated is where the script puts the figures.
const simulated node = `<div class="cards drawn" id="simulated" role="group" aria-label="Figures of the simulation"></div>`

// slots is the picture of the turns, drawn by the part of requests.
const slots node = `<div class="panel drawn"><div class="tools no-print" role="group" aria-label="Turns"><label>Show <select id="filter"><option value="all">all turns</option><option value="slow">the slowest 1 %</option></select></label> <span id="shown" role="status"></span></div>
<p class="legend"><span class="wait"></span> pause, or wait for the prompts of others <span class="prefill"></span> its prompt is read <span class="decode"></span> its answer is written</p>
<canvas id="waterfall" tabindex="0" role="application" aria-label="Turns over time by slot; arrow keys choose one, its figures stand below"></canvas><div id="detail" class="detail" aria-live="polite">No turn is chosen.</div></div>`

// rulesOfCache says how the simulation counts.
const rulesOfCache node = `<dl class="panel words"><div><dt>Hit rate</dt><dd>blocks of the prompts that were in the cache when they were due, of all; at most what a cache without end gives to the sessions one after another</dd></div>
<div><dt>Cache in use</dt><dd>tokens of the sessions that are held, those of shared layers once; above its size only sessions are left that are at work</dd></div>
<div><dt>Thrown out</dt><dd>sessions whose blocks left the cache, and blocks that no other session held</dd></div><div><dt>Read again</dt><dd>blocks thrown out and needed once more: of the group's layer (L1.5), of sessions (L2, L3)</dd></div></dl>`
