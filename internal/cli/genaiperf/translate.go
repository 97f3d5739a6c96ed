package genaiperf

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/boundedfile"
)

// Axis is a swept setting: its key and its values.
type Axis struct {
	Key    string
	Values []int
}

// File is a configuration file, translated to flags of profile.
type File struct {
	Flags [][2]string // flag and value, in a fixed order
	Axes  []Axis      // of its analyze section
	Notes []string    // what was dropped or has another meaning here
	Needs bool        // a model must be given, in the file or by a flag
}

// ServiceKinds lists the values of --service-kind that select a default endpoint type.
var ServiceKinds = []string{"openai", "triton"}

// Defaults returns the flags that GenAI-Perf adds to a command line for a kind of service; "" is its default, triton.
func Defaults(serviceKind string) [][2]string {
	if serviceKind == "openai" {
		return [][2]string{{"--endpoint-type", "chat"}}
	}
	return [][2]string{{"--endpoint-type", "kserve"}}
}

// largest is the size of the largest file that is read, in bytes.
const largest = 1 << 20

// sweeps maps the settings that can be swept to their key here and their range in GenAI-Perf.
var sweeps = map[string]struct {
	key, flag   string
	first, last int
}{
	"concurrency":           {"phases.profiling.concurrency", "--concurrency", 1, 1024},
	"request_rate":          {"phases.profiling.rate", "--request-rate", 16, 8192},
	"runtime_batch_size":    {"datasets.main.prompts.batch_size", "--batch-size-text", 1, 128},
	"input_sequence_length": {"datasets.main.prompts.isl.mean", "--isl", 100, 1000},
	"num_dataset_entries":   {"datasets.main.entries", "--num-dataset-entries", 100, 1000},
}

// topKeys lists the top-level keys by which a GenAI-Perf file is recognised.
var topKeys = []string{"model_name", "model_names", "perf_analyzer", "analyze", "input", "output", "process"}

// Is reports whether a file is in the format of GenAI-Perf; an unreadable file is not.
func Is(path string) bool {
	text, err := boundedfile.ReadAll(path, largest)
	if err != nil {
		return false
	}
	var doc map[string]yaml.Node
	if yaml.Unmarshal(text, &doc) != nil || doc["benchmark"].Kind != 0 {
		return false
	}
	for k := range doc {
		if slices.Contains(topKeys, k) {
			return true
		}
	}
	return false
}

// Read reads a file. The error has one line per fault.
func Read(path string) (*File, error) {
	text, err := boundedfile.ReadAll(path, largest)
	if err != nil {
		return nil, err
	}
	var doc yaml.Node
	if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&doc); errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty", path)
	} else if err != nil {
		return nil, fmt.Errorf("%s: %s", path, strings.TrimPrefix(err.Error(), "yaml: "))
	}
	r := &reader{values: map[string]value{}}
	r.section(doc.Content[0], "")
	f := r.translate()
	if len(r.wrong) > 0 {
		return nil, fmt.Errorf("%s: %s", path, strings.Join(r.wrong, "\n"+path+": "))
	}
	return f, nil
}

func (r *reader) has(path string) bool { _, ok := r.values[path]; return ok }

// text returns a single value, or def if it is not set.
func (r *reader) text(path, def string) string {
	if v, ok := r.values[path]; ok && len(v.texts) > 0 {
		return v.texts[0]
	}
	return def
}

// translate converts the values to flags.
func (r *reader) translate() *File {
	f := &File{Needs: true}
	say := func(flag, value string) { f.Flags = append(f.Flags, [2]string{flag, value}) }
	note := func(format string, a ...any) { f.Notes = append(f.Notes, fmt.Sprintf(format, a...)) }
	if r.has("process.input_path") {
		r.fault(r.values["process.input_path"].line, "process: this file is for process-export-files: aiperf process-export-files -d %s", r.text("process.input_path", ""))
		return f
	}
	r.unused()
	for _, path := range order() {
		v, ok := r.values[path]
		if flag := keys[path].flag; ok && flag != "" && !strings.HasPrefix(path, "analyze.") {
			if flag == "--model" || keys[path].kind != list {
				say(flag, strings.Join(v.texts, ","))
				continue
			}
			for _, one := range v.texts {
				say(flag, one)
			}
		}
	}
	r.endpoint(say)
	r.load(say)
	r.input(say, note)
	r.output(say, note)
	r.analyze(f, say)
	return f
}

