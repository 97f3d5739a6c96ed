// Package genaiperf reads configuration files of GenAI-Perf 0.0.16 and translates them to flags of profile (spec: genai-perf, sections 3, 12 and 16).
// Empty and default values are ignored. Unknown keys, wrong types and values out of range are refused with their line.
package genaiperf

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/suggest"
)

// kind is the type of a value.
type kind int

const (
	words   kind = iota // one text
	list                // a list, or a text with commas
	integer             // an integer
	number              // a number
	boolean             // true or false
	table               // a mapping with the user's own keys
	custom              // handled by separate code
)

// key is one key of a file.
type key struct {
	kind     kind
	low      float64 // smallest number
	high     float64 // largest number; 0 = no limit
	choices  []string
	standard string // value that counts as not set
	flag     string // flag of profile; empty: handled by separate code, or no equivalent
}

// keys maps the paths of a file to their definitions.
var keys = map[string]key{
	"model_name": {kind: list, flag: "--model"}, "model_names": {kind: list, flag: "--model"},

	"endpoint.model_selection_strategy": {choices: []string{"round_robin", "random"}, standard: "round_robin", flag: "--model-selection-strategy"},
	"endpoint.backend":                  {choices: []string{"tensorrtllm", "vllm"}, standard: "tensorrtllm"},
	"endpoint.custom":                   {flag: "--endpoint"},
	"endpoint.type":                     {},
	"endpoint.streaming":                {kind: boolean, flag: "--streaming"},
	"endpoint.server_metrics_urls":      {kind: list, standard: "http://localhost:9400/metrics", flag: "--gpu-telemetry"},
	"endpoint.server_metrics_url":       {kind: list, standard: "http://localhost:9400/metrics", flag: "--gpu-telemetry"},
	"endpoint.url":                      {flag: "--url"},
	"endpoint.grpc_method":              {flag: "--grpc-method"},

	"perf_analyzer.path":                 {standard: "perf_analyzer"},
	"perf_analyzer.verbose":              {kind: boolean},
	"perf_analyzer.stimulus":             {kind: custom},
	"perf_analyzer.stability_percentage": {kind: number, low: 1, high: 999, standard: "999"},
	"perf_analyzer.warmup_request_count": {kind: integer, standard: "0", flag: "--warmup-request-count"},
	"perf_analyzer.measurement.mode":     {choices: []string{"request_count", "interval"}},
	"perf_analyzer.measurement.num":      {kind: integer, low: 1},

	"input.batch_size":          {kind: integer, low: 1, standard: "1", flag: "--batch-size-text"},
	"input.extra":               {kind: table},
	"input.goodput":             {kind: table},
	"input.header":              {kind: list, flag: "--header"},
	"input.file":                {},
	"input.num_dataset_entries": {kind: integer, low: 1, flag: "--num-dataset-entries"},
	"input.random_seed":         {kind: integer, flag: "--random-seed"},

	"input.audio.batch_size":    {kind: integer, low: 1, flag: "--audio-batch-size"},
	"input.audio.length.mean":   {kind: number, standard: "0", flag: "--audio-length-mean"},
	"input.audio.length.stddev": {kind: number, standard: "0", flag: "--audio-length-stddev"},
	"input.audio.format":        {choices: []string{"wav", "mp3"}, flag: "--audio-format"},
	"input.audio.depths":        {kind: list, flag: "--audio-depths"},
	"input.audio.sample_rates":  {kind: list, flag: "--audio-sample-rates"},
	"input.audio.num_channels":  {kind: integer, low: 1, high: 2, flag: "--audio-num-channels"},
	"input.image.batch_size":    {kind: integer, low: 1, flag: "--image-batch-size"},
	"input.image.width.mean":    {kind: number, standard: "0", flag: "--image-width-mean"},
	"input.image.width.stddev":  {kind: number, standard: "0", flag: "--image-width-stddev"},
	"input.image.height.mean":   {kind: number, standard: "0", flag: "--image-height-mean"},
	"input.image.height.stddev": {kind: number, standard: "0", flag: "--image-height-stddev"},
	"input.image.format":        {choices: []string{"png", "jpeg"}, flag: "--image-format"},

	"input.output_tokens.mean":          {kind: integer, flag: "--osl"},
	"input.output_tokens.stddev":        {kind: number, standard: "0", flag: "--osl-stddev"},
	"input.output_tokens.deterministic": {kind: boolean, flag: "--output-tokens-mean-deterministic"},
	"input.synthetic_tokens.mean":       {kind: integer, flag: "--isl"},
	"input.synthetic_tokens.stddev":     {kind: number, standard: "0", flag: "--isl-stddev"},
	"input.prefix_prompt.num":           {kind: integer, standard: "0", flag: "--num-prefix-prompts"},
	"input.prefix_prompt.length":        {kind: integer, flag: "--prefix-prompt-length"},
	"input.sessions.num":                {kind: integer, standard: "0", flag: "--num-sessions"},
	"input.sessions.turns.mean":         {kind: number, standard: "1", flag: "--session-turns-mean"},
	"input.sessions.turns.stddev":       {kind: number, standard: "0", flag: "--session-turns-stddev"},
	"input.sessions.turn_delay.mean":    {kind: number, standard: "0", flag: "--session-turn-delay-mean"},
	"input.sessions.turn_delay.stddev":  {kind: number, standard: "0", flag: "--session-turn-delay-stddev"},
	"input.sessions.turn_delay.ratio":   {kind: number, standard: "1", flag: "--session-delay-ratio"},

	"output.artifact_directory":   {standard: "artifacts", flag: "--artifact-dir"},
	"output.checkpoint_directory": {standard: "checkpoint"},
	"output.profile_export_file":  {standard: "profile_export.json"},
	"output.generate_plots":       {kind: boolean},
	"output.enable_checkpointing": {kind: boolean},

	"tokenizer.name":              {flag: "--tokenizer"},
	"tokenizer.revision":          {standard: "main", flag: "--tokenizer-revision"},
	"tokenizer.trust_remote_code": {kind: boolean, flag: "--tokenizer-trust-remote-code"},

	"process.input_path": {},
}

