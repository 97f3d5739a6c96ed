package cli

import (
	"aiperf/internal/cli/args"
	"aiperf/internal/endpoint"
)

// group puts flags under one heading of the help.
func group(name string, flags []args.Flag) []args.Flag {
	for i := range flags {
		flags[i].Group = name
	}
	return flags
}

func concat(groups ...[]args.Flag) []args.Flag {
	var all []args.Flag
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

// ourFlags are in no other tool.
var ourFlags = group("Ours", []args.Flag{
	{Names: []string{"--dry-run"}, Kind: args.Bool, Tier: "N", Help: "check everything, print the resolved configuration as YAML, send nothing"},
})

// profileTable is the table of profile; it is made once, before anything runs.
var profileTable = args.NewTable(endpointFlags, dataFlags, mediaFlags, loadFlags, outputFlags, runFlags, ourFlags)

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
