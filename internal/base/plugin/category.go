package plugin

import "strings"

// Category is a kind of plug-in.
type Category struct {
	Name        string // as in manifests, for example custom_dataset_loader
	Description string // what a plug-in of this kind provides, in one line
	Internal    bool   // part of the Python tool's own machinery, of no use here
	Programs    bool   // an external program can provide it (exec)
}

// Title returns the name for headings: words in title case, known short forms in capitals.
func (c Category) Title() string {
	words := strings.Split(c.Name, "_")
	for i, w := range words {
		if upper := strings.ToUpper(w); strings.Contains(shortForms, " "+upper+" ") {
			words[i] = upper
		} else {
			words[i] = strings.ToUpper(w[:1]) + w[1:]
		}
	}
	return strings.Join(words, " ")
}

// shortForms are the words that headings write in capitals.
const shortForms = " UI API GPU CPU HTTP ZMQ CSV JSON HF TEI URL "

// Categories lists every category, sorted by name. The list is fixed: manifests add entries, not categories.
func Categories() []Category { return categories[:] }

// FindCategory returns the category with a name; case and "-" or "_" do not matter.
func FindCategory(name string) (Category, bool) {
	key := Normalize(name)
	for _, c := range categories {
		if c.Name == key {
			return c, true
		}
	}
	return Category{}, false
}

// Normalize returns the form in which names are compared: lower case, "_" for "-".
func Normalize(name string) string {
	return strings.ReplaceAll(strings.ToLower(strings.TrimSpace(name)), "-", "_")
}

var categories = [...]Category{
	{Name: "accumulator", Description: "state of a run that grows record by record, for example the distribution of each metric"},
	{Name: "accuracy_benchmark", Description: "problems of an accuracy benchmark, with their right answers", Programs: true},
	{Name: "accuracy_grader", Description: "judgement of an answer to a problem of an accuracy benchmark", Programs: true},
	{Name: "analyzer", Description: "figures computed from a finished run"},
	{Name: "api_router", Description: "routes of the HTTP API of a run"},
	{Name: "arrival_pattern", Description: "intervals between requests", Programs: true},
	{Name: "communication", Description: "message bus between the processes of the Python tool; aiperf is one process", Internal: true},
	{Name: "communication_client", Description: "client of that message bus", Internal: true},
	{Name: "console_exporter", Description: "table or remark printed at the end of a run"},
	{Name: "convergence_criterion", Description: "rule that ends repeats of a run when their results agree"},
	{Name: "custom_dataset_loader", Description: "reader of a file format for prompts and traces", Programs: true},
	{Name: "data_exporter", Description: "writer of a file with the results of a run", Programs: true},
	{Name: "dataset_backing_store", Description: "storage of the conversations of a run, on the side that builds them", Internal: true},
	{Name: "dataset_client_store", Description: "storage of the conversations of a run, on the side that sends them", Internal: true},
	{Name: "dataset_composer", Description: "builder of conversations from files or from sampled lengths"},
	{Name: "dataset_sampler", Description: "choice of the next conversation"},
	{Name: "endpoint", Description: "form of the requests and answers of one API", Programs: true},
	{Name: "gpu_telemetry_collector", Description: "source of GPU metrics during a run", Programs: true},
	{Name: "plot", Description: "type of chart (aiperf plot)"},
	{Name: "public_dataset_loader", Description: "published data set, with the fields that hold its prompts"},
	{Name: "ramp", Description: "change of concurrency or rate over time"},
	{Name: "record_observer", Description: "writer that sees each record in addition to the metrics"},
	{Name: "record_processor", Description: "computation on each record"},
	{Name: "search_planner", Description: "choice of the next point of a search or sweep", Programs: true},
	{Name: "search_recipe", Description: "named search with its settings"},
	{Name: "search_recipe_post_process", Description: "evaluation at the end of a search"},
	{Name: "service", Description: "part of the Python tool that runs as its own process; here all parts share one process"},
	{Name: "service_manager", Description: "starter of those processes", Internal: true},
	{Name: "spec_decode_adapter", Description: "reader of the figures of speculative decoding in an answer"},
	{Name: "stream_exporter", Description: "writer of a file that grows during the run"},
	{Name: "timing_strategy", Description: "rule that says when the next request is due"},
	{Name: "transport", Description: "protocol that carries requests"},
	{Name: "ui", Description: "live display of a run"},
	{Name: "url_selection_strategy", Description: "choice of a server when several URLs are given"},
	{Name: "zmq_proxy", Description: "proxy of the Python tool's message bus", Internal: true},
}
