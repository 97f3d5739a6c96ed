package config

import (
	"encoding/json"
	"maps"
	"reflect"
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
	s.shortForms(top)
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
	return o
}

func (s *schema) shape(t reflect.Type, key string) object {
	text, list := object{"type": "string"}, object{"type": "array"}
	switch t {
	case reflect.TypeFor[Seconds]():
		return object{"type": []string{"number", "string"}}
	case reflect.TypeFor[Seed]():
		return object{"type": []string{"integer", "string"}}
	case reflect.TypeFor[Formats]():
		return object{"anyOf": []any{object{"const": false}, object{"type": "array", "items": text, "minItems": 1}}}
	case reflect.TypeFor[Distribution]():
		return distributionShape(true)
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

// distributionShape is a number or the keys of a distribution; a peak has such keys of its own, with its weight beside them or around them.
func distributionShape(outer bool) object {
	number := object{"type": "number"}
	members := object{"type": object{"enum": []string{"fixed", "normal", "lognormal", "multimodal", "empirical"}}}
	for _, one := range (&Distribution{}).keys() {
		members[one.name] = number
	}
	entry := func(members object) object {
		return object{"type": "object", "properties": members, "additionalProperties": false}
	}
	members["peaks"] = object{"type": "array", "minItems": 2}
	if outer {
		inner := distributionShape(false)
		beside := object{"weight": number, "distribution": inner}
		maps.Copy(beside, inner["anyOf"].([]any)[1].(object)["properties"].(object))
		members["peaks"] = object{"type": "array", "minItems": 2, "items": object{"anyOf": []any{number, entry(beside)}}}
	}
	members["points"] = object{"type": "array", "minItems": 1, "items": entry(object{"value": number, "weight": number})}
	return object{"anyOf": []any{number, entry(members)}}
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
	return object{"type": "object", "properties": members, "additionalProperties": false}
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
	models := any1(object{"type": "string"}, object{"type": "array"}, members["models"])
	members["models"], members["model"] = models, models
	dataset, phase := part(body, "datasets")["items"].(object), part(body, "phases")["items"].(object)
	for _, short := range []string{"isl", "osl"} {
		part(dataset)["properties"].(object)[short] = s.of(reflect.TypeFor[Distribution](), "datasets.main.prompts."+short)
	}
	for _, ramp := range []string{"concurrency_ramp", "prefill_ramp", "rate_ramp"} {
		m := phase["properties"].(object)
		m[ramp] = any1(object{"type": []string{"number", "string"}}, m[ramp])
	}
	for _, axis := range phaseAxes() {
		m := phase["properties"].(object)
		m[axis] = any1(m[axis], object{"type": "array", "minItems": 1, "items": m[axis]})
	}
	members["dataset"], members["warmup"], members["profiling"] = dataset, phase, phase
	members["datasets"], members["phases"] = any1(members["datasets"], dataset), any1(members["phases"], phase)
	urls := part(body, "endpoint")["properties"].(object)
	urls["urls"] = any1(urls["urls"], object{"type": "string"})
	urls["url"] = urls["urls"]
	for _, key := range switched {
		urls[key] = any1(object{"type": "boolean"}, urls[key])
	}
	for _, collector := range []string{"gpu_telemetry", "server_metrics"} {
		m := members[collector].(object)["properties"].(object)
		m["url"] = any1(m["urls"], object{"type": "string"})
		members[collector] = any1(object{"type": []string{"boolean", "string"}}, members[collector])
	}
}
