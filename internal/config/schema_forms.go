package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
)

// shortForms adds the short forms that Load also accepts: a single entry instead of a list, a name instead of a section.
func (s *schema) shortForms(top object) {
	any1 := func(list ...any) object { return object{"anyOf": list} }
	body, dataset, phase := part(s.shared["benchmark"].(object)), part(s.shared["dataset"].(object)), part(s.shared["phase"].(object))
	top["schemaVersion"] = object{"enum": []any{"2.0", 2, "2"}}
	models := any1(object{"type": "string", "minLength": 1}, object{"type": "array", "items": object{"type": "string"}, "minItems": 1}, body["models"])
	advanced := body["models"].(object)
	advanced["required"] = []string{"items"}
	advanced["if"] = object{"required": []string{"strategy"}, "properties": object{"strategy": object{"pattern": anyCase([]string{string(ModelWeighted)})}}}
	advanced["then"] = object{"properties": object{"items": object{"items": object{"required": []string{"weight"}}}}}
	s.shared["models"] = models
	body["models"], body["model"] = ref("models"), ref("models")
	s.shared["dataset"].(object)["not"] = object{"required": []string{"records", "path"}}
	s.shared["dataset"].(object)["allOf"] = s.inlineRows()
	for _, short := range []string{"isl", "osl"} {
		dataset[short] = s.typeSchema(reflect.TypeFor[Distribution](), "datasets.main.prompts."+short)
	}
	pair := part(part(dataset["prompts"].(object))["sequence_distribution"].(object)["items"].(object))
	pair["isl_stddev"], pair["osl_stddev"] = object{"minimum": 0, "$ref": "#/$defs/number"}, object{"minimum": 0, "$ref": "#/$defs/number"}
	for _, ramp := range []string{"concurrency_ramp", "prefill_ramp", "rate_ramp"} {
		phase[ramp] = any1(s.typeSchema(reflect.TypeFor[Seconds](), ""), phase[ramp])
	}
	for _, axis := range phaseAxes() {
		phase[axis] = any1(phase[axis], object{"type": "array", "minItems": 1, "items": phase[axis]})
	}
	block := object{}
	for key, to := range adaptiveBlock {
		block[key] = phase[to]
	}
	for name, keys := range adaptiveParts {
		inner := object{}
		for key, to := range keys {
			inner[key] = phase[to]
		}
		block[name] = closed(inner)
	}
	byOp := object{"type": "object", "propertyNames": object{"enum": comparisons}, "additionalProperties": orComputed(object{"type": "number"})}
	byStat := object{"type": "object", "propertyNames": object{"enum": statistics}, "additionalProperties": byOp}
	phase["sla"] = any1(phase["sla"], object{"type": "object", "additionalProperties": byStat})
	block["sla"] = phase["sla"]
	phase["adaptive_scale"] = any1(phase["adaptive_scale"], closed(block))
	phase["rate_series"] = any1(phase["rate_series"], closed(object{"path": object{"type": "string"}, "points": phase["rate_points"]}))
	phase["type"] = orComputed(object{"enum": phaseTypes})
	phase["kind"] = orComputed(object{"enum": []PhaseKind{KindWarmup, KindProfiling}})
	phase["name"] = object{"type": "string", "pattern": phaseName.String() + "|" + expression, "not": object{"pattern": anyCase(deviceNames())}}
	for _, one := range []string{"warmup", "profiling"} {
		body[one] = object{"allOf": []any{ref("phase"), ref("paced")}}
	}
	s.shared["paced"] = pacedPhase
	body["dataset"] = ref("dataset")
	named := object{"allOf": []any{ref("dataset"), object{"required": []string{"name"}}}}
	body["datasets"] = any1(object{"type": "array", "minItems": 1, "maxItems": 1, "items": named}, ref("dataset"))
	listed := object{"allOf": []any{ref("phase"), ref("paced"), namedPhase}}
	body["phases"] = any1(
		object{"type": "array", "minItems": 1, "items": listed, "prefixItems": []any{object{"allOf": []any{listed, first}}}, "contains": object{"not": object{"anyOf": []any{
			object{"required": []string{"name"}, "properties": object{"name": object{"const": "warmup"}}},
			object{"required": []string{"kind"}, "properties": object{"kind": object{"const": "warmup"}}},
		}}}},
		object{"type": "object", "allOf": []any{ref("phase"), ref("paced")}},
	)
	endpoint := part(body["endpoint"].(object))
	endpoint["urls"] = any1(object{"type": "array", "minItems": 1, "items": object{"type": "string"}}, object{"type": "string", "minLength": 1})
	endpoint["url"] = endpoint["urls"]
	for _, key := range switched {
		endpoint[key] = any1(orComputed(object{"type": "boolean"}), endpoint[key])
	}
	for _, collector := range []string{"gpu_telemetry", "server_metrics"} {
		m := part(body[collector].(object))
		m["url"] = any1(m["urls"], object{"type": "string"})
		body[collector] = any1(object{"type": []any{"boolean", "string"}}, body[collector])
	}
	top["plot"] = object{"type": []any{"object", "null"}, "required": []string{"visualization"}, "description": "settings of the plots that are drawn after the run"}
	body["slos"] = object{"type": []any{"object", "null"}, "propertyNames": object{"enum": s.metrics}, "additionalProperties": orComputed(object{"type": "number"})}
}

