package explanation

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"aiperf/internal/base/terminal"
)

// fewestForModel is the smallest number of requests of a model.
const fewestForModel = 100

// ServerModel is a small linear model of the server, fitted to the requests of the run.
type ServerModel struct{ TTFT, ITL Fit }

// Fit is one part of the model.
type Fit struct {
	Name, Unit string
	Terms      []Term // the first is the constant
	Requests   int
	Explained  float64 // share of the spread of the measured values that the model explains
	Reason     string  // why there is no model; "" = there is one
	Omitted    []string

	X                []float64 // main quantity, by request, for drawing
	XName            string
	Measured, Fitted []float64
}

// Term is a summand of the model: Value for each Per of Name.
type Term struct {
	Name, Unit       string // what it is proportional to; Unit is that of Value
	Value, Low, High float64
	Range            [2]float64 // measured range of the quantity
}

// regressor is a candidate for a term.
type regressor struct {
	name, unit string
	per        float64 // number of them that the value is for
	values     []float64
}

// serverModel fits both parts.
func (c *collector) serverModel() *ServerModel {
	return &ServerModel{TTFT: c.modelOfTTFT(), ITL: c.modelOfITL()}
}

// modelOfTTFT fits the time to first token to the prompt's length and the requests ahead.
func (c *collector) modelOfTTFT() Fit {
	fit := Fit{Name: "Time to first token", Unit: "ms", XName: "input tokens"}
	y, ok := c.q.Column("time_to_first_token")
	fresh := c.fresh()
	if !ok || fresh == nil {
		fit.Reason = "the run has no times to first token with input lengths"
		return fit
	}
	if has(c.q, "usage_prompt_cache_read_tokens") {
		fit.XName = "input tokens not in the cache"
	}
	before := c.flights(func(int) bool { return true }).prefill()
	var own, ahead, v []float64
	for _, i := range c.index {
		if math.IsNaN(y[i]) || math.IsNaN(fresh[i]) {
			continue
		}
		v, own, ahead = append(v, y[i]), append(own, fresh[i]), append(ahead, math.Round(before.value(c.q.Start[i])))
	}
	fit.solve(v, regressor{fit.XName, "ms per 1,000 tokens", 1000, own}, regressor{"requests ahead, before their first token", "ms per request", 1, ahead})
	return fit
}

// modelOfITL fits the inter-token latency to the answers that arrived at the same time, itself included, and to the prompts that were read meanwhile.
func (c *collector) modelOfITL() Fit {
	fit := Fit{Name: "Inter-token latency", Unit: "ms", XName: "answers in flight"}
	y, ok := c.q.Column("inter_token_latency")
	osl, counted := c.q.Column("output_sequence_length")
	if !ok || !counted || !has(c.q, "time_to_first_token") {
		fit.Reason = "the run has no inter-token latencies"
		return fit
	}
	all := c.flights(func(int) bool { return true })
	worked, flights, waiting := all.worked(), newIntegral(all.requests()), newIntegral(all.prefill()) // an answer arrives after the prefill
	var flying, read, v []float64
	for _, i := range c.index {
		from, to := c.first[i], c.q.End[i]
		if math.IsNaN(y[i]) || from == 0 || to <= from || !(osl[i] >= 2) {
			continue
		}
		v = append(v, y[i])
		flying = append(flying, (flights.to(to)-flights.to(from)-waiting.to(to)+waiting.to(from))/float64(to-from))
		read = append(read, max(0, math.Round(worked.value(to)-worked.value(from)))/(osl[i]-1))
	}
	fit.solve(v, regressor{"answers in flight after their first token", "ms per answer", 1, flying}, regressor{"input tokens of others, read per output token", "ms per 1,000 tokens", 1000, read})
	return fit
}

// solve fits the model. Quantities that hardly vary are excluded.
func (f *Fit) solve(y []float64, list ...regressor) {
	if f.Requests = len(y); f.Requests < fewestForModel {
		f.Reason = fmt.Sprintf("a model needs %d requests, the run has %d", fewestForModel, f.Requests)
		return
	}
	ones := make([]float64, len(y))
	for i := range ones {
		ones[i] = 1
	}
	x, used := [][]float64{ones}, []regressor{{name: "constant", unit: "ms", per: 1, values: ones}}
	for _, r := range list {
		sorted := slices.Sorted(slices.Values(r.values))
		if low, high := percentile(sorted, 5), percentile(sorted, 95); !(high-low > 0.05*math.Abs(high)) {
			f.Omitted = append(f.Omitted, r.name+" hardly varied ("+terminal.Figure(low)+" to "+terminal.Figure(high)+")")
			continue
		}
		x, used = append(x, r.values), append(used, r)
	}
	if len(x) == 1 {
		f.Reason = "nothing that it depends on varied: " + join(f.Omitted)
		return
	}
	r, ok := regress(x, y)
	if !ok {
		f.Reason = "the quantities that it depends on varied only together"
		return
	}
	for j, u := range used {
		f.Terms = append(f.Terms, Term{Name: u.name, Unit: u.unit, Value: r.coefficients[j] * u.per, Low: r.low[j] * u.per, High: r.high[j] * u.per, Range: [2]float64{slices.Min(u.values), slices.Max(u.values)}})
	}
	f.Explained, f.X, f.XName, f.Measured, f.Fitted = r.explained, used[1].values, used[1].name, y, r.fitted
}

