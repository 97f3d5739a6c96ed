package builtintypes

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/testhome"
	"aiperf/internal/config"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
	"aiperf/internal/workload/dataset/custom"
)

func TestMain(m *testing.M) { os.Exit(testhome.Run(m)) }

// formats are the names of file formats as the command line has them.
func formats() (names []string) {
	for _, f := range custom.Formats {
		if f.Name != "speed_bench" { // its names have the part of the data set
			names = append(names, f.Name)
		}
	}
	return names
}

func names(category string, files []string) (list []string) {
	for _, t := range Of(category, files).Types {
		list = append(list, t.Name)
	}
	return list
}

// TestNamesOfThePythonTool: every category and type of 0.13 is there (testdata/plugins.json: what its plugins command lists).
func TestNamesOfThePythonTool(t *testing.T) {
	text, err := os.ReadFile("testdata/plugins.json")
	if err != nil {
		t.Fatal(err)
	}
	var recorded struct{ Categories map[string][]string }
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	if len(recorded.Categories) != 35 || len(plugin.Categories()) != 35 {
		t.Errorf("%d recorded categories, ours are %d", len(recorded.Categories), len(plugin.Categories()))
	}
	for category, want := range recorded.Categories {
		if category == "custom_dataset_loader" { // TestFileFormats
			continue
		}
		got := names(category, nil)
		for _, name := range want {
			if !slices.Contains(got, name) {
				t.Errorf("%s:%s is missing", category, name)
			}
		}
	}
	for _, name := range recorded.Categories["custom_dataset_loader"] {
		if !slices.Contains(formats(), name) && !strings.HasPrefix(name, "speed_bench_") {
			t.Errorf("custom_dataset_loader:%s is missing", name)
		}
	}
}

// TestEveryTypeOnce: each has a description of one line, and no name occurs twice in a category.
func TestEveryTypeOnce(t *testing.T) {
	for _, c := range plugin.Categories() {
		seen := map[string]bool{}
		of := Of(c.Name, formats())
		for _, one := range of.Types {
			if seen[one.Name] || one.About == "" || strings.ContainsAny(one.About, "\n") {
				t.Errorf("%s:%s: twice %v, description %q", c.Name, one.Name, seen[one.Name], one.About)
			}
			seen[one.Name] = true
		}
		if len(seen) == 0 {
			t.Errorf("%s has no types", c.Name)
		}
		if c.Internal && c.Name != "dataset_backing_store" && c.Name != "dataset_client_store" && of.Source != "" {
			t.Errorf("%s is a part of the Python tool, but has the source %q", c.Name, of.Source)
		}
		if of.Source != "" {
			if _, err := os.Stat("../../.." + strings.TrimPrefix(of.Source, "aiperf")); err != nil {
				t.Errorf("%s: %v", c.Name, err)
			}
		}
	}
}

// TestTablesOfThisProgram: the lists that flags take have no name that the table lacks.
func TestTablesOfThisProgram(t *testing.T) {
	for category, list := range map[string][]string{
		"accuracy_benchmark": accuracy.Names(), "accuracy_grader": grade.Names(), "search_planner": config.Planners, "custom_dataset_loader": formats(),
	} {
		got := names(category, formats())
		for _, name := range list {
			if !slices.Contains(got, name) {
				t.Errorf("%s: %s is not in the table", category, name)
			}
		}
	}
	all := names("custom_dataset_loader", []string{"single_turn", "speed_bench_throughput_1k"})
	if len(all) != 2 || Of("custom_dataset_loader", []string{"speed_bench_throughput_1k"}).Types[0].About != "rows of SPEED-Bench: throughput 1k" {
		t.Errorf("formats %v", all)
	}
}
