package config

import (
	"strings"
	"testing"
)

// TestUserFiles: templates see variables and facts, which win; values of a JSON or YAML file have the types that they say, a text keeps its letters.
func TestUserFiles(t *testing.T) {
	body := func(files string) string {
		return "variables: {team: x, twice: '{{ 2 * 21 }}', model: not this}\nbenchmark: {model: m, endpoint: {url: 'http://u:p@h:1'}, dataset: {entries: 3}, " +
			"phases: {type: concurrency, requests: 1}, artifacts: {user_files: " + files + "}}"
	}
	r, err := readRun([]byte(body(`[{path: a/run.json, content: {n: "{{ twice }}", m: "{{ model }}", list: [1, "{{ team }}"], plain: "42"}},
		{path: r.yaml, format: yaml, content: {on: "{{ twice > 1 }}"}}, {path: n.txt, content: "{{ artifact_dir }} {{ endpoint_url }} {{ job_name }}\n"}]`)))
	if err == nil {
		err = r.Validate()
	}
	if err != nil {
		t.Fatal(err)
	}
	facts := r.Facts("17", "/x/run1")
	for i, want := range []string{
		"{\n  \"n\": 42,\n  \"m\": \"m\",\n  \"list\": [\n    1,\n    \"x\"\n  ],\n  \"plain\": \"42\"\n}", "on: true\n", "/x/run1 http://<redacted>@h:1 run1\n",
	} {
		if text, err := r.UserFile(&r.Artifacts.UserFiles[i], facts); err != nil || string(text) != want {
			t.Errorf("%q %v, want %q", text, err, want)
		}
	}
	f := r.Artifacts.UserFiles[2]
	f.Content.Value = "{{ nothing }}"
	if _, err := r.UserFile(&f, facts); err == nil || !strings.Contains(err.Error(), "user_files n.txt") {
		t.Error(err)
	}
	swept, err := readRun([]byte(strings.Replace(body("[{path: a, content: '{{ team }}'}]"), "benchmark:", "sweep: {type: grid, parameters: {variables.team: [p, q], concurrency: [1, 2]}}\nbenchmark:", 1)))
	if err != nil {
		t.Fatal(err)
	}
	swept.TakeFirst()
	cells, err := swept.Cells()
	if err != nil || len(cells) != 4 {
		t.Fatal(len(cells), err)
	}
	for _, c := range cells {
		team := c.Values[len(c.Values)-1].Values[0]
		if text, err := c.Run.UserFile(&c.Run.Artifacts.UserFiles[0], facts); err != nil || string(text) != team {
			t.Errorf("%s: %q %v", c.Label, text, err)
		}
	}
	for files, want := range map[string]string{
		"[{path: /etc/x, content: a}]":               "user_files[0].path \"/etc/x\" leads out",
		"[{path: a/../../x, content: a}]":            "leads out",
		"[{path: '', content: a}]":                   "user_files[0].path is empty",
		"[{path: a}]":                                "user_files[0].content is missing",
		"[{path: a, format: json, content: b}]":      "json takes values",
		"[{path: a, format: text, content: {b: 1}}]": "text takes a text",
		"[{path: a, format: xml, content: b}]":       "is not one of json, yaml, text",
	} {
		r, err := readRun([]byte(body(files)))
		if err == nil {
			err = r.Validate()
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", files, err, want)
		}
	}
}
