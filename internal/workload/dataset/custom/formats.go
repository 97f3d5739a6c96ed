// Package custom reads the user's own files. It detects the format of a file, parses its rows and builds conversations.
package custom

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/base/plugin"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/trace"
)

// Format is one file format.
type Format struct {
	Name  string
	Trace bool // recorded traffic
	Times bool // rows or their turns may have timestamps
	// Unpromoted: timestamps make the run a schedule only if the user asks for it, because every recording starts at zero again.
	Unpromoted bool
	// Yields: timestamps make the run a schedule only if no flag sets a pace, even if the user named the type.
	Yields    bool
	Folder    bool // the path may be a folder
	Sampled   bool // the user sets how many conversations are drawn from the rows
	Unscaled  bool // recorded traffic that cannot be rescaled
	Agents    bool // recorded agents
	OwnBlocks bool // the file states the tokens per hash id, or has no hash ids
	Columns   bool // a table whose columns hold texts
	Prompts   bool // only prompts: plain text or a table column
	Column    bool // the user may name the key or column of the prompts
	// read reads the file; nil = its rows are never stored in memory.
	read func(l *loader, path string) error
	// grow reads a large file during the run if its conversations are used in file order; nil = not supported.
	grow func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error)
	layout
	// glance scans the file before the run; nil = it has JSON rows, whose times and turns are in the keys timestamp and turns.
	glance func(l *FileSample, path string) error
	// rank and fits detect the format by the first row. Of the formats that fit, the lowest rank wins. nil = not detected by a row.
	rank int
	fits func(row) bool
	// heads detects the format by a first line that is not a JSON object; nil = not detected that way.
	heads func(line string) bool
	// verbatim: request bodies are sent exactly as in the file.
	verbatim bool
	external bool              // a plug-in reads the file
	mode     conversation.Mode // "" = the global default
	corpus   string            // default text that prompts are cut from; "" = the global default
}

// layout describes how the rows of a format can stay in their file. Without a supply they cannot.
type layout struct {
	supply func(f Format, files []string) (supply, error)
	// entry parses the row of a line. keys are the allowed keys, nil = any.
	entry func(l *loader, r *rows.Row) entry
	keys  []string
	// files lists the files of a folder.
	files func(path string) ([]string, error)
	// sessions: a row is a whole session with its id.
	sessions bool
	// gather groups rows into sessions after all were read; nil = by session_id.
	gather func() grouper
	// join builds a conversation from the turns of its rows; nil = the turns are the conversation.
	join func(o *Options, c *conversation.Conversation)
	// liftsSystem: a leading system turn becomes the system message.
	liftsSystem bool
	// timeIn finds the time in a line of the file; nil = as in JSON rows.
	timeIn func() func(line []byte) (at float64, ok bool)
}

// Single reports whether a row of the format is one request.
func (f Format) Single() bool { return f.Name == singleType || f.Prompts }

// Verbatim reports whether request bodies are sent exactly as in the file.
func (f Format) Verbatim() bool { return f.verbatim }

// hasJSONRows reports whether files of the format have JSON rows.
func (f Format) hasJSONRows() bool {
	return f.heads == nil && f.Name != inputsType && !f.Agents && !f.Prompts
}

// Names of formats that the detection uses.
const (
	inputsType = "inputs_json"
	poolType   = "random_pool"

	basetenType = "baseten_trace"
	singleType  = "single_turn"
)

// codingCorpus is the name of the programming corpus.
const codingCorpus = "coding"

