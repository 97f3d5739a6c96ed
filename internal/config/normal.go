package config

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// freeForm are the mappings whose keys the user chooses.
var freeForm = map[string]bool{
	"headers": true, "extra": true, "slos": true, "filters": true, "tags": true, "parameters": true, "custom_resource_attributes": true,
	"variables": true, "records": true, "params": true,
}

// normalise expands the short forms of the file layout (spec: config, sections 2 to 4) to the layout of a Run, and fills in the defaults of list
// entries. It leaves unknown keys for the check of keys. flat means that the body was at the top level.
func normalise(root *yaml.Node) (flat bool, err error) {
	if genaiPerf(root) {
		return false, fmt.Errorf("line %d: a file of GenAI-Perf: not built yet", root.Line)
	}
	flat = wrapFlat(root)
	plainWords(root, "")
	if v := step(root, "schemaVersion"); v != nil && v.ShortTag() == "!!float" {
		v.Tag = "!!str"
	}
	if m := step(root, "multi_run"); m != nil && step(m, "convergence") != nil {
		def := &yaml.Node{}
		if err := def.Encode(DefaultConvergence()); err == nil && step(m, "convergence").Kind == yaml.MappingNode { // encoding plain data cannot fail
			removeKey(def, "metric")
			fill(step(m, "convergence"), def)
		}
	}
	body := step(root, "benchmark")
	if body == nil || body.Kind != yaml.MappingNode {
		return flat, nil
	}
	normalTelemetry(body)
	rename(body, "model", "models")
	normalModels(step(body, "models"))
	if e := step(body, "endpoint"); e != nil && e.Kind == yaml.MappingNode {
		normalEndpoint(e)
	}
	datasets := datasetList(body)
	phases := phaseList(body)
	var wrong []string
	for _, p := range phases {
		wrong = append(wrong, spreadAdaptive(p)...)
		wrong = append(wrong, splitSeries(p)...)
		normalPhase(p)
	}
	if len(wrong) > 0 {
		return flat, errors.New(strings.Join(wrong, "\n"))
	}
	if s := step(root, "sweep"); s != nil {
		normalSweep(s, datasets, phases)
		if wrong := strayKeys(s); len(wrong) > 0 {
			return flat, errors.New(strings.Join(wrong, "\n"))
		}
	}
	return flat, sweepLists(root)
}

// shortAxes lists the keys that a sweep may use without the path of the profiling phase.
func shortAxes() []string {
	return append(phaseAxes(), "grace_period", "concurrency_ramp", "prefill_ramp", "rate_ramp")
}

// snake converts camelCase keys to snake_case, except in free-form mappings and for schemaVersion.
func snake(n *yaml.Node) {
	for i, c := range n.Content {
		if n.Kind != yaml.MappingNode {
			snake(c)
			continue
		}
		if i%2 == 0 {
			c.Value = snakeKey(c.Value)
		} else if !freeForm[n.Content[i-1].Value] {
			snake(c)
		}
	}
}

func snakeKey(key string) string {
	if key == "schemaVersion" || key == "schema_version" {
		return "schemaVersion"
	}
	var b strings.Builder
	for _, c := range key {
		if c >= 'A' && c <= 'Z' {
			b.WriteByte('_')
			c += 'a' - 'A'
		}
		b.WriteRune(c)
	}
	return b.String()
}

// rename renames a key, unless the new name exists too. It reports whether it did.
func rename(n *yaml.Node, from, to string) bool {
	if step(n, to) != nil {
		return false
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == from {
			n.Content[i].Value = to
			return true
		}
	}
	return false
}

// listed converts a single value to a list and returns the entries.
func listed(n *yaml.Node) []*yaml.Node {
	if n == nil {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		one := *n
		*n = yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: n.Line, Content: []*yaml.Node{&one}}
	}
	return n.Content
}

// nameScalars converts every scalar x to {name: x}.
func nameScalars(n *yaml.Node) *yaml.Node {
	one := *n
	for _, c := range listed(&one) {
		if c.Kind == yaml.ScalarNode {
			name := *c
			*c = *pairs("name", &name)
		}
	}
	return &one
}

func pairs(key string, value *yaml.Node) *yaml.Node {
	n := mapping()
	n.Line = value.Line
	add(n, key, value)
	return n
}

// ensure adds a key if it is missing.
func ensure(n *yaml.Node, key string, value *yaml.Node) {
	if step(n, key) == nil {
		add(n, key, value)
	}
}

// drawn are the keys of a data set whose values may be distributions.
var drawn = []string{"isl", "osl", "width", "height", "length"}

