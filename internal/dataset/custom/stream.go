package custom

import (
	"fmt"
	"io"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// Entry is a row of a file as it lies there: turns, or a record of traffic.
type Entry struct {
	Where   string // path:line
	Session string // "" = one of its own
	Turns   []conversation.Turn
	Record  *trace.Record // of a trace; Turns is nil then
}

// streamed are the formats whose rows can be taken one by one, and how.
var streamed = map[string]func(l *loader, path string, f func(Entry)) error{
	"single_turn":            streamTurns("single_turn"),
	poolType:                 streamTurns(poolType),
	"multi_turn":             streamConversations,
	trace.MooncakeType:       streamMooncake,
	"bailian_trace":          streamTraffic("bailian_trace"),
	"burst_gpt_trace":        streamBurst,
	"raw_payload":            streamPayloads,
	"sagemaker_data_capture": streamTraffic("sagemaker_data_capture"),
}

// Streamed lists the formats that Stream reads.
func Streamed() string {
	var list []string
	for _, f := range Formats {
		if streamed[f.Name] != nil {
			list = append(list, f.Name)
		}
	}
	return strings.Join(list, ", ")
}

// Stream calls f for every row of a file, in the order of the file (of sessions, for bailian_trace and sagemaker_data_capture, which are read
// whole). name "" = the format is recognised. It returns the format, and the warnings that there are; its error has a line for each of the
// first ten faults.
func Stream(path, name string, o Options, f func(Entry) error) (format string, warnings []string, err error) {
	if name == "" {
		if name, err = detect(path); err != nil {
			return "", nil, worded(err, o.Spell)
		}
	}
	known, ok := Find(name)
	if !ok {
		return name, nil, CheckType(name)
	}
	read := streamed[known.Name]
	if read == nil || isFolder(path) {
		return name, nil, fmt.Errorf("%s: %s is not read row by row from one file; those that are: %s", path, known.Name, Streamed())
	}
	l := &loader{Options: o, set: &Dataset{root: o.Root}, media: newLibrary()}
	l.DelayRatio = 1
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
	return func(l *loader, path string, f func(Entry)) error {
		return l.rows(path, turnKeys, func(r *rows.Row) {
			checkType(r, name)
			e := Entry{Where: r.Where, Turns: []conversation.Turn{l.readTurn(r)}}
			if id := r.String("session_id"); id != nil {
				e.Session = *id
			}
			f(e)
		})
	}
}

func streamConversations(l *loader, path string, f func(Entry)) error {
	return l.rows(path, []string{"type", "session_id", "turns"}, func(r *rows.Row) {
		checkType(r, "multi_turn")
		e := Entry{Where: r.Where, Turns: l.turns(r)}
		if id := r.String("session_id"); id != nil {
			e.Session = *id
		}
		f(e)
	})
}

func streamMooncake(l *loader, path string, f func(Entry)) error {
	return l.rows(path, trace.MooncakeKeys, func(r *rows.Row) {
		rec := trace.Mooncake(r)
		f(Entry{Where: r.Where, Session: rec.Session, Record: &rec})
	})
}

// streamTraffic reads traffic whose sessions or times only the whole file tells: it is in memory.
func streamTraffic(name string) func(*loader, string, func(Entry)) error {
	return func(l *loader, path string, f func(Entry)) error {
		t, info, err := ReadTraffic(path, Options{Spell: l.Spell, Root: l.Root, Type: name, DelayRatio: 1})
		l.set.info.Warnings = info.Warnings
		if err != nil {
			return err
		}
		for i := range t.Sessions {
			for k := range t.Sessions[i].Records {
				rec := &t.Sessions[i].Records[k]
				f(Entry{Where: rec.Where, Session: t.Sessions[i].ID, Record: rec})
			}
		}
		return nil
	}
}

func streamBurst(_ *loader, path string, f func(Entry)) error {
	t := burstTable{path: path}
	return t.read(func(rec trace.Record) { f(Entry{Where: rec.Where, Record: &rec}) })
}

func streamPayloads(l *loader, path string, f func(Entry)) error {
	return l.lines(path, io.Discard, func(line rows.Line) bool {
		if rows.Parse(line.Where(), line.Text, &l.faults) != nil {
			f(Entry{Where: line.Where(), Turns: []conversation.Turn{{RawPayload: line.Text, Origin: line.Where()}}})
		}
		return true
	})
}
