package plots

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/chart"
	"aiperf/internal/report/chart/render"
	"aiperf/internal/report/htmlgen"
	"aiperf/internal/report/runfiles"
)

// SwimLane shows the sessions of a run as lanes and, below them, how many are active.
type SwimLane struct {
	Lanes, Curve *chart.Chart
}

// laneSize is 3000 × 960 pixels.
var laneSize = render.Size{Width: 2000, Height: 640, Scale: 1.5}

// laneShares are the parts of the height for the lanes and the curve.
var laneShares = []float64{0.66, 0.34}

// laneColours are ten hues, alternating dark and light.
var laneColours = []string{
	"#1f77b4", "#7fb3e0", "#d95f02", "#fdae6b", "#238b45", "#81c784", "#b2182b", "#ef8a82", "#6a51a3", "#b3a2d6",
	"#8c510a", "#c9a26b", "#c51b7d", "#eba0cc", "#525252", "#a3a3a3", "#8a8a00", "#cfcf60", "#017a8a", "#73c6d4",
}

// session is one conversation: its requests in order of their starts.
type session struct {
	from, to int64
	slot     int
	requests []int
}

// NewSwimLane lays out the sessions of a run. target is a concurrency to compare with, 0 = none. ramp is the time in s in which the load grew, 0 = as
// the run says.
func NewSwimLane(run *runfiles.Run, target int, ramp float64) (*SwimLane, error) {
	q, err := run.Requests()
	if err != nil {
		return nil, err
	}
	zero := slices.Min(q.Start)
	at := func(ns int64) float64 { return float64(ns-zero) / 1e9 }
	sessions, slots := sessionsOf(q)
	s := &SwimLane{
		Lanes: &chart.Chart{
			Name: "swim_lane", Title: run.Name + " — " + terminal.Plural(len(sessions), "session") + " across " + terminal.Plural(slots, "slot"),
			X: chart.Axis{Title: "Time (s)", FromZero: true}, Y: chart.Axis{Title: "Session slot", Fixed: true, Min: -0.7, Max: float64(slots) - 0.3},
		},
		Curve: &chart.Chart{Title: "Sessions", X: chart.Axis{Title: "Time (s)", FromZero: true}, Y: chart.Axis{Title: "Sessions", FromZero: true}},
	}
	thick := min(16, 300/float64(slots))
	work, wait := make([]chart.Trace, len(laneColours)), make([]chart.Trace, len(laneColours))
	begins := chart.Trace{Name: "session begins", Kind: chart.Scatter, Mode: chart.Lines, Style: chart.Style{Color: "#000000", Width: 1.5}}
	piece := func(t *chart.Trace, x0, x1, y float64) {
		t.X, t.Y = append(t.X, x0, x1, x1), append(t.Y, y, y, math.NaN())
	}
	var busy, there []step
	for i := range sessions {
		one, y := &sessions[i], float64(sessions[i].slot)
		k := i % len(laneColours)
		there = append(there, step{one.from, 1}, step{one.to, -1})
		begins.X, begins.Y = append(begins.X, at(one.from), at(one.from), at(one.from)), append(begins.Y, y-0.42, y+0.42, math.NaN())
		last := one.from
		for _, r := range one.requests {
			if q.Start[r] > last {
				piece(&wait[k], at(last), at(q.Start[r]), y)
			}
			piece(&work[k], at(q.Start[r]), at(q.End[r]), y)
			last = max(last, q.End[r])
			busy = append(busy, step{q.Start[r], 1}, step{q.End[r], -1})
		}
	}
	for k := range laneColours {
		for _, one := range []struct {
			t       *chart.Trace
			opacity float64
		}{{&wait[k], 0.3}, {&work[k], 1}} {
			if one.t.X != nil {
				one.t.Kind, one.t.Mode, one.t.Style = chart.Scatter, chart.Lines, chart.Style{Color: laneColours[k], Width: thick, Opacity: one.opacity}
				s.Lanes.Traces = append(s.Lanes.Traces, *one.t)
			}
		}
	}
	end := at(slices.Max(q.End))
	s.Lanes.Traces = append(s.Lanes.Traces, begins)
	s.mark("end of benchmark", end, chart.Red, float64(slots))
	if ramp == 0 {
		ramp = exportedRamp(run)
	}
	if ramp > 0 {
		s.mark("end of ramp", ramp, chart.Green, float64(slots))
	}
	s.curve(at, busy, there, slots, target, end)
	s.Lanes.Legend = append(s.Lanes.Legend,
		chart.Entry{Name: "request", Mode: chart.Lines, Style: chart.Style{Color: laneColours[0], Width: 12}},
		chart.Entry{Name: "delay between turns", Mode: chart.Lines, Style: chart.Style{Color: laneColours[0], Width: 12, Opacity: 0.3}})
	return s, nil
}

// step is a change of a count.
type step struct {
	at int64
	by float64
}

// sessionsOf groups requests into sessions in the order of their first starts. Each session gets the lowest slot that is free for all of its time.
func sessionsOf(q *runfiles.Requests) (list []session, slots int) {
	by := map[string]int{}
	order := make([]int, q.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(q.Start[a], q.Start[b]) })
	for _, r := range order {
		name := q.Session[r]
		if name == "" {
			name = strconv.Itoa(r) // without an id every request is its own session
		}
		k, ok := by[name]
		if !ok {
			k = len(list)
			by[name], list = k, append(list, session{from: q.Start[r]})
		}
		list[k].requests, list[k].to = append(list[k].requests, r), max(list[k].to, q.End[r])
	}
	var free []int64 // when each slot becomes free
	for i := range list {
		slot := slices.IndexFunc(free, func(until int64) bool { return until <= list[i].from })
		if slot < 0 {
			slot, free = len(free), append(free, 0)
		}
		list[i].slot, free[slot] = slot, list[i].to
	}
	return list, len(free)
}