// inlineRows returns the keys of the rows of each format.
func (s *schema) inlineRows() (list []any) {
	for i, one := range s.inline {
		row := object{"propertyNames": object{"enum": one.Row}}
		if one.Turn != nil {
			row["properties"] = object{"turns": object{"items": object{"propertyNames": object{"enum": one.Turn}}}}
		}
		rows := object{"items": row}
		format := object{"required": []string{"format"}, "properties": object{"format": object{"type": "string", "pattern": anyCase([]string{one.Format})}}}
		if i == 0 {
			format = object{"anyOf": []any{format, object{"not": object{"required": []string{"format"}}}}}
		}
		free := object{"required": []string{"payload_rows"}} // unknown keys go into the body
		list = append(list, object{"if": object{"allOf": []any{format, object{"not": free}}},
			"then": object{"properties": object{"records": object{"items": row, "additionalProperties": rows}}}})
	}
	return list
}

// pacedPhase requires a stop condition of a phase, and the settings that its type needs.
var pacedPhase = object{"allOf": []any{
	object{"anyOf": []any{object{"required": []string{"requests"}}, object{"required": []string{"sessions"}}, object{"required": []string{"duration"}}, typed(PhaseFixedSchedule)}},
	object{"if": typed(PhasePoisson, PhaseGamma, PhaseConstant), "then": object{"anyOf": []any{
		object{"required": []string{"rate"}}, object{"required": []string{"rate_series"}}, object{"required": []string{"rateSeries"}},
		object{"required": []string{"rate_points"}}, object{"required": []string{"ratePoints"}},
	}}},
	object{"if": object{"anyOf": []any{object{"required": []string{"grace_period"}}, object{"required": []string{"gracePeriod"}}}}, "then": object{"required": []string{"duration"}}},
}}

// namedPhase adds the requirements for an entry of a list of phases.
var namedPhase = object{"required": []string{"name", "type"}, "anyOf": []any{
	object{"properties": object{"name": object{"enum": []string{"warmup", "profiling"}}}}, object{"required": []string{"kind"}},
}}

// first excludes values that the first phase must not have.
var first = object{"properties": object{"seamless": object{"not": object{"const": true}}}}

// deviceNames returns the names that deviceName matches.
func deviceNames() []string {
	list := []string{"con", "prn", "aux", "nul"}
	for n := range 10 {
		list = append(list, fmt.Sprintf("com%d", n), fmt.Sprintf("lpt%d", n))
	}
	return list
}

// typed matches a phase of one of some types, in any spelling.
func typed(types ...PhaseType) object {
	var words []string
	for _, t := range types {
		words = append(words, string(t))
	}
	return object{"required": []string{"type"}, "properties": object{"type": object{"type": "string", "pattern": anyCase(words)}}}
}

// needs adds the required keys of a body, and the keys that exclude each other.
func (s *schema) needs() {
	body := s.shared["benchmark"].(object)
	one := func(names ...string) object {
		var list []any
		for _, n := range names {
			list = append(list, object{"required": []string{n}})
		}
		return object{"oneOf": list}
	}
	s.shared["needs"] = object{"allOf": []any{
		object{"required": []string{"endpoint"}, "properties": object{"endpoint": one("url", "urls")}},
		one("model", "models"), one("dataset", "datasets"), one("phases", "profiling"),
		object{"if": object{"required": []string{"warmup"}}, "then": object{"required": []string{"profiling"}}},
	}}
	body["allOf"] = []any{ref("needs")}
}

