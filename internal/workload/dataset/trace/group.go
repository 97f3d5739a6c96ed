package trace

import (
	"fmt"

	"aiperf/internal/base/setting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// Limits select the records to use.
type Limits struct {
	Start, End *float64 // ms on the clock of the trace, both included; records without a timestamp pass
	MaxISL     int      // records with longer inputs are skipped; 0 = no limit
	MaxOSL     int      // output lengths above it are lowered to it; 0 = no limit
}

// Inside reports whether a timestamp is in the window.
func (l Limits) Inside(timestamp *float64) bool {
	return timestamp == nil || (l.Start == nil || *timestamp >= *l.Start) && (l.End == nil || *timestamp <= *l.End)
}

// Window formats the window for messages. as names the settings.
func (l Limits) Window(as setting.Spell) string {
	show := func(v *float64) string {
		if v == nil {
			return "open"
		}
		return fmt.Sprintf("%g ms", *v)
	}
	return fmt.Sprintf("%s %s, %s %s", as.As("phases.profiling.start_offset"), show(l.Start), as.As("phases.profiling.end_offset"), show(l.End))
}

// Take reports whether a record is within the limits. If not, it counts the record in info.
func (l Limits) Take(rec *Record, info *dataset.Info) bool {
	switch {
	case !l.Inside(rec.Timestamp):
		info.OutsideWindow++
		return false
	case l.MaxISL > 0 && rec.InputLength > l.MaxISL:
		info.TooLong++
		return false
	}
	return true
}

// Cap lowers the output lengths that are above the limit.
func (l Limits) Cap(records []Record, info *dataset.Info) {
	for i := range records {
		if n := records[i].OutputLength; l.MaxOSL > 0 && n != nil && *n > l.MaxOSL {
			records[i].OutputLength = &l.MaxOSL
			info.Capped++
		}
	}
}

// Session is the list of requests in one conversation, in file order.
type Session struct {
	ID      string
	Records []Record
}

// Group groups records by session id, in the order of their first appearance. newID returns the id for a record without one.
func Group(records []Record, newID func() string) []Session {
	var sessions []Session
	place := map[string]int{}
	for _, rec := range records {
		id := rec.Session
		if id == "" {
			id = newID()
		}
		at, known := place[id]
		if !known {
			at = len(sessions)
			place[id] = at
			sessions = append(sessions, Session{ID: id})
		}
		sessions[at].Records = append(sessions[at].Records, rec)
	}
	return sessions
}

// Check adds an error for a session that mixes ways of giving its requests, for example literal messages and generated prompts.
func (s Session) Check(faults *dataset.Faults) {
	first := &s.Records[0]
	for i := range s.Records[1:] {
		rec := &s.Records[i+1]
		if a, b := first.Way(), rec.Way(); a != b {
			faults.Add(rec.Where, b, "session %q uses %s in %s and this key here; use one of the two for the whole session", s.ID, a, first.Where)
			return
		}
		if rec.Mode != first.Mode {
			faults.Add(rec.Where, "context_mode", "session %q has %q in %s and %q here; all rows of a session must have the same value", s.ID, first.Mode, first.Where, rec.Mode)
			return
		}
	}
}

// Way returns the field that specifies the request.
func (r *Record) Way() string {
	switch {
	case r.Delta:
		return "message_mode delta"
	case r.Messages != nil:
		return "messages"
	case r.Payload != nil:
		return "payload"
	}
	return "prompt"
}

// Mode returns how much history a request of the session carries; "" = default of the format. Requests with literal messages or bodies carry their
// whole history themselves.
func (s Session) Mode() conversation.Mode {
	switch first := &s.Records[0]; {
	case first.Mode != "":
		return first.Mode
	case first.Delta:
		return conversation.DeltasWithoutResponses
	case first.Messages != nil || first.Payload != nil:
		return conversation.MessageArrayWithResponses
	}
	return ""
}

// CheckWindow adds an error for a record that needs earlier requests, because a window could exclude these.
func (l Limits) CheckWindow(rec *Record, faults *dataset.Faults) {
	if rec.Delta && (l.Start != nil || l.End != nil) {
		faults.Add(rec.Where, "message_mode", "delta: a time window would cut off the history; remove the window")
	}
}

// CheckBlocks adds an error for a record whose hash ids stand for more tokens than its input has. setting names the block size in the error.
func CheckBlocks(rec *Record, block int, setting string, faults *dataset.Faults) {
	if n := len(rec.HashIDs); n > 0 {
		if last := rec.InputLength - (n-1)*block; last < 1 {
			faults.Add(rec.Where, "hash_ids", "%d ids of %d tokens do not match input_length %d: the last block would have %d tokens (allowed are 1 to %d; set the block size with %s)",
				n, block, rec.InputLength, last, block, setting)
		}
	}
}