// unused drops values that have no effect without another key.
func (r *reader) unused() {
	drop := func(prefix string) {
		for path := range r.values {
			if strings.HasPrefix(path, prefix) {
				delete(r.values, path)
			}
		}
	}
	if !r.has("input.audio.length.mean") {
		drop("input.audio.")
	}
	if !r.has("input.image.width.mean") || !r.has("input.image.height.mean") {
		drop("input.image.")
	}
	if !r.has("input.prefix_prompt.num") {
		drop("input.prefix_prompt.")
	}
	if !r.has("input.sessions.num") {
		drop("input.sessions.")
	}
	for _, path := range []string{"endpoint.streaming", "input.output_tokens.deterministic", "tokenizer.trust_remote_code"} {
		if r.text(path, "") == "false" {
			delete(r.values, path)
		}
	}
}

func (r *reader) endpoint(say func(flag, value string)) {
	typ := r.text("endpoint.type", "kserve")
	say("--endpoint-type", typ)
	switch backend := r.values["endpoint.backend"]; {
	case !r.has("endpoint.backend"):
	case typ != "kserve":
		r.fault(backend.line, "endpoint.backend: %s is for type kserve, not %s", backend.texts[0], typ)
	default:
		say("--backend", backend.texts[0])
	}
	if typ == "kserve" && !r.has("endpoint.url") {
		say("--url", "localhost:8001")
	}
}

// stimuli maps the loads of a file to flags; "" is handled by separate code.
var stimuli = map[string]string{"concurrency": "--concurrency", "request_rate": "--request-rate", "session_concurrency": "--session-concurrency", "fixed_schedule": ""}

func (r *reader) load(say func(flag, value string)) {
	mode := r.text("perf_analyzer.measurement.mode", "request_count")
	switch num := r.text("perf_analyzer.measurement.num", ""); {
	case mode == "interval" && num == "":
		say("--measurement-interval", "10000")
	case mode == "interval":
		say("--measurement-interval", num)
	case num != "":
		say("--request-count", num)
	}
	v, ok := r.values["perf_analyzer.stimulus"]
	if !ok {
		return
	}
	name, amount := v.node.Value, ""
	if v.node.Kind == yaml.MappingNode && len(v.node.Content) == 2 {
		name, amount = v.node.Content[0].Value, v.node.Content[1].Value
	}
	flag, known := stimuli[name]
	f, err := strconv.ParseFloat(amount, 64)
	switch {
	case !known:
		r.fault(v.line, "perf_analyzer.stimulus: %q is not one of concurrency, request_rate, session_concurrency, fixed_schedule, with a value", name)
	case flag == "":
		say("--fixed-schedule", "true")
	case err != nil || !(f > 0):
		r.fault(v.line, "perf_analyzer.stimulus: %s needs a value above 0, for example {%s: 4}", name, name)
	default:
		say(flag, amount)
		if name == "request_rate" {
			say("--arrival-pattern", "constant")
		}
	}
}

func (r *reader) input(say func(flag, value string), note func(string, ...any)) {
	if v, ok := r.values["input.extra"]; ok {
		var extra map[string]any
		if err := v.node.Decode(&extra); err != nil {
			r.fault(v.line, "input.extra: %v", err)
		} else if text, err := json.Marshal(extra); err != nil {
			r.fault(v.line, "input.extra: %v", err)
		} else {
			say("--extra-inputs", string(text))
		}
	}
	if v, ok := r.values["input.goodput"]; ok {
		var parts []string
		for i := 0; i+1 < len(v.node.Content); i += 2 {
			name, limit := v.node.Content[i].Value, v.node.Content[i+1]
			if f, err := strconv.ParseFloat(limit.Value, 64); err != nil || f < 0 {
				r.fault(limit.Line, "input.goodput.%s: %q is not a number of 0 or more", name, limit.Value)
			}
			parts = append(parts, name+":"+limit.Value)
		}
		say("--goodput", strings.Join(parts, " "))
	}
	file := r.text("input.file", "")
	switch head, _, prefixed := strings.Cut(file, ":"); {
	case file == "":
	case prefixed && head == "payload":
		say("--input-file", file) // profile knows this prefix and reads the rows as GenAI-Perf did
	case prefixed && head == "synthetic":
		note("input.file %s: queries and passages are generated by the endpoint type", file)
	default:
		say("--input-file", file)
	}
}

