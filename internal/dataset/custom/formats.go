// Package custom reads the user's own files: it finds out which format a file has, reads its rows and makes conversations of them.
package custom

import (
	"fmt"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/trace"
)

// Format is one file format.
type Format struct {
	Name  string
	Trace bool // recorded traffic
	Times bool // rows, or their turns, may have timestamps
	// read reads the file; nil = the format is known but not built yet.
	read func(*loader, string) error
	// verbatim: the bodies are sent as they stand in the file.
	verbatim bool
	// whole: the file is one JSON value, not a row a line.
	whole bool
	mode  conversation.Mode
}

// Verbatim tells whether bodies are sent as they stand in the file.
func (f Format) Verbatim() bool { return f.verbatim }

// Built tells whether files of the format can be read.
func (f Format) Built() bool { return f.read != nil }

// Formats lists every format, built or not, in the order in which they are shown.
var Formats = []Format{
	{Name: "single_turn", Times: true, read: readSingleTurn},
	{Name: "multi_turn", Times: true, read: readMultiTurn},
	{Name: trace.MooncakeType, Trace: true, Times: true, read: readMooncake},
	{Name: "raw_payload", read: readRawPayload, verbatim: true, mode: conversation.MessageArrayWithResponses},
	{Name: "inputs_json", read: readInputs, verbatim: true, whole: true, mode: conversation.MessageArrayWithResponses},
	{Name: "random_pool"},
	{Name: "bailian_trace", Trace: true, Times: true},
	{Name: "burst_gpt_trace", Trace: true, Times: true},
	{Name: "sagemaker_data_capture", Trace: true, Times: true},
	{Name: "baseten_trace", Trace: true, Times: true},
	{Name: "weka_trace", Trace: true, Times: true},
	{Name: "tracelab", Trace: true, Times: true},
	{Name: "dag_jsonl"},
	{Name: "speed_bench"},
}

// speedBench is the beginning of the names of the speed_bench family; the rest names a split.
const speedBench = "speed_bench_"

// Find returns the format of a name.
func Find(name string) (Format, bool) {
	if strings.HasPrefix(name, speedBench) {
		name = "speed_bench"
	}
	for _, f := range Formats {
		if f.Name == name {
			return f, true
		}
	}
	return Format{}, false
}

// names lists the formats for an error message.
func names() string {
	var list []string
	for _, f := range Formats {
		list = append(list, f.Name)
	}
	return strings.Join(list, ", ")
}

// CheckType tells whether a format name given by the user is one that can be read.
func CheckType(name string) error {
	f, ok := Find(name)
	switch {
	case !ok:
		return fmt.Errorf("--custom-dataset-type %q: must be one of %s", name, names())
	case f.read == nil:
		return fmt.Errorf("--custom-dataset-type %s: not built yet", name)
	}
	return nil
}
