package cli

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/config"
	"aiperf/internal/run/exporters"
	"aiperf/internal/telemetry/gpu"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/accuracy"
	"aiperf/internal/workload/accuracy/grade"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/load"
)

// programsOf returns what a dry run says of the external programs that the run would start; "" = none.
func programsOf(run *config.Run) string {
	var list []string
	add := func(e plugin.Entry) {
		text := fmt.Sprintf("%s (%s)", e.ID(), strings.Join(e.Command(), " "))
		if len(e.Exec) > 0 && !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	set := plugin.Installed()
	for _, one := range namedTypes(run) {
		if e, ok, err := set.Choose(one.category, one.name, slices.Contains(one.builtIn, one.name)); ok && err == nil {
			add(e)
		}
	}
	for _, e := range set.Of(exporters.Category) {
		add(e)
	}
	if len(list) == 0 {
		return ""
	}
	return "plug-ins: " + strings.Join(list, ", ")
}

// namedType is a setting whose value can be the name of a plug-in.
type namedType struct {
	category, name string
	builtIn        []string
}

// namedTypes lists such settings of a run.
func namedTypes(run *config.Run) []namedType {
	var formats []string
	for _, f := range custom.Formats {
		formats = append(formats, f.Name)
	}
	list := []namedType{{endpoint.Category, run.Endpoint.Type, endpoint.BuiltIn()}, {custom.Category, run.Dataset().Format, formats}, {gpu.Category, run.GPUTelemetry.Collector, nil}}
	if a := run.Accuracy; a != nil {
		grader := a.Grader
		if b := accuracy.Find(a.Benchmark); b != nil && grader == "" {
			grader = b.Grader
		}
		list = append(list, namedType{accuracy.Category, a.Benchmark, accuracy.Names()}, namedType{grade.Category, grader, grade.Names()})
	}
	if run.Sweep != nil {
		list = append(list, namedType{"search_planner", run.Sweep.Planner, config.Planners})
	}
	for _, p := range run.PhasesSent() {
		list = append(list, namedType{load.ArrivalCategory, string(p.Type), config.PhaseTypes()})
	}
	return list
}