// fill adds the missing keys of a default, recursively. It does not change a distribution.
func fill(n, def *yaml.Node) {
	for i := 0; i+1 < len(def.Content); i += 2 {
		key := def.Content[i].Value
		have := step(n, key)
		switch {
		case have == nil:
			add(n, key, def.Content[i+1])
		case have.Kind == yaml.MappingNode && def.Content[i+1].Kind == yaml.MappingNode && !slices.Contains(drawn, key):
			fill(have, def.Content[i+1])
		}
	}
}

// switched are the sections of an endpoint that a file may switch on with true.
var switched = []string{"reset_kv_cache", "server_profiler"}

func normalEndpoint(e *yaml.Node) {
	rename(e, "url", "urls")
	listed(step(e, "urls"))
	for _, key := range switched {
		v := step(e, key)
		switch {
		case v == nil || v.Kind != yaml.ScalarNode || v.ShortTag() != "!!bool":
		case v.Value == "false":
			removeKey(e, key)
		default:
			*v = *mapping()
		}
	}
}

// normalModels makes a list of named models, and gives each tokenizer its key.
func normalModels(m *yaml.Node) {
	if m == nil {
		return
	}
	if m.Kind != yaml.MappingNode {
		*m = *pairs("items", nameScalars(m))
	}
	for _, model := range entries(step(m, "items")) {
		if t := step(model, "tokenizer"); t != nil && t.Kind == yaml.ScalarNode && t.ShortTag() != "!!null" {
			name := *t
			*t = *pairs("name", &name)
		}
	}
}

// datasetList returns the datasets of a body, written as a list or as the key dataset, in their long form.
func datasetList(body *yaml.Node) []*yaml.Node {
	for _, d := range entries(step(body, "datasets")) {
		if d.Kind == yaml.MappingNode {
			ensure(d, "name", text("")) // a dataset in a list must be named, like a phase; the check of values says so
		}
	}
	if rename(body, "dataset", "datasets") {
		if d := step(body, "datasets"); d.Kind == yaml.MappingNode {
			ensure(d, "name", text("default"))
		}
	}
	datasets := listed(step(body, "datasets"))
	for _, d := range datasets {
		normalDataset(d)
	}
	return datasets
}

func normalDataset(d *yaml.Node) {
	if d.Kind != yaml.MappingNode {
		return
	}
	def := &yaml.Node{}
	standard := DefaultDataset()
	if step(d, "synthesis") != nil {
		s := DefaultSynthesis()
		standard.Synthesis = &s
	}
	normalMedia(d, &standard)
	if prompts := step(d, "prompts"); prompts != nil {
		for _, pair := range entries(step(prompts, "sequence_distribution")) {
			pairSpread(pair)
		}
	}
	if t := step(d, "type"); t != nil && t.Value != string(DatasetSynthetic) {
		standard.Entries = 0
		if standard.Prompts.ISL = nil; step(d, "prompts") == nil {
			standard.Prompts = nil
		}
	} else {
		shortLengths(d)
	}
	if err := def.Encode(standard); err == nil { // encoding plain data cannot fail
		fill(d, def)
	}
}

// normalMedia fills in the defaults of the media kinds in a file, which differ from those of flags: images are JPEGs of 512 × 512 pixels, sounds last
// 10 s and clips 1 s. If the file sets a size or length but no number, one item is sent.
func normalMedia(d *yaml.Node, standard *Dataset) {
	one := func(kind string, shape ...string) *yaml.Node {
		n := step(d, kind)
		if n == nil || n.Kind != yaml.MappingNode {
			return nil
		}
		if slices.ContainsFunc(shape, func(key string) bool { return step(n, key) != nil }) {
			ensure(n, "batch_size", number(1))
		}
		return n
	}
	if one("images", "width", "height") != nil {
		standard.Images = DefaultImages()
		standard.Images.Format = "jpeg"
		standard.Images.Width, standard.Images.Height = Fixed(DefaultSide), Fixed(DefaultSide)
	}
	if n := one("audio", "length"); n != nil {
		standard.Audio = DefaultAudio()
		standard.Audio.Length = Fixed(10)
		for _, key := range []string{"depths", "sample_rates"} {
			listed(step(n, key))
		}
	}
	if n := one("video", "width", "height"); n != nil {
		standard.Video = DefaultVideo()
		standard.Video.Duration = 1
		if step(n, "audio") != nil {
			standard.Video.Audio = DefaultVideoAudio()
		}
	}
}

