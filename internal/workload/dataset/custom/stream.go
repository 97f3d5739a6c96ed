package custom

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
	"aiperf/internal/workload/dataset/weka"
)

// Entry is the content of one row of a file: turns, or a record of traffic.
type Entry struct {
	Where   string            // path:line
	Session string            // "" = its own session
	Mode    conversation.Mode // how much of its session a request carries; "" = the global default
	Turns   []conversation.Turn
	Record  *trace.Record // record of a trace; Turns is then nil
	Block   int           // tokens per hash id; 0 = as in mooncake_trace
	Agents  *weka.Trace   // trace of the request; nil = not a recording of agents
	First   bool          // first request of that trace
	Tokens  int           // prompt tokens stated by a table of completions; 0 = unknown
	Took    float64       // ms until the answer was complete, from the same table; 0 = unknown
	// Category is the category of a speed_bench question; "" = another format. Its turns are sent one by one, including a leading system message.
	Category string
}

// streamed holds the reader of every format that can be read row by row.
var streamed = map[string]func(l *loader, path string, f func(Entry)) error{
	singleType:               streamTurns(singleType),
	linesType:                streamConversation(readPrompts(eachLine)),
	tableType:                streamConversation(readPrompts(eachCell)),
	poolType:                 streamTurns(poolType),
	"multi_turn":             streamConversations,
	trace.MooncakeType:       streamMooncake,
	"bailian_trace":          streamBailian,
	"burst_gpt_trace":        streamBurst,
	"raw_payload":            streamPayloads,
	"sagemaker_data_capture": streamSageMaker,
	inputsType:               streamConversation(readInputs),
	"dag_jsonl":              streamGraph,
	"speed_bench":            streamQuestions,
	"baseten_trace":          streamBaseten,
	"weka_trace":             streamAgents((*Agents).read),
	"tracelab":               streamAgents((*Agents).readRounds),
}

// Streamed lists the formats that Stream reads: all.
func Streamed() string { return names() }

// Stream calls f for every row of a file, in file order. If the session or the time of a row depends on other rows, these are read first
// (bailian_trace, sagemaker_data_capture, baseten_trace). Formats whose rounds may have any order are read whole (tracelab). name "" = detect the
// format. Stream returns the format and the warnings. The error has one line for each of the first ten errors.
func Stream(path, name string, o Options, f func(Entry) error) (format string, warnings []string, err error) {
	if name == "" {
		if name, err = detectAny(path, o.InputColumn, o.Programs); err != nil {
			return "", nil, withSpelling(err, o.Spell)
		}
	}
	known, ok := Find(name)
	if !ok {
		return name, nil, CheckType(name)
	}
	if o.InputColumn != "" && !known.Column {
		return name, nil, noColumnError(path, known, o.Spell)
	}
	read, own := streamed[known.Name]
	if !own || known.external {
		read = streamConversation(known.read)
	}
	if isFolder(path) && !known.Agents && known.Name != "sagemaker_data_capture" && !known.external {
		return name, nil, fmt.Errorf("%s: a folder of %s files cannot be read row by row; give one of its files", path, known.Name)
	}
	l := &loader{Options: o, set: &Dataset{root: o.Root}, media: newLibrary()}
	l.DelayRatio, l.Type = 1, name
	var failed error
	err = read(l, path, func(e Entry) {
		if failed == nil && l.faults.Count() == 0 {
			failed = f(e)
		}
	})
	switch {
	case err != nil:
	case failed != nil:
		err = failed
	default:
		err = l.faults.Err()
	}
	return known.Name, l.set.info.Warnings, err
}

// streamTurns reads rows of one turn.
func streamTurns(name string) func(*loader, string, func(Entry)) error {
	keys := turnKeys
	if name == poolType {
		keys = poolKeys
	}
	return func(l *loader, path string, f func(Entry)) error {
		return l.rows(path, keys, func(r *rows.Row) {
			checkType(r, name)
			e := Entry{Where: r.Where, Mode: conversation.MessageArrayWithResponses, Turns: []conversation.Turn{l.readTurn(r)}}
			if id := r.String("session_id"); id != nil {
				e.Session = *id
			}
			f(e)
		})
	}
}

func streamConversations(l *loader, path string, f func(Entry)) error {
	return l.rows(path, multiTurnKeys, func(r *rows.Row) {
		checkType(r, "multi_turn")
		e := Entry{Where: r.Where, Turns: l.turns(r)}
		if id := r.String("session_id"); id != nil {
			e.Session = *id
		}
		f(e)
	})
}

func streamMooncake(l *loader, path string, f func(Entry)) error {
	known, read := l.traceRows()
	return l.rows(path, known, func(r *rows.Row) {
		rec := read(r)
		f(Entry{Where: r.Where, Session: rec.Session, Mode: trace.Session{Records: []trace.Record{rec}}.Mode(), Record: &rec})
	})
}

// streamSageMaker reads captured requests. Times count from the earliest one.
func streamSageMaker(l *loader, path string, f func(Entry)) error {
	files, err := captureFiles(path)
	if err != nil {
		return err
	}
	zero := math.Inf(1)
	each := func(take func(*trace.Record)) error {
		for _, file := range files {
			err := l.rows(file, captureKeys, func(r *rows.Row) {
				if rec, ok := capture(r, &l.faults); ok {
					take(&rec)
				}
			})
			if err != nil {
				return err
			}
		}
		return nil
	}
	if err := each(func(rec *trace.Record) { zero = min(zero, *rec.Timestamp) }); err != nil || l.faults.Count() > 0 {
		return err
	}
	return each(func(rec *trace.Record) {
		*rec.Timestamp -= zero
		rec.InputLength = 0 // for information only: the messages are given
		f(Entry{Where: rec.Where, Record: rec})
	})
}