func init() {
	for name := range sweeps {
		for _, part := range []string{"start", "stop", "step"} {
			keys["analyze."+name+"."+part] = key{kind: integer}
		}
	}
}

// order returns the paths in the order of the flags; a map has no order.
func order() []string {
	all := make([]string, 0, len(keys))
	for path := range keys {
		all = append(all, path)
	}
	slices.Sort(all)
	return all
}

// value is a given value of a file.
type value struct {
	line  int
	texts []string   // one text, or the elements of a list
	node  *yaml.Node // for a table, or a value handled by separate code
}

// reader collects the values of a file.
type reader struct {
	values map[string]value
	wrong  []string
}

func (r *reader) fault(line int, format string, a ...any) {
	r.wrong = append(r.wrong, fmt.Sprintf("line %d: ", line)+fmt.Sprintf(format, a...))
}

// section reads a mapping below a path.
func (r *reader) section(n *yaml.Node, path string) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || n.Value == "") {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n.Line, "%s must be a mapping", path)
		return
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		name, v := n.Content[i], n.Content[i+1]
		at := strings.TrimPrefix(path+"."+name.Value, ".")
		k, known := keys[at]
		switch {
		case known:
			r.value(v, at, &k)
		case isSection(at):
			r.section(v, at)
		default:
			r.unknown(name, path)
		}
	}
}

// isSection reports whether there are keys below a path.
func isSection(path string) bool {
	for k := range keys {
		if strings.HasPrefix(k, path+".") {
			return true
		}
	}
	return false
}

// unknown refuses a key and names the most similar one.
func (r *reader) unknown(name *yaml.Node, path string) {
	var there []string
	for k := range keys {
		if rest, ok := strings.CutPrefix(k, strings.TrimPrefix(path+".", ".")); ok {
			first, _, _ := strings.Cut(rest, ".")
			if !slices.Contains(there, first) {
				there = append(there, first)
			}
		}
	}
	slices.Sort(there)
	hint, where := "", path
	if near := suggest.Name(name.Value, there); near != "" {
		hint = " (did you mean " + near + "?)"
	}
	if where == "" {
		where = "the file"
	}
	r.fault(name.Line, "%s is not a key of %s%s; known are %s", name.Value, where, hint, strings.Join(there, ", "))
}

// value reads one value; null and the empty text count as not set.
func (r *reader) value(n *yaml.Node, path string, k *key) {
	if n.Kind == yaml.ScalarNode && (n.ShortTag() == "!!null" || strings.TrimSpace(n.Value) == "") {
		return
	}
	v := value{line: n.Line, node: n}
	switch {
	case k.kind == custom:
	case k.kind == table && n.Kind == yaml.MappingNode:
	case k.kind == list && n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			v.texts = append(v.texts, c.Value)
		}
	case n.Kind != yaml.ScalarNode || k.kind == table:
		r.fault(n.Line, "%s: a %s is expected", path, map[kind]string{words: "text", list: "list", integer: "whole number", number: "number", boolean: "true or false", table: "mapping"}[k.kind])
		return
	case k.kind == list:
		for part := range strings.SplitSeq(n.Value, ",") {
			v.texts = append(v.texts, strings.TrimSpace(part))
		}
	default:
		v.texts = []string{n.Value}
		if !r.fits(n, path, k, &v) {
			return
		}
	}
	if len(v.texts) == 1 && (v.texts[0] == k.standard || strings.TrimPrefix(v.texts[0], "./") == k.standard) && k.standard != "" {
		return
	}
	r.values[path] = v
}

// fits checks a single value and converts it to the spelling of flags.
func (r *reader) fits(n *yaml.Node, path string, k *key, v *value) bool {
	switch k.kind {
	case boolean:
		on, err := strconv.ParseBool(strings.ToLower(n.Value))
		if err != nil {
			r.fault(n.Line, "%s: %q is not true or false", path, n.Value)
			return false
		}
		v.texts[0] = strconv.FormatBool(on)
	case integer, number:
		f, err := strconv.ParseFloat(n.Value, 64)
		if err != nil || k.kind == integer && f != float64(int64(f)) {
			r.fault(n.Line, "%s: %q is not a %s", path, n.Value, map[kind]string{integer: "whole number", number: "number"}[k.kind])
			return false
		}
		if f < k.low || k.high > 0 && f > k.high {
			limit := fmt.Sprintf("%g or more", k.low)
			if k.high > 0 {
				limit = fmt.Sprintf("%g to %g", k.low, k.high)
			}
			r.fault(n.Line, "%s: %s is not %s", path, n.Value, limit)
			return false
		}
		v.texts[0] = strconv.FormatFloat(f, 'f', -1, 64)
	case words:
		if k.choices != nil && !slices.Contains(k.choices, n.Value) {
			r.fault(n.Line, "%s: %q is not one of %s", path, n.Value, strings.Join(k.choices, ", "))
			return false
		}
	}
	return true
}
