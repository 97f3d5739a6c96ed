package resolve

import (
	"slices"

	"aiperf/internal/base/plugin"
	"aiperf/internal/base/setting"
	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/public"
)

// Flags is the table of profile; it is built once, before anything runs.
var Flags = setting.NewTable(registered(config.Rows()))

// registered fills in the values of rows that come from the registries of other packages.
func registered(rows []setting.Row) []setting.Row {
	for i := range rows {
		switch f := &rows[i]; f.Name() {
		case "--endpoint-type":
			f.Choices, f.Shown, f.More = endpointTypes(), builtEndpoints(), Plugins(endpoint.Category, endpointTypes())
		case "--custom-dataset-type":
			f.Choices, f.Shown, f.More = fileTypes(), shownFileTypes(), Plugins(custom.Category, fileTypes())
		case "--public-dataset":
			f.Choices, f.Shown = public.Names(), shownSets()
		case "--accuracy-benchmark":
			f.Choices, f.More = accuracy.Names(), Plugins(accuracy.Category, accuracy.Names())
		case "--accuracy-grader":
			f.Choices, f.More = grade.Names(), Plugins(grade.Category, grade.Names())
		case "--search-planner":
			f.More = Plugins("search_planner", f.Choices)
		case "--url":
			f.Split = splitURLs
		}
	}
	return rows
}

// Plugins returns a function that lists the names of plug-ins of a category that are not built in.
func Plugins(category string, builtIn []string) func() []string {
	return func() []string { return plugin.Installed().Names(category, builtIn) }
}

// shownSets returns the public datasets that the help lists: not every release of recorded agents.
func shownSets() []string {
	return slices.DeleteFunc(public.Names(), func(name string) bool { return name != public.AnyAgents && public.Find(name).Agents })
}

// endpointTypes returns the names of --endpoint-type, including old ones.
func endpointTypes() []string {
	return append(endpoint.BuiltIn(), oldEndpointTypes...)
}

// oldEndpointTypes lists GenAI-Perf's names for other types or for none.
var oldEndpointTypes = []string{"rankings", "multimodal", "vision", "tensorrtllm_engine"}