// streamBailian reads chats. Their sessions follow from the chains of parents.
func streamBailian(l *loader, path string, f func(Entry)) error {
	var chats chatGrouper // stores only the parents
	var lines rowstore.Column[uint32]
	err := l.rows(path, bailianKeys, func(r *rows.Row) {
		chats.chats.Add(bailianChat(r).chat)
		lines.Add(uint32(r.Line.Number))
	})
	if err != nil || l.faults.Count() > 0 {
		return err
	}
	sessions := chats.roots()
	turns := map[int64]int32{}
	for i, id := range sessions {
		c, _ := chats.chats.At(i)
		if before := turns[id]; c.turn < before {
			line, _ := lines.At(i)
			l.faults.Add(fmt.Sprintf("%s:%d", path, line), "turn", "%d comes after turn %d of its session: sort the rows by turn", c.turn, before)
			return nil
		}
		turns[id] = c.turn
	}
	i := 0
	return l.rows(path, bailianKeys, func(r *rows.Row) {
		c := bailianChat(r)
		if c.OutputLength != nil {
			*c.OutputLength = max(1, *c.OutputLength)
		}
		c.Session = strconv.FormatInt(sessions[i], 10)
		i++
		f(Entry{Where: r.Where, Session: c.Session, Mode: conversation.MessageArrayWithResponses, Record: &c.Record, Block: BailianBlock})
	})
}

// streamConversation reads conversations with the reader of their format.
func streamConversation(read func(*loader, string) error) func(*loader, string, func(Entry)) error {
	return func(l *loader, path string, f func(Entry)) error {
		l.sink = func(c conversation.Conversation) {
			if len(c.Turns) > 0 { // otherwise an error was recorded
				f(Entry{Where: c.Turns[0].Origin, Session: c.ID, Mode: conversation.MessageArrayWithResponses, Turns: c.Turns})
			}
		}
		return read(l, path)
	}
}

// streamGraph reads sessions one by one. It records what they start, but does not check that it exists.
func streamGraph(l *loader, path string, f func(Entry)) error {
	seen := map[string]bool{}
	return l.rows(path, nil, func(r *rows.Row) {
		e := graphEntry(l, r)
		if seen[e.ID] {
			r.Fault("session_id", "%q is used twice", e.ID)
			return
		}
		seen[e.ID] = e.ID != ""
		for _, k := range e.links {
			t := &e.Turns[k.turn]
			t.Branches = append(t.Branches, conversation.Branch{Conversation: -1, Fork: k.fork, Join: k.join, Before: k.before})
		}
		f(Entry{Where: r.Where, Session: e.ID, Mode: e.Mode, Turns: e.Turns})
	})
}

func streamQuestions(l *loader, path string, f func(Entry)) error {
	category := speedBenchCategory(l.Type)
	return l.rows(path, questionKeys, func(r *rows.Row) {
		if id, kind, turns := question(r); len(turns) > 0 && (category == "" || kind == category) {
			f(Entry{Where: r.Where, Session: id, Category: kind, Turns: turns})
		}
	})
}

func streamBaseten(l *loader, path string, f func(Entry)) error {
	sampled, err := l.sampleSessions(path)
	if err != nil {
		return err
	}
	return l.eachCall(path, sampled, func(c *call) bool {
		c.at -= sampled.zero
		t := l.completion(path, c)
		f(Entry{Where: t.Origin, Session: c.session, Mode: conversation.MessageArrayWithResponses, Turns: []conversation.Turn{t}, Tokens: c.in, Took: c.service})
		return true
	})
}

// streamAgents reads recorded agents, one entry per request. Ids are renumbered, so that traces share none.
func streamAgents(read func(*Agents, string) error) func(*loader, string, func(Entry)) error {
	return func(l *loader, path string, f func(Entry)) error {
		a := l.Agents()
		a.options.Recorded, a.options.Split = true, true
		last := int64(0)
		a.sink = func(recording *weka.Trace, list []weka.Session) {
			ids, first := map[int64]int64{}, true
			for i := range list {
				var before, known []int64 // ids of the previous turn, recorded and renumbered: most turns begin with them
				for _, t := range list[i].Turns {
					rec := trace.Record{Where: t.Where, Timestamp: t.Timestamp, Delay: t.Delay, InputLength: t.Input, OutputLength: &t.MaxTokens}
					recorded := t.HashIDs[:min(len(t.HashIDs), t.Input/list[i].Block)]
					same := 0
					for same < min(len(before), len(recorded)) && before[same] == recorded[same] {
						same++
					}
					rec.HashIDs = slices.Grow(slices.Clone(known[:same]), len(recorded)-same)
					for _, id := range recorded[same:] {
						if ids[id] == 0 {
							last++
							ids[id] = last
						}
						rec.HashIDs = append(rec.HashIDs, ids[id])
					}
					before, known = recorded, rec.HashIDs
					f(Entry{Where: t.Where, Session: list[i].ID, Mode: conversation.MessageArrayWithResponses, Record: &rec, Block: list[i].Block, Agents: recording, First: first})
					first = false
				}
			}
		}
		return read(a, path)
	}
}

func streamBurst(_ *loader, path string, f func(Entry)) error {
	t := burstTable{path: path}
	return t.read(func(_ rows.Line, rec trace.Record) bool { f(Entry{Where: rec.Where, Record: &rec}); return true })
}

func streamPayloads(l *loader, path string, f func(Entry)) error {
	return l.lines(path, io.Discard, func(line rows.Line) bool {
		if rows.Parse(line.Where(), line.Text, &l.faults) != nil {
			f(Entry{Where: line.Where(), Turns: []conversation.Turn{{RawPayload: line.Text, Origin: line.Where()}}})
		}
		return true
	})
}
