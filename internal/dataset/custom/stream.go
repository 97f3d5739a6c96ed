package custom

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
	"aiperf/internal/dataset/weka"
)

// Entry is a row of a file as it lies there: turns, or a record of traffic.
type Entry struct {
	Where   string            // path:line
	Session string            // "" = one of its own
	Mode    conversation.Mode // how much of its session goes with a request; "" = the global default
	Turns   []conversation.Turn
	Record  *trace.Record // of a trace; Turns is nil then
	Block   int           // tokens behind its hash ids; 0 = those of mooncake_trace
	Agents  *weka.Trace   // that it is a request of; nil = no agents were recorded
	First   bool          // of that trace
	Tokens  int           // of the prompt, as a table of completions states them; 0 = not told
	Took    float64       // ms until the whole answer, likewise
	// Category is that of a question of speed_bench, whose turns are sent one by one, a leading system message too; "" = of no such file.
	Category string
}

// streamed are the formats whose rows can be taken one by one, and how.
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

// Stream calls f for every row of a file, in the order of the file. What is needed to tell a row's session or time is read first (bailian_trace,
// sagemaker_data_capture, baseten_trace); rounds in any order (tracelab) are read whole. name "" = the format is recognised. It returns the format, and the warnings that there are; its error has a line for each of the
// first ten faults.
func Stream(path, name string, o Options, f func(Entry) error) (format string, warnings []string, err error) {
	if name == "" {
		if name, err = detect(path, o.InputColumn); err != nil {
			return "", nil, worded(err, o.Spell)
		}
	}
	known, ok := Find(name)
	if !ok {
		return name, nil, CheckType(name)
	}
	if o.InputColumn != "" && !known.Column {
		return name, nil, columnless(path, known, o.Spell)
	}
	read := streamed[known.Name]
	if isFolder(path) && !known.Agents && known.Name != "sagemaker_data_capture" {
		return name, nil, fmt.Errorf("%s: a folder of %s is not read row by row; a file is", path, known.Name)
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

// streamSageMaker reads captured requests, whose times count from the first of them.
func streamSageMaker(l *loader, path string, f func(Entry)) error {
	files, err := captured(path)
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
		rec.InputLength = 0 // it only informs: the messages are there
		f(Entry{Where: rec.Where, Record: rec})
	})
}

// streamBailian reads chats, whose sessions their lines of parents tell.
func streamBailian(l *loader, path string, f func(Entry)) error {
	var chats byChat // only who follows whom is kept
	var lines column[uint32]
	err := l.rows(path, bailianKeys, func(r *rows.Row) {
		chats.chats.add(bailianChat(r).chat)
		lines.add(uint32(r.Line.Number))
	})
	if err != nil || l.faults.Count() > 0 {
		return err
	}
	sessions := chats.roots()
	turns := map[int64]int32{}
	for i, id := range sessions {
		c, _ := chats.chats.at(i)
		if before := turns[id]; c.turn < before {
			line, _ := lines.at(i)
			l.faults.Add(fmt.Sprintf("%s:%d", path, line), "turn", "%d stands behind turn %d of its session: sort the rows by turn", c.turn, before)
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

// streamConversation reads conversations as their format does.
func streamConversation(read func(*loader, string) error) func(*loader, string, func(Entry)) error {
	return func(l *loader, path string, f func(Entry)) error {
		l.sink = func(c conversation.Conversation) {
			if len(c.Turns) > 0 { // else it is a fault
				f(Entry{Where: c.Turns[0].Origin, Session: c.ID, Mode: conversation.MessageArrayWithResponses, Turns: c.Turns})
			}
		}
		return read(l, path)
	}
}

// streamGraph reads sessions one by one. What they start is noted and not looked for.
func streamGraph(l *loader, path string, f func(Entry)) error {
	seen := map[string]bool{}
	return l.rows(path, nil, func(r *rows.Row) {
		e := graphEntry(l, r)
		if seen[e.ID] {
			r.Fault("session_id", "%q is there twice", e.ID)
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

// streamAgents reads recorded agents: a row a request. Ids of other traces are others.
func streamAgents(read func(*Agents, string) error) func(*loader, string, func(Entry)) error {
	return func(l *loader, path string, f func(Entry)) error {
		a := l.Agents()
		a.options.Recorded, a.options.Split = true, true
		last := int64(0)
		a.sink = func(recording *weka.Trace, list []weka.Session) {
			ids, first := map[int64]int64{}, true
			for i := range list {
				var before, known []int64 // ids of the turn before, as recorded and as ours: most turns begin with them
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
