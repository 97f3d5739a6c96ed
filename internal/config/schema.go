package config

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"aiperf/internal/base/setting"
)

// schemaURL identifies the JSON Schema dialect of Schema.
const schemaURL = "https://json-schema.org/draft/2020-12/schema"

// Schema returns the JSON Schema of a configuration file, for editors: the layout that YAML prints, and the short forms that Load also accepts,
// including a flat file. Descriptions, bounds and choices come from rows, which may have more choices than Rows. metrics are the allowed names in a
// service level, inline the keys of rows given in the file.
func Schema(rows []setting.Row, metrics []string, inline []InlineKeys) ([]byte, error) {
	s := &schema{rows: map[string]*setting.Row{}, shared: scalars(), metrics: metrics, inline: inline}
	for i := range rows {
		if key := rows[i].Key; key != "" && s.rows[key] == nil {
			s.rows[key] = &rows[i]
		}
	}
	s.shared["distribution"], s.shared["peak"] = distributionShape(), peakShape()
	whole := s.typeSchema(reflect.TypeFor[Run](), "")
	part(whole)["variables"] = object{"type": "object", "description": "values that expressions use: {{ name }}"}
	s.shortForms(part(whole))
	s.idle()
	s.needs()
	delete(part(whole), "benchmark")
	flat := closed(object{})
	for key := range part(s.shared["benchmark"].(object)) {
		part(flat)[key] = ref("benchmark/properties/" + key)
	}
	for key := range part(whole) {
		part(flat)[key] = ref("file/properties/" + key)
	}
	flat["allOf"] = []any{ref("needs")}
	part(whole)["benchmark"] = ref("benchmark")
	whole["type"], whole["required"] = "object", []string{"benchmark"}
	s.shared["file"], s.shared["flat"] = whole, flat
	top := object{
		"$schema": schemaURL, "title": "aiperf configuration", "$defs": s.shared, "if": object{"required": []string{"endpoint"}, "not": object{"required": []string{"benchmark"}}},
		"then": ref("flat"), "else": ref("file"),
	}
	bothSpellings(top, "#")
	out, err := json.MarshalIndent(top, "", " ")
	return append(out, '\n'), err
}

// InlineKeys are the keys of the rows of a format, and the keys of their turns (nil if rows have no turns). The first format is the default.
type InlineKeys struct {
	Format    string
	Row, Turn []string
}

// ref refers to a shared schema.
func ref(name string) object { return object{"$ref": "#/$defs/" + name} }

// part returns the members of a mapping.
func part(o object) object { return o["properties"].(object) }

// sharedTypes are types that occur in several places. The schema describes each once.
var sharedTypes = map[reflect.Type]string{reflect.TypeFor[Benchmark](): "benchmark", reflect.TypeFor[Dataset](): "dataset", reflect.TypeFor[Phase](): "phase"}

type (
	schema struct {
		rows    map[string]*setting.Row
		shared  object // schemas that others refer to, by name
		metrics []string
		inline  []InlineKeys
	}
	object = map[string]any
)

// typeSchema returns the schema of a type at a key (setting.Row.Key).
func (s *schema) typeSchema(t reflect.Type, key string) object {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	o := s.shape(t, key)
	if row := s.rows[key]; row != nil {
		annotate(o, row)
	}
	o = orComputed(o)
	if name := sharedTypes[t]; name != "" {
		s.shared[name] = o
		return ref(name)
	}
	return o
}

func (s *schema) shape(t reflect.Type, key string) object {
	text, list := object{"type": "string"}, object{"type": "array"}
	switch t {
	case reflect.TypeFor[Seconds]():
		return object{"type": []any{"number", "string", "null"}, "minimum": 0, "pattern": lengthOfTime + "|" + expression}
	case reflect.TypeFor[Seed]():
		return object{"type": []any{"integer", "string", "null"}, "minimum": 0, "pattern": `^\s*[0-9]+\s*$|` + expression}
	case reflect.TypeFor[Formats]():
		return object{"anyOf": []any{object{"const": false}, object{"type": "array", "items": text, "minItems": 1}}}
	case reflect.TypeFor[Distribution]():
		return object{"$ref": "#/$defs/distribution"}
	case reflect.TypeFor[Records]():
		rows := object{"type": "array", "items": object{"type": "object"}}
		return object{"anyOf": []any{rows, object{"type": "object", "additionalProperties": rows}}}
	}
	if t == reflect.TypeFor[yaml.Node]() && strings.HasSuffix(key, ".content") {
		return object{} // content of a user file: a text, a list, anything
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
	case reflect.Interface:
		return object{} // anything
	case reflect.Slice:
		list["items"] = s.typeSchema(t.Elem(), entryKey(key))
		return list
	case reflect.Struct:
		return s.members(t, key)
	}
	return text
}

// distributionShape accepts a number or the keys of a distribution.
func distributionShape() object {
	return object{"anyOf": []any{orComputed(object{"type": "number"}), closed(distributionKeys())}}
}

// peakShape accepts one peak: a distribution with the key weight added, or nested next to its weight.
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

// closed accepts a mapping with these members only.
func closed(members object) object {
	return object{"type": "object", "properties": members, "additionalProperties": false}
}

// entryKey returns the key of the entries of a list. Keys of rows refer to the only data set and to the measured phase.
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
		if name == "-" || !f.IsExported() {
			continue
		}
		below := strings.TrimPrefix(key+"."+name, ".")
		if t == reflect.TypeFor[Run]() && name == "benchmark" {
			below = "" // keys of rows are relative to it
		}
		members[name] = s.typeSchema(f.Type, below)
	}
	return closed(members)
}

// annotate adds the description, bounds and choices of a row to a schema.
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

// bothSpellings adds the camelCase form of every key of several words, as a reference to its schema. at is the JSON pointer of a node.
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

// camel returns the camelCase form of a key; a key of one word is unchanged.
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
