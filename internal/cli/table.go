package cli

import (
	"slices"

	"aiperf/internal/accuracy"
	"aiperf/internal/accuracy/grade"
	"aiperf/internal/config"
	"aiperf/internal/dataset/public"
	"aiperf/internal/endpoint"
	"aiperf/internal/setting"
)

// profileTable is the table of profile; it is made once, before anything runs.
var profileTable = setting.NewTable(registered(config.Rows()))

// registered fills in what rows take from the registries of other packages.
func registered(rows []setting.Row) []setting.Row {
	for i := range rows {
		switch f := &rows[i]; f.Name() {
		case "--endpoint-type":
			f.Choices, f.Shown = endpointTypes(), builtEndpoints()
		case "--custom-dataset-type":
			f.Choices, f.Shown = fileTypes(), shownFileTypes()
		case "--public-dataset":
			f.Choices, f.Shown = public.Names(), shownSets()
		case "--accuracy-benchmark":
			f.Choices = accuracy.Names()
		case "--accuracy-grader":
			f.Choices = grade.Names()
		case "--url":
			f.Split = splitURLs
		}
	}
	return rows
}

// shownSets are the public sets that the help names: not every release of recorded agents.
func shownSets() []string {
	return slices.DeleteFunc(public.Names(), func(name string) bool { return name != public.AnyAgents && public.Find(name).Agents })
}

// endpointTypes are the names of --endpoint-type, old ones included.
func endpointTypes() []string {
	var names []string
	for _, e := range endpoint.All() {
		names = append(names, e.Name)
	}
	return append(names, oldEndpointTypes...)
}

// oldEndpointTypes are GenAI-Perf's names that stand for another type or for none.
var oldEndpointTypes = []string{"rankings", "multimodal", "vision", "tensorrtllm_engine"}
