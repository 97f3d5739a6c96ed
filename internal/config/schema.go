package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/setting"
)

// schemaURL names the dialect that Schema is written in.
const schemaURL = "https://json-schema.org/draft/2020-12/schema"

// Schema returns the JSON Schema of a configuration file for editors: the layout that YAML prints, and the short forms that Load reads
// beside it. Descriptions, bounds and choices are those of rows, which may know choices that Rows does not.
func Schema(rows []setting.Row) ([]byte, error) {
	s := &schema{rows: map[string]*setting.Row{}}
	for i := range rows {
		if key := rows[i].Key; key != "" && s.rows[key] == nil {
			s.rows[key] = &rows[i]
		}
	}
	top := s.of(reflect.TypeFor[Run](), "")
	top["$schema"], top["title"] = schemaURL, "aiperf configuration"
	top["required"] = []string{"benchmark"}
	top["$defs"] = object{"distribution": distributionShape(), "peak": peakShape()}
	top["properties"].(object)["variables"] = object{"type": "object", "description": "values that expressions use: {{ name }}"}
	s.shortForms(top)
	bothSpellings(top, "#")
	out, err := json.MarshalIndent(top, "", "  ")
	return append(out, '\n'), err
}

type (
	schema struct{ rows map[string]*setting.Row }
	object = map[string]any
)

// of is the schema of a type at a key, in the words of setting.Row.Key.
func (s *schema) of(t reflect.Type, key string) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	o := s.shape(t, key)
	if row := s.rows[key]; row != nil {
		annotate(o, row)
	}
	return orComputed(o)
}

// expression is what a text holds that is computed before it is read: a variable of the environment, or a template.
const expression = `\$\{|\{\{|\{%`

// orComputed lets a text with an expression stand where a schema wants a number, a truth value or one of several words. Bounds speak of numbers
// alone and the pattern of texts alone, so that both stand side by side.
func orComputed(o object) object {
	switch kind := o["type"]; {
	case kind == "boolean", kind == "integer", kind == "number":
		o["type"], o["pattern"] = []any{kind, "string"}, expression
	case o["enum"] != nil:
		o["anyOf"] = []any{object{"enum": o["enum"]}, object{"type": "string", "pattern": expression}}
		delete(o, "enum")
		delete(o, "type")
	}
	return o
}

func (s *schema) shape(t reflect.Type, key string) object {
	text, list := object{"type": "string"}, object{"type": "array"}
	switch t {
	case reflect.TypeFor[Seconds]():
		return object{"type": []any{"number", "string"}, "pattern": `^\s*\+?[0-9.]|^\s*[iI][nN][fF]|` + expression}
	case reflect.TypeFor[Seed]():
		return object{"type": []any{"integer", "string"}, "pattern": `^\s*[0-9]+\s*$|` + expression}
	case reflect.TypeFor[Formats]():
		return object{"anyOf": []any{object{"const": false}, object{"type": "array", "items": text, "minItems": 1}}}
	case reflect.TypeFor[Distribution]():
		return object{"$ref": "#/$defs/distribution"}
	case reflect.TypeFor[Records]():
		rows := object{"type": "array", "items": object{"type": "object"}}
		return object{"anyOf": []any{rows, object{"type": "object", "additionalProperties": rows}}}
	}
	if t == reflect.TypeFor[yaml.Node]() && strings.HasSuffix(key, ".content") {
		return object{} // of a file of the user's own: a text, a list, anything
	}
	if t == reflect.TypeFor[yaml.Node]() || reflect.PointerTo(t).Implements(reflect.TypeFor[yaml.Unmarshaler]()) || t.Kind() == reflect.Map {
		return object{"type": "object"}
	}
	switch t.Kind() {
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice:
		list["items"] = s.of(t.Elem(), entryKey(key))
		return list
	case reflect.Struct:
		return s.members(t, key)
	}
	return text
}

// distributionShape is a number or the keys of a distribution.
func distributionShape() object {
	return object{"anyOf": []any{orComputed(object{"type": "number"}), closed(distributionKeys())}}
}

// peakShape is one peak of several: a distribution with its weight beside its keys or around them.
func peakShape() object {
	members := distributionKeys()
	members["weight"], members["distribution"] = orComputed(object{"type": "number", "minimum": 0}), object{"$ref": "#/$defs/distribution"}
	return object{"anyOf": []any{orComputed(object{"type": "number"}), closed(members)}}
}

func distributionKeys() object {
	number := orComputed(object{"type": "number"})
	members := object{
		"type":  orComputed(object{"enum": []string{"fixed", "normal", "lognormal", "multimodal", "empirical"}}),
		"peaks": object{"type": "array", "minItems": 2, "items": object{"$ref": "#/$defs/peak"}},
		"points": object{"type": "array", "minItems": 1, "items": closed(object{
			"value": number, "weight": orComputed(object{"type": "number", "exclusiveMinimum": 0}),
		})},
	}
	for _, one := range (&Distribution{}).keys() {
		members[one.name] = number
	}
	return members
}

// closed is a mapping that has these members only.
func closed(members object) object {
	return object{"type": "object", "properties": members, "additionalProperties": false}
}

// entryKey is the key of the entries of a list: rows speak of the one data set and of the measured phase.
func entryKey(key string) string {
	switch key {
	case "datasets":
		return "datasets.main"
	case "phases":
		return "phases.profiling"
	}
	return key + "[]"
}