// idle adds the keys of the Python tool that have no effect here.
func (s *schema) idle() {
	body := part(s.shared["benchmark"].(object))
	nothing := func(why string) object { return object{"description": "no effect: " + why} }
	runtime := part(body["runtime"].(object))
	for path, why := range processKeys {
		runtime[strings.TrimPrefix(path, "runtime.")] = nothing(why)
	}
	for _, key := range busKeys {
		part(runtime["communication"].(object))[key] = nothing("there is no message bus inside one process")
	}
	models := s.shared["models"].(object)["anyOf"].([]any)[2].(object)
	part(part(models)["items"].(object)["items"].(object))["modalities"] = nothing("the dataset decides what is sent")
	body["metrics"] = object{"type": []any{"object", "null"}, "maxProperties": 0}
	phase := part(s.shared["phase"].(object))
	for _, key := range []string{"burst_phase_starts", "timing_mode"} {
		if phase[key] == nil {
			phase[key] = nothing("the type of the phase says it")
		}
	}
}

// lengthOfTime matches a duration as Seconds reads it.
const lengthOfTime = `^\s*\+?([iI][nN][fF]([iI][nN][iI][tT][yY])?|([0-9.][0-9.eE+_]*\s*([mM]?[sS]|[sS][eE][cC]|[mM]|[mM][iI][nN]|[hH]|[hH][rR]|[hH][oO][uU][rR])?\s*)+)\s*$`

// expression matches a text that is computed before use: a variable of the environment, or a template.
const expression = `\$\{[^}]*\}|\{\{|\{%`

// figure matches a quoted number.
const figure = `^\s*[-+]?[0-9._]+([eE][-+]?[0-9]+)?\s*$`

// orComputed extends a schema of a number, a boolean or an enum. It also accepts a text with an expression, a quoted number or boolean, and enum
// values in any case, with - for _. Bounds apply only to numbers and patterns only to texts, so a schema can have both. null means that a value is
// not given.
func orComputed(o object) object {
	switch kind := o["type"]; {
	case kind == "boolean", kind == "integer", kind == "number":
		delete(o, "type")
		o["$ref"] = "#/$defs/" + kind.(string)
	case o["enum"] != nil:
		o["anyOf"] = []any{object{"enum": o["enum"]}, object{"type": "string", "pattern": anyCase(wordsOf(o["enum"])) + "|" + expression}, object{"type": "null"}}
		delete(o, "enum")
		delete(o, "type")
	case kind == "string":
		o["type"] = []any{kind, "null"}
	case kind == "object" && o["properties"] != nil:
		o["type"] = []any{kind, "null"}
	}
	return o
}

// scalars returns the shared schemas for orComputed.
func scalars() object {
	one := func(kind, pattern string) object {
		return object{"type": []any{kind, "string", "null"}, "pattern": pattern + "|" + expression}
	}
	return object{"boolean": one("boolean", anyCase([]string{"true", "false"})), "integer": one("integer", figure), "number": one("number", figure)}
}

// wordsOf converts a list of any string type to strings.
func wordsOf(list any) (words []string) {
	v := reflect.ValueOf(list)
	for i := range v.Len() {
		if one := v.Index(i); one.Kind() == reflect.String {
			words = append(words, one.String())
		}
	}
	return words
}

// anyCase returns a pattern for some words in any case. It also allows - or nothing instead of _, and vice versa.
func anyCase(words []string) string {
	var list []string
	for _, w := range words {
		var p strings.Builder
		for _, r := range w {
			switch lower, upper := strings.ToLower(string(r)), strings.ToUpper(string(r)); {
			case r == '-' || r == '_':
				p.WriteString("[-_]?")
			case lower != upper:
				p.WriteString("[" + lower + upper + "]")
			case strings.ContainsRune(`.+*?()[]{}|^$\`, r):
				p.WriteString(`\` + string(r))
			default:
				p.WriteRune(r)
			}
		}
		list = append(list, p.String())
	}
	slices.Sort(list)
	return `^\s*(` + strings.Join(slices.Compact(list), "|") + `)\s*$`
}