func join(list []string) string {
	out := ""
	for i, s := range list {
		if i > 0 {
			out += "; "
		}
		out += s
	}
	return out
}

// integral is the integral of a curve of steps over time.
type integral struct {
	of  *curve
	sum []float64
}

func newIntegral(c *curve) *integral {
	s := &integral{of: c, sum: make([]float64, len(c.points))}
	for i := 1; i < len(c.points); i++ {
		before := &c.points[i-1]
		s.sum[i] = s.sum[i-1] + before.step*float64(c.points[i].at-before.at)
	}
	return s
}

// to returns the integral up to an instant, in units of the curve times ns.
func (s *integral) to(at int64) float64 {
	k, found := slices.BinarySearchFunc(s.of.points, at, func(p curvePoint, at int64) int { return cmp.Compare(p.at, at) })
	if !found {
		k--
	}
	if k < 0 {
		return 0
	}
	p := &s.of.points[k]
	return s.sum[k] + p.step*float64(at-p.at)
}

// Speed returns the prefill speed in tokens/s with its interval; false if the time to first token does not grow with the prompt for certain.
func (f *Fit) Speed() (value, low, high float64, ok bool) {
	for _, t := range f.Terms[min(1, len(f.Terms)):] {
		if t.Unit == "ms per 1,000 tokens" && t.Low > 0 {
			return 1e6 / t.Value, 1e6 / t.High, 1e6 / t.Low, true
		}
	}
	return 0, 0, 0, false
}

// Sentences describes the model; none if it was not asked for.
func (m *ServerModel) Sentences() (list []string) {
	if m == nil {
		return nil
	}
	for _, f := range []*Fit{&m.TTFT, &m.ITL} {
		list = append(list, f.sentences()...)
	}
	return append(list, "", "The model describes this run within these ranges. It says nothing outside of them.")
}

func (f *Fit) sentences() []string {
	if f.Reason != "" {
		return []string{"", "No model of " + f.Name + ": " + f.Reason + "."}
	}
	list := []string{"", fmt.Sprintf("Model of %s, from %s. It explains %s of their spread.", f.Name, terminal.Plural(f.Requests, "request"), percent(f.Explained))}
	for j, t := range f.Terms {
		text := fmt.Sprintf("  %s: %s %s (95 %% interval %s to %s)", t.Name, terminal.Figure(t.Value), t.Unit, terminal.Figure(t.Low), terminal.Figure(t.High))
		if j > 0 {
			text += fmt.Sprintf(", measured from %s to %s", terminal.Figure(t.Range[0]), terminal.Figure(t.Range[1]))
		}
		list = append(list, text)
	}
	if v, low, high, ok := f.Speed(); ok && f.Name == "Time to first token" {
		list = append(list, fmt.Sprintf("  that is %s prefilled tokens/s (%s to %s)", terminal.Figure(v), terminal.Figure(low), terminal.Figure(high)))
	}
	for _, o := range f.Omitted {
		list = append(list, "  excluded: "+o)
	}
	return list
}

func (m *ServerModel) json() map[string]any {
	return map[string]any{"time_to_first_token": m.TTFT.json(), "inter_token_latency": m.ITL.json()}
}

func (f *Fit) json() map[string]any {
	if f.Reason != "" {
		return map[string]any{"reason": f.Reason}
	}
	var terms []map[string]any
	for _, t := range f.Terms {
		terms = append(terms, map[string]any{"name": t.Name, "unit": t.Unit, "value": t.Value, "low": t.Low, "high": t.High, "measured_from": t.Range[0], "measured_to": t.Range[1]})
	}
	out := map[string]any{"requests": f.Requests, "explained": f.Explained, "terms": terms}
	if len(f.Omitted) > 0 {
		out["excluded"] = f.Omitted
	}
	if v, low, high, ok := f.Speed(); ok && f.Name == "Time to first token" {
		out["prefill_tokens_per_second"] = map[string]any{"value": v, "low": low, "high": high}
	}
	return out
}
