package htmlreport

import (
	"fmt"
	"strings"

	"aiperf/internal/base/terminal"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/workload/dataset/agentic"
)

// AgentsCache returns cache_structure.json as a page: it shows, turn by turn, which layers the prompts of the first sessions consist of.
func AgentsCache(m *agentic.Made, version string) ([]byte, error) {
	v := agentic.StructureOf(m.Config, m.Sessions)
	b := agentsPage(m, "Prompts by layers of the cache", version)
	shown := "the sessions"
	if len(v.Sessions) < len(m.Sessions) {
		shown = fmt.Sprintf("the first %d of %d sessions", len(v.Sessions), len(m.Sessions))
	}
	longest := 0
	for i := range v.Sessions {
		for k := range v.Sessions[i].Turns {
			t := &v.Sessions[i].Turns[k]
			longest = max(longest, t.Blocks*v.BlockSize+t.Output)
		}
	}
	all := section{
		ID: "sessions", Title: "Sessions", Tables: []*table{sessionTable(v, longest)},
		Lead: fmt.Sprintf("The last turn of %s. All bars share one scale: the full width is %s tokens, and a block has %d.", shown, count(longest), v.BlockSize),
		Own:  layerLegend + otherPages([2]string{AgentsReportFile, "The distributions of the data set"}, [2]string{AgentsSimulationFile, "Simulate a cache"}),
	}
	turns := section{
		ID: "turns", Title: "Turns of a session", Lead: "Open a session to see its turns.", Tables: nil,
		Own: layerLegend + htmlgen.Each(v.Sessions, func(i int, s agentic.StructureRow) node {
			first := &s.Turns[0]
			own := max(0, first.Blocks-v.Layer1-v.Layer15)
			return el("details", attrs{"class", "panel", "id", fmt.Sprintf("session-%d", i)},
				t("summary", "", fmt.Sprintf("%s, %s", s.ID, terminal.Plural(len(s.Turns), "turn"))),
				t("p", "note", fmt.Sprintf("First turn: %s tokens that all sessions share (L1), %s of the group (L1.5), %s only in this session (L2), in whole blocks.",
					count(min(v.Layer1, first.Blocks)*v.BlockSize), count(max(0, min(v.Layer15, first.Blocks-v.Layer1))*v.BlockSize), count(own*v.BlockSize))),
				turnTable(v, &s, longest).node())
		}),
	}
	b.Sections = []section{all, turns}
	return b.html()
}

// layerLegend explains the colours of a bar.
const layerLegend node = `<p class="legend layers"><span class="l1"></span> L1, of all sessions <span class="l15"></span> L1.5, of the group <span class="l2"></span> L2, of the session, cached <span class="l2 fresh"></span> L2 new <span class="l3"></span> L3, new in the turn <span class="out"></span> output</p>`

// sessionTable has a row for each session, taken from its last turn.
func sessionTable(v *agentic.Structure, longest int) *table {
	t := &table{Caption: "Sessions by their last turn", Class: "numbers sweep", Head: []string{"Session", "Turns", "Prompt, tokens", "Cached", "Layers"}}
	for i := range v.Sessions {
		s := &v.Sessions[i]
		last := &s.Turns[len(s.Turns)-1]
		t.Rows = append(t.Rows, []cellText{{Text: s.ID, Link: fmt.Sprintf("#session-%d", i)}, {Text: count(len(s.Turns))}, {Text: count(last.Blocks * v.BlockSize)}, {Text: cachedShare(last)}, {Drawn: layers(v, last, longest)}})
	}
	return t
}

// turnTable has a row for each turn of a session.
func turnTable(v *agentic.Structure, s *agentic.StructureRow, longest int) *table {
	t := &table{Caption: "Turns of " + s.ID, Class: "numbers sweep", Head: []string{"Turn", "Added, tokens", "Output, tokens", "Blocks", "Cached", "New (L3), tokens", "Layers"}}
	for i := range s.Turns {
		one := &s.Turns[i]
		fresh := 0
		for _, seg := range one.Segments {
			if seg.Layer == "L3" {
				fresh += seg.Count * v.BlockSize
			}
		}
		t.Rows = append(t.Rows, []cellText{{Text: count(one.Index)}, {Text: count(one.Input)}, {Text: count(one.Output)}, {Text: count(one.Blocks)}, {Text: cachedShare(one)}, {Text: count(fresh)}, {Drawn: layers(v, one, longest)}})
	}
	return t
}

// cachedShare returns the share of a turn's blocks that are in the cache when it begins.
func cachedShare(t *agentic.StructureTurn) string {
	cached := 0
	for _, seg := range t.Segments {
		if seg.Status == agentic.Cached {
			cached += seg.Count
		}
	}
	return fmt.Sprintf("%.1f %%", 100*float64(cached)/float64(t.Blocks))
}

// layersWide is the width of a bar, in SVG units.
const layersWide = 600

// layers draws the segments of a prompt and its output along the tokens.
func layers(v *agentic.Structure, turn *agentic.StructureTurn, longest int) node {
	x := func(tokens int) float64 { return layersWide * float64(tokens) / float64(longest) }
	bar := func(class string, from, to int) node {
		return el("rect", attrs{"class", class, "x", fmt.Sprintf("%.1f", x(from)), "width", fmt.Sprintf("%.1f", max(1, x(to)-x(from))), "height", "14"})
	}
	end := turn.Blocks * v.BlockSize
	parts := htmlgen.Each(turn.Segments, func(_ int, s agentic.Segment) node {
		class := "l" + strings.ReplaceAll(s.Layer[1:], ".", "")
		if s.Layer == "L2" && s.Status == agentic.Fresh {
			class += " fresh"
		}
		return bar(class, s.Start*v.BlockSize, (s.Start+s.Count)*v.BlockSize)
	})
	return el("svg", attrs{"class", "layers", "viewBox", fmt.Sprintf("0 0 %d 14", layersWide), "preserveAspectRatio", "none", "aria-hidden", "true"}, parts, bar("out", end, end+turn.Output))
}