// mark draws a vertical dashed line through the lanes.
func (s *SwimLane) mark(name string, x float64, hue string, top float64) {
	s.Lanes.Traces = append(s.Lanes.Traces, chart.Trace{
		Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: []float64{x, x}, Y: []float64{-0.6, top - 0.4}, Style: chart.Style{Color: hue, Width: 2, Dash: "dash"},
	})
}

// curve draws the number of active requests and of idle sessions.
func (s *SwimLane) curve(at func(int64) float64, busy, there []step, slots, target int, end float64) {
	x, n := counted(busy, at)
	peak := slices.Max(n)
	var both []step
	for _, one := range busy {
		both = append(both, step{one.at, -one.by})
	}
	xi, idle := counted(append(both, there...), at)
	flat := func(name string, v float64, hue, dash string) chart.Trace {
		return chart.Trace{Name: name, Kind: chart.Scatter, Mode: chart.Lines, X: []float64{0, end}, Y: []float64{v, v}, Style: chart.Style{Color: hue, Width: 2, Dash: dash}}
	}
	s.Curve.Traces = []chart.Trace{
		{Name: fmt.Sprintf("active requests (peak %.0f)", peak), Kind: chart.Scatter, Mode: chart.Lines, X: x, Y: n, Style: chart.Style{Color: "#1f77b4", Width: 2, Shape: "hv", Fill: chart.ToZero, Filling: 0.35}},
		{Name: "idle sessions", Kind: chart.Scatter, Mode: chart.Lines, X: xi, Y: idle, Style: chart.Style{Color: "#777777", Width: 2, Shape: "hv"}},
		flat(fmt.Sprintf("slots (%d)", slots), float64(slots), chart.Red, "dot"),
	}
	if target > 0 {
		s.Curve.Traces = append(s.Curve.Traces, flat(fmt.Sprintf("target concurrency (%d)", target), float64(target), "#238b45", "dash"))
	}
}

// counted returns the count after each change; changes at one instant are combined.
func counted(steps []step, at func(int64) float64) (x, n []float64) {
	sorting.Stable(steps, func(a, b step) int { return cmp.Compare(a.at, b.at) })
	count := 0.0
	for i, one := range steps {
		count += one.by
		if i+1 < len(steps) && steps[i+1].at == one.at {
			continue
		}
		x, n = append(x, at(one.at)), append(n, max(0, count))
	}
	return x, n
}

// exportedRamp returns how long the concurrency of a run grew, in s, from its settings; 0 = it did not grow.
func exportedRamp(run *runfiles.Run) float64 {
	s, err := run.Summary()
	if err != nil {
		return 0 // a run with only records is drawn too
	}
	var how struct {
		Duration float64 `json:"duration"`
	}
	if json.Unmarshal([]byte(s.Phase("concurrency_ramp")), &how) != nil {
		return 0
	}
	return how.Duration
}

// Image returns both panels as one image, PNG or SVG.
func (s *SwimLane) Image(svg bool) ([]byte, error) {
	return render.Stack([]*chart.Chart{s.Lanes, s.Curve}, laneShares, chart.Themes["light"], laneSize, svg)
}

// laneShell shows the image at the size of the window, or at any width.
const laneShell = `<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'">
<title>{{Title}}</title>
<style>body{margin:0;font:15px/1.5 system-ui,sans-serif;color:#0a0a0a;background:#fff}h1{display:inline;font-size:16px}header{padding:8px 16px}label{margin-left:16px}
main{overflow-x:auto}svg{display:block;width:100%;height:auto}</style></head>
<body><header><h1>{{Title}}</h1><label>Zoom <input id="zoom" type="range" min="100" max="2000" step="50" value="100"></label> <output id="percent">100 %</output></header>
<main tabindex="0" aria-label="Sessions over time; scroll sideways when zoomed">{{SVG}}</main>
<script>
const zoom = document.getElementById("zoom"), picture = document.querySelector("svg");
picture.setAttribute("viewBox", "0 0 {{Width}} {{Height}}"); picture.setAttribute("role", "img"); picture.setAttribute("aria-label", document.title);
zoom.oninput = () => { picture.style.width = zoom.value + "%"; document.getElementById("percent").textContent = zoom.value + " %"; };
</script></body></html>
`

// Page returns the image as an HTML page.
func (s *SwimLane) Page() ([]byte, error) {
	svg, err := s.Image(true)
	if err != nil {
		return nil, err
	}
	_, body, _ := strings.Cut(string(svg), "<svg")
	return []byte(htmlgen.Fill(laneShell, map[string]htmlgen.Node{
		"Title": htmlgen.Text(s.Lanes.Title), "SVG": htmlgen.Node("<svg" + body), // drawn by this program; texts in it are escaped
		"Width": htmlgen.Node(fmt.Sprint(laneSize.Width)), "Height": htmlgen.Node(fmt.Sprint(laneSize.Height)),
	})), nil
}