func (s *schema) members(t reflect.Type, key string) object {
	members := object{}
	for i := range t.NumField() {
		f := t.Field(i)
		name := fieldKey(f)
		if name == "-" {
			continue
		}
		below := strings.TrimPrefix(key+"."+name, ".")
		if t == reflect.TypeFor[Run]() && name == "benchmark" {
			below = "" // keys of rows are relative to it
		}
		members[name] = s.of(f.Type, below)
	}
	return closed(members)
}

// annotate puts on a schema what the row of a key says.
func annotate(o object, row *setting.Row) {
	help := row.Help
	if row.NotBuilt {
		help += " (not built yet)"
	}
	if row.Name() != "" {
		help += "; " + row.Name()
	}
	o["description"] = help
	if o["type"] == "string" && row.Kind == setting.Enum {
		o["enum"] = row.Choices
		if row.KeyChoices != nil {
			o["enum"] = row.KeyChoices
		}
	}
	if o["type"] != "integer" && o["type"] != "number" {
		return
	}
	bounds := row.Bounds
	if row.KeyBounds != "" {
		bounds = row.KeyBounds
	}
	for rule := range strings.SplitSeq(bounds, ",") {
		op, limit, _ := strings.Cut(strings.TrimSpace(rule), " ")
		word := map[string]string{">=": "minimum", ">": "exclusiveMinimum", "<=": "maximum", "<": "exclusiveMaximum"}[op]
		if f, err := strconv.ParseFloat(limit, 64); err == nil && word != "" && !row.Zero {
			o[word] = f
		}
	}
}

// bothSpellings names every key of several words in camelCase too, as a reference to its own schema; at is the JSON pointer of a node.
func bothSpellings(node any, at string) {
	switch n := node.(type) {
	case []any:
		for i, one := range n {
			bothSpellings(one, at+"/"+strconv.Itoa(i))
		}
	case object:
		for _, key := range slices.Sorted(maps.Keys(n)) {
			bothSpellings(n[key], at+"/"+key)
		}
		members, ok := n["properties"].(object)
		if !ok || n["additionalProperties"] != false {
			return
		}
		for _, key := range slices.Sorted(maps.Keys(members)) {
			if other := camel(key); members[other] == nil {
				members[other] = object{"$ref": at + "/properties/" + key}
			}
		}
	}
}

// camel is the other spelling of a key; what has one alone is itself.
func camel(key string) string {
	if key == "schemaVersion" {
		return "schema_version"
	}
	words := strings.Split(key, "_")
	for i, w := range words[1:] {
		words[i+1] = strings.ToUpper(w[:1]) + w[1:]
	}
	return strings.Join(words, "")
}

// shortForms adds the spellings that are read beside the layout that is printed: one entry in place of a list, one name in place of a section.
func (s *schema) shortForms(top object) {
	body := top["properties"].(object)["benchmark"].(object)
	part := func(o object, names ...string) object {
		for _, n := range names {
			o = o["properties"].(object)[n].(object)
		}
		return o
	}
	any1 := func(list ...any) object { return object{"anyOf": list} }
	members := body["properties"].(object)
	part(top, "schemaVersion")["type"] = []any{"string", "number"}
	for _, level := range part(body, "logging", "level")["anyOf"].([]any) {
		if words, ok := level.(object)["enum"].([]string); ok {
			for _, w := range slices.Clone(words) {
				words = append(words, strings.ToLower(w))
			}
			level.(object)["enum"] = words
		}
	}
	models := any1(object{"type": "string"}, object{"type": "array"}, members["models"])
	members["models"], members["model"] = models, models
	dataset, phase := part(body, "datasets")["items"].(object), part(body, "phases")["items"].(object)
	for _, short := range []string{"isl", "osl"} {
		part(dataset)["properties"].(object)[short] = s.of(reflect.TypeFor[Distribution](), "datasets.main.prompts."+short)
	}
	for _, ramp := range []string{"concurrency_ramp", "prefill_ramp", "rate_ramp"} {
		m := phase["properties"].(object)
		m[ramp] = any1(s.of(reflect.TypeFor[Seconds](), ""), m[ramp])
	}
	for _, axis := range phaseAxes() {
		m := phase["properties"].(object)
		m[axis] = any1(m[axis], object{"type": "array", "minItems": 1, "items": m[axis]})
	}
	series := phase["properties"].(object)
	series["rate_series"] = any1(series["rate_series"], closed(object{"path": object{"type": "string"}, "points": series["rate_points"]}))
	series["type"] = orComputed(object{"enum": phaseTypes})
	series["kind"] = orComputed(object{"enum": []PhaseKind{KindWarmup, KindProfiling}})
	members["dataset"], members["warmup"], members["profiling"] = dataset, phase, phase
	members["datasets"], members["phases"] = any1(members["datasets"], dataset), any1(members["phases"], phase)
	urls := part(body, "endpoint")["properties"].(object)
	urls["urls"] = any1(urls["urls"], object{"type": "string"})
	urls["url"] = urls["urls"]
	for _, key := range switched {
		urls[key] = any1(orComputed(object{"type": "boolean"}), urls[key])
	}
	for _, collector := range []string{"gpu_telemetry", "server_metrics"} {
		m := members[collector].(object)["properties"].(object)
		m["url"] = any1(m["urls"], object{"type": "string"})
		members[collector] = any1(object{"type": []any{"boolean", "string"}}, members[collector])
	}
}
