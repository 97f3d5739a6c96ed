package config

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// TestSchema: the schema knows every key of every row with its description, and every key of what is printed.
func TestSchema(t *testing.T) {
	text, err := Schema(Rows(), []string{"request_latency"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var top map[string]any
	if err := json.Unmarshal(text, &top); err != nil {
		t.Fatal(err)
	}
	for _, row := range Rows() {
		if row.Key == "" {
			continue
		}
		path := row.Key
		if head, _, _ := strings.Cut(path, "."); !slices.Contains(envelope, head) {
			path = "benchmark." + path
		}
		path = strings.NewReplacer("datasets.main", "datasets.0", "phases.profiling", "phases.0", "phases.warmup", "phases.0").Replace(path)
		if !knows(top, top, strings.Split(path, ".")) {
			t.Errorf("%s of %s%s is not in the schema", row.Key, row.Name(), row.Env)
		}
	}
	run := Default()
	run.Models.Items = []Model{{Name: "m"}}
	printed, err := run.YAML()
	if err != nil {
		t.Fatal(err)
	}
	var doc yaml.Node
	if err := yaml.Unmarshal(printed, &doc); err != nil {
		t.Fatal(err)
	}
	var walk func(n *yaml.Node, path []string)
	walk = func(n *yaml.Node, path []string) {
		if len(path) > 0 && !knows(top, top, path) {
			t.Errorf("%v is printed and not in the schema", path)
		}
		for i, c := range n.Content {
			switch {
			case n.Kind == yaml.MappingNode && i%2 == 1:
				walk(c, append(path[:len(path):len(path)], n.Content[i-1].Value))
			case n.Kind == yaml.SequenceNode && c.Kind == yaml.MappingNode:
				walk(c, append(path[:len(path):len(path)], "0"))
			}
		}
	}
	walk(doc.Content[0], nil)
	if !strings.Contains(string(text), `"description": "number of concurrent sessions`) || !strings.Contains(string(text), `"exclusiveMinimum": 0`) {
		t.Error("descriptions or bounds are missing")
	}
}

// knows follows a path through properties, items and alternatives.
func knows(top, s map[string]any, path []string) bool {
	if len(path) == 0 {
		return true
	}
	if to, ok := s["else"].(map[string]any); ok { // not flat
		return knows(top, to, path)
	}
	if to, ok := s["$ref"].(string); ok {
		var target any = top
		for part := range strings.SplitSeq(strings.TrimPrefix(to, "#/"), "/") {
			target = target.(map[string]any)[part]
		}
		return knows(top, target.(map[string]any), path)
	}
	if list, ok := s["allOf"].([]any); ok && s["properties"] == nil {
		return slices.ContainsFunc(list, func(one any) bool { return knows(top, one.(map[string]any), path) })
	}
	if list, ok := s["anyOf"].([]any); ok {
		for _, one := range list {
			if o, ok := one.(map[string]any); ok && knows(top, o, path) {
				return true
			}
		}
		return false
	}
	if items, ok := s["items"].(map[string]any); ok && path[0] == "0" {
		return knows(top, items, path[1:])
	}
	members, ok := s["properties"].(map[string]any)
	if !ok {
		return s["type"] == "object" // keys of the user's own
	}
	next, ok := members[path[0]].(map[string]any)
	return ok && knows(top, next, path[1:])
}