// Formats lists every format in display order.
var Formats = []Format{
	{Name: singleType, Times: true, Column: true, read: readSingleTurn, layout: singleTurnLayout, rank: 13, fits: func(r row) bool {
		return hasContent(r) || slices.ContainsFunc(promptKeys, func(key string) bool { return r.is(key, "string") })
	}},
	{Name: "multi_turn", Times: true, read: readMultiTurn, layout: multiTurnLayout, rank: 6, fits: func(r row) bool { return r.is("turns", "array") }},
	{Name: trace.MooncakeType, Trace: true, Times: true, read: readMooncake, layout: mooncakeLayout, rank: 10, fits: func(r row) bool {
		return r.any("input_length", "text_input") || r.is("payload", "object") ||
			r.is("messages", "array") && r.any("timestamp", "delay", "output_length", "session_id", "hash_ids", "message_mode")
	}},
	{Name: "raw_payload", Folder: true, read: readRawPayload, layout: payloadLayout, glance: glancePayload, verbatim: true, mode: conversation.MessageArrayWithResponses, rank: 12, fits: func(r row) bool {
		return r.is("messages", "array") && !r.has("conversation_id") && !r.is("data", "array")
	}},
	{Name: inputsType, read: readInputs, layout: inputsLayout, glance: glanceInputs, verbatim: true, mode: conversation.MessageArrayWithResponses},
	{Name: poolType, Folder: true, Sampled: true, Column: true, read: readPool, glance: glancePool},
	{Name: "bailian_trace", Trace: true, Times: true, read: readBailian, layout: bailianLayout, mode: conversation.MessageArrayWithResponses, rank: 7, fits: func(r row) bool {
		return r.has("chat_id", "timestamp", "input_length", "output_length")
	}},
	{Name: "burst_gpt_trace", Trace: true, Times: true, Yields: true, read: readBurst, layout: burstLayout, glance: glanceBurst, heads: isBurst},
	{Name: "sagemaker_data_capture", Trace: true, Times: true, Yields: true, Folder: true, read: readSageMaker, layout: captureLayout, glance: glanceSageMaker,
		rank: 3, fits: func(r row) bool { return r.has("captureData") }},
	{Name: basetenType, Trace: true, Times: true, Unscaled: true, Columns: true, OwnBlocks: true, layout: callLayout, glance: glanceBaseten, heads: isBaseten,
		mode: conversation.MessageArrayWithResponses},
	{Name: "weka_trace", Trace: true, Times: true, Unpromoted: true, Unscaled: true, Agents: true, OwnBlocks: true, Folder: true, read: readWeka, grow: openStreamedAgents((*Agents).read), glance: glanceWeka,
		corpus: codingCorpus, rank: 4, fits: func(r row) bool { return r.is("requests", "array") && r.any("hash_id_scope", "block_size") }},
	{Name: "tracelab", Trace: true, Times: true, Unscaled: true, Agents: true, read: readTraceLab, grow: openStreamedAgents((*Agents).readRounds), glance: glanceTraceLab, corpus: codingCorpus,
		rank: 8, fits: func(r row) bool { return r.has("round_index", "input_tokens_total") }},
	{Name: "dag_jsonl", read: readGraph, layout: graphLayout, rank: 5, fits: func(r row) bool {
		return r.is("turns", "array") && r.turnsWithMessages() || r.any("spawns", "orchestrator", "rounds")
	}},
	{Name: linesType, Prompts: true, read: readPrompts(eachLine), glance: glancePrompts(eachLine)},
	{Name: tableType, Prompts: true, Column: true, read: readPrompts(eachCell), glance: glancePrompts(eachCell)},
	{Name: "speed_bench", read: readSpeedBench, layout: questionLayout, glance: glanceQuestions, rank: 9, fits: func(r row) bool { return r.has("question_id", "category", "messages") }},
}

// contentKeys are the keys of the texts and media of a row.
var contentKeys = []string{"text", "texts", "image", "images", "audio", "audios", "video", "videos", "token_ids"}

// promptKeys are names that other programs use for the text of a row.
var promptKeys = []string{"prompt", "question", "instruction", "input", "query"}

// hasContent reports whether a row has texts or media.
func hasContent(r row) bool {
	return r.any(contentKeys...)
}

// Find returns the format with this name: a built-in one or that of a plug-in.
func Find(name string) (Format, bool) {
	if strings.HasPrefix(name, speedBench) {
		name = "speed_bench"
	}
	i := slices.IndexFunc(Formats, func(f Format) bool { return f.Name == name })
	if f, ok, _ := chosen(name, i >= 0); ok { // CheckType has the error
		return f, true
	}
	if i < 0 {
		return Format{}, false
	}
	return Formats[i], true
}

// names lists the formats for an error message.
func names() string {
	var list []string
	for _, f := range Formats {
		list = append(list, f.Name)
	}
	return strings.Join(append(list, plugin.Installed().Names(Category, list)...), ", ")
}

// CheckType returns an error if the user gave an unknown format name.
func CheckType(name string) error {
	if _, ok := Find(name); !ok {
		if _, _, err := chosen(name, false); err != nil {
			return err
		}
		return fmt.Errorf("type %q%s: must be one of %s", name, guess(name, strings.Split(names(), ", ")), names())
	}
	return nil
}