func (r *reader) output(say func(flag, value string), note func(string, ...any)) {
	if v, ok := r.values["output.profile_export_file"]; ok {
		name := v.texts[0]
		if strings.ContainsAny(name, `/\`) {
			r.fault(v.line, "output.profile_export_file: %q has a directory; output.artifact_directory says where files go", name)
		}
		say("--profile-export-prefix", strings.TrimSuffix(name, ".json"))
	}
	for _, one := range [][2]string{
		{"perf_analyzer.path", "aiperf sends the requests itself, without perf_analyzer"},
		{"perf_analyzer.verbose", "use --verbose for details"},
		{"perf_analyzer.stability_percentage", "a run has one window; --num-profile-runs and --convergence-metric judge stability"},
		{"output.checkpoint_directory", "--resume DIR continues a series"},
		{"output.enable_checkpointing", "--resume DIR continues a series"},
		{"output.generate_plots", "aiperf plot draws them from the finished directory"},
	} {
		if r.has(one[0]) && r.text(one[0], "") != "false" {
			note("%s is dropped: %s", one[0], one[1])
		}
	}
}

func (r *reader) analyze(f *File, say func(flag, value string)) {
	names := make([]string, 0, len(sweeps))
	for name := range sweeps {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		at := "analyze." + name + "."
		if !r.has(at+"start") && !r.has(at+"stop") && !r.has(at+"step") {
			continue
		}
		s := sweeps[name]
		number := func(part string, def int) int {
			if v, err := strconv.Atoi(r.text(at+part, "")); err == nil {
				return v
			}
			return def
		}
		values, err := Range(name, number("start", s.first), number("stop", s.last), number("step", 0))
		if err != nil {
			r.fault(max(r.values[at+"start"].line, r.values[at+"stop"].line), "analyze.%s: %v", name, err)
			continue
		}
		f.sweep(name, values, say)
	}
}

// sweep adds an axis and the flags that its setting needs.
func (f *File) sweep(name string, values []int, say func(flag, value string)) {
	s := sweeps[name]
	f.Axes = append(f.Axes, Axis{s.key, values})
	f.Flags = slices.DeleteFunc(f.Flags, func(one [2]string) bool { return one[0] == s.flag })
	say(s.flag, strconv.Itoa(values[0]))
	if name == "request_rate" && !slices.ContainsFunc(f.Flags, func(one [2]string) bool { return one[0] == "--arrival-pattern" }) {
		say("--arrival-pattern", "constant")
	}
}

// Replace replaces the axes of the file by those of a sweep, and flags by the same ones of the sweep.
func (f *File) Replace(sweep *File) {
	f.Axes = sweep.Axes
	f.Flags = slices.DeleteFunc(f.Flags, func(one [2]string) bool {
		return slices.ContainsFunc(sweep.Flags, func(other [2]string) bool { return one[0] == other[0] })
	})
	f.Flags = append(f.Flags, sweep.Flags...)
}

// maxValues limits the length of an axis.
const maxValues = 10000

// Range lists the values from start to stop in equal steps. Without a step each value is double the previous one; numbers of entries increase by 1.
func Range(name string, start, stop, step int) (values []int, err error) {
	if start < 1 || stop < start || step < 0 {
		return nil, fmt.Errorf("start %d, stop %d, step %d: start must be 1 or more, stop not below it", start, stop, step)
	}
	if step == 0 && name == "num_dataset_entries" {
		step = 1
	}
	for v := start; v <= stop && len(values) < maxValues; {
		values = append(values, v)
		if step > 0 {
			v += step
		} else {
			v *= 2
		}
	}
	return values, nil
}

// Analyze returns a sweep from the command line: its type, and a list or a range "min:max[:step]". If both are empty, it uses the type's default
// range.
func Analyze(typ, list, span string) (*File, error) {
	if typ == "" {
		typ = "concurrency"
	}
	name := typ
	if typ == "batch_size" {
		name = "runtime_batch_size"
	}
	s, ok := sweeps[name]
	if !ok || typ == "runtime_batch_size" {
		return nil, fmt.Errorf("--sweep-type %q is not one of batch_size, concurrency, input_sequence_length, num_dataset_entries, request_rate", typ)
	}
	var values []int
	switch {
	case list != "":
		for word := range strings.SplitSeq(list, ",") {
			v, err := strconv.Atoi(strings.TrimSpace(word))
			if err != nil || v < 0 {
				return nil, fmt.Errorf("--sweep-list: %q is not a whole number of 0 or more", word)
			}
			values = append(values, v)
		}
	case span != "":
		parts := strings.Split(span, ":")
		var n [3]int
		for i, p := range parts {
			v, err := strconv.Atoi(p)
			if i > 2 || err != nil {
				return nil, fmt.Errorf("--sweep-range: %q is not min:max or min:max:step", span)
			}
			n[i] = v
		}
		if len(parts) < 2 {
			return nil, fmt.Errorf("--sweep-range: %q is not min:max or min:max:step", span)
		}
		var err error
		if values, err = Range(name, n[0], n[1], n[2]); err != nil || n[0] == n[1] {
			return nil, fmt.Errorf("--sweep-range %s: min must be 1 or more and below max", span)
		}
	default:
		var err error
		if values, err = Range(name, s.first, s.last, 0); err != nil {
			return nil, err
		}
	}
	f := &File{Needs: true}
	f.sweep(name, values, func(flag, value string) { f.Flags = append(f.Flags, [2]string{flag, value}) })
	return f, nil
}