// shortLengths moves the lengths directly in a data set to its prompts.
func shortLengths(d *yaml.Node) {
	for _, key := range []string{"isl", "osl"} {
		if v := removeKey(d, key); v != nil {
			ensure(d, "prompts", mapping())
			ensure(step(d, "prompts"), key, v)
		}
	}
}

// pairSpread moves isl_stddev and osl_stddev (tokens) of a weighted pair into its lengths. They are for lengths written as a number. Next to a
// distribution they stay, and the check of keys refuses them.
func pairSpread(pair *yaml.Node) {
	for _, key := range []string{"isl", "osl"} {
		length, spread := step(pair, key), step(pair, key+"_stddev")
		switch {
		case spread == nil:
		case spread.ShortTag() == "!!null":
			removeKey(pair, key+"_stddev")
		case length != nil && length.Kind == yaml.ScalarNode && length.ShortTag() != "!!null":
			mean := *length
			*length = *pairs("mean", &mean)
			add(length, "stddev", removeKey(pair, key+"_stddev"))
		}
	}
}

// removeKey removes a key and returns its value.
func removeKey(n *yaml.Node, key string) *yaml.Node {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			v := n.Content[i+1]
			n.Content = append(n.Content[:i:i], n.Content[i+2:]...)
			return v
		}
	}
	return nil
}

// phaseList returns the phases of a body, written as a list, a single mapping, or the keys warmup and profiling.
func phaseList(body *yaml.Node) []*yaml.Node {
	if step(body, "phases") == nil {
		list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for _, name := range []string{"warmup", "profiling"} {
			if p := removeKey(body, name); p != nil {
				ensure(p, "name", text(name))
				list.Content = append(list.Content, p)
			}
		}
		if len(list.Content) > 0 {
			add(body, "phases", list)
		}
		return list.Content
	}
	p := step(body, "phases")
	if p.Kind == yaml.MappingNode {
		ensure(p, "name", text("profiling"))
	}
	return listed(p)
}

// normalPhase infers the kind from the name and fills in the values that depend on other keys of the phase.
func normalPhase(p *yaml.Node) {
	if p.Kind != yaml.MappingNode {
		return
	}
	dropNulls(p)
	is := func(key, value string) bool { v := step(p, key); return v != nil && v.Value == value }
	if is("name", "warmup") || is("name", "profiling") {
		ensure(p, "kind", text(step(p, "name").Value))
	}
	ensure(p, "exclude_from_results", boolean(is("kind", string(KindWarmup))))
	longRamps(p)
	switch {
	case is("type", string(PhaseConcurrency)):
		if step(p, "prefill_concurrency") == nil {
			ensure(p, "concurrency", &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!int", Value: "1"})
		}
	case is("type", string(PhaseGamma)):
		ensure(p, "smoothness", number(1))
	case is("type", string(PhaseFixedSchedule)):
		ensure(p, "auto_offset", boolean(step(p, "start_offset") == nil))
	}
	if step(p, "duration") != nil && is("kind", string(KindProfiling)) {
		ensure(p, "grace_period", number(30))
	}
}

// dropNulls removes the keys with null values from a mapping.
func dropNulls(n *yaml.Node) {
	for i := 0; i+1 < len(n.Content); {
		if v := n.Content[i+1]; v.Kind == yaml.ScalarNode && v.ShortTag() == "!!null" {
			n.Content = slices.Delete(n.Content, i, i+2)
			continue
		}
		i += 2
	}
}

// longRamps converts durations, where ramps are expected, to ramps.
func longRamps(p *yaml.Node) {
	for _, key := range []string{"concurrency_ramp", "prefill_ramp", "rate_ramp"} {
		if v := step(p, key); v != nil && v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" {
			seconds := *v
			*v = *pairs("duration", &seconds)
		}
	}
}

// splitSeries moves the file and the points of a rate series with its own keys to the phase.
func splitSeries(p *yaml.Node) (wrong []string) {
	series := step(p, "rate_series")
	if series == nil || series.Kind != yaml.MappingNode {
		return nil
	}
	removeKey(p, "rate_series")
	if points := removeKey(series, "points"); points != nil {
		ensure(p, "rate_points", points)
	}
	if path := removeKey(series, "path"); path != nil && path.ShortTag() != "!!null" {
		add(p, "rate_series", path)
	}
	for i := 0; i < len(series.Content); i += 2 {
		key := series.Content[i]
		wrong = append(wrong, unknownKey(key, "rate_series."+key.Value, map[string]reflect.Type{"path": nil, "points": nil}))
	}
	return wrong
}

func boolean(b bool) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!bool", Value: strconv.FormatBool(b)}
}
