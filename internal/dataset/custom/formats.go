// Package custom reads the user's own files: it finds out which format a file has, reads its rows and makes conversations of them.
package custom

import (
	"fmt"
	"slices"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// Format is one file format.
type Format struct {
	Name  string
	Trace bool // recorded traffic
	Times bool // rows, or their turns, may have timestamps
	// Unpromoted: times make the run a schedule only when the user asks for it.
	Unpromoted bool
	Folder     bool // a folder may be given in place of a file
	Sampled    bool // as many conversations are drawn from the rows as the user asks for
	Unscaled   bool // of recorded traffic: it cannot be rescaled
	Agents     bool // recorded agents
	OwnBlocks  bool // it tells how many tokens a hash id stands for, or has none
	Columns    bool // a table of columns with texts
	Prompts    bool // prompts and nothing else: plain text, or a column of a table
	Column     bool // the user may name the key or the column of the prompts
	// read reads the file; nil = its rows are never kept in memory.
	read func(l *loader, path string) error
	// grow reads a large file while it is used, where its conversations are used as they stand; nil = no such.
	grow func(path string, o Options, info dataset.Info, corpus string) (dataset.Dataset, error)
	layout
	// glance counts what a look into the file has to know; nil = it is rows of JSON, with keys timestamp and turns if any.
	glance func(l *Look, path string) error
	// rank and fits tell the format by the first row: of the formats that it fits, the one of the lowest rank wins. nil = not by a row.
	rank int
	fits func(row) bool
	// heads tells the format by a first line that is no JSON object; nil = not by that.
	heads func(line string) bool
	// verbatim: the bodies are sent as they stand in the file.
	verbatim bool
	mode     conversation.Mode // "" = the global default
	corpus   string            // that prompts are cut from where nobody chose another, "" = the standard one
}

// layout is how rows of a format may stay in their file; without a supply they may not.
type layout struct {
	supply func(f Format, files []string) (supply, error)
	// entry reads a row of a line and keys are what it may have, nil = anything.
	entry func(l *loader, r *rows.Row) entry
	keys  []string
	// files lists those of a folder.
	files func(path string) ([]string, error)
	// sessions: a row is a whole session and has its id.
	sessions bool
	// gather brings rows together when all are known; nil = those of one session_id are.
	gather func() gathering
	// join makes a conversation of the turns of its rows; nil = that is what they are.
	join func(o *Options, c *conversation.Conversation)
	// lifts: a leading system turn becomes the system message.
	lifts bool
	// timeIn finds the times in the lines of a file; nil = those of JSON rows.
	timeIn func() func(line []byte) (at float64, ok bool)
}

// Single tells whether a row of the format is one request.
func (f Format) Single() bool { return f.Name == singleType || f.Prompts }

// Verbatim tells whether bodies are sent as they stand in the file.
func (f Format) Verbatim() bool { return f.verbatim }

// rowed tells whether files of the format are rows of JSON.
func (f Format) rowed() bool {
	return f.heads == nil && f.Name != inputsType && !f.Agents && !f.Prompts
}

// Names of formats that detection speaks of.
const (
	inputsType = "inputs_json"
	poolType   = "random_pool"

	basetenType = "baseten_trace"
	singleType  = "single_turn"
)

// codingCorpus is the name of the text of programmers.
const codingCorpus = "coding"

// Formats lists every format in the order in which they are shown.
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
	{Name: "burst_gpt_trace", Trace: true, Times: true, Unpromoted: true, read: readBurst, layout: burstLayout, glance: glanceBurst, heads: isBurst},
	{Name: "sagemaker_data_capture", Trace: true, Times: true, Unpromoted: true, Folder: true, read: readSageMaker, layout: captureLayout, glance: glanceSageMaker,
		rank: 3, fits: func(r row) bool { return r.has("captureData") }},
	{Name: basetenType, Trace: true, Times: true, Unscaled: true, Columns: true, OwnBlocks: true, layout: callLayout, glance: glanceBaseten, heads: isBaseten,
		mode: conversation.MessageArrayWithResponses},
	{Name: "weka_trace", Trace: true, Times: true, Unpromoted: true, Unscaled: true, Agents: true, OwnBlocks: true, Folder: true, read: readWeka, grow: growAgents((*Agents).read), glance: glanceWeka,
		corpus: codingCorpus, rank: 4, fits: func(r row) bool { return r.is("requests", "array") && r.any("hash_id_scope", "block_size") }},
	{Name: "tracelab", Trace: true, Times: true, Unscaled: true, Agents: true, read: readTraceLab, grow: growAgents((*Agents).readRounds), glance: glanceTraceLab, corpus: codingCorpus,
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

// promptKeys are what other programs call the text of a row.
var promptKeys = []string{"prompt", "question", "instruction", "input", "query"}

// hasContent tells whether a row has texts or media.
func hasContent(r row) bool {
	return r.any(contentKeys...)
}

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
	if _, ok := Find(name); !ok {
		return fmt.Errorf("type %q%s: must be one of %s", name, guess(name, strings.Split(names(), ", ")), names())
	}
	return nil
}
