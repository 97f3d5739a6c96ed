package trace

import (
	"bufio"
	"io"
	"math"
	"strconv"

	"aiperf/internal/base/jsontext"
)

// AppendRow appends a record as a row of the mooncake format, without a line end. The order is timestamp, input_length, output_length, hash_ids,
// session_id, delay, then the rest. session is the session id, "" = none.
func AppendRow(dst []byte, rec *Record, session string) []byte {
	o := jsontext.Open(dst)
	if rec.Timestamp != nil {
		o.Key("timestamp")
		o.B = AppendNumber(o.B, *rec.Timestamp)
	}
	if rec.InputLength > 0 {
		o.Int("input_length", int64(rec.InputLength))
	}
	if rec.OutputLength != nil {
		o.Int("output_length", int64(*rec.OutputLength))
	}
	if rec.HashIDs != nil {
		o.Key("hash_ids")
		o.B = jsontext.AppendInts(o.B, rec.HashIDs)
	}
	o.TextIfAny("session_id", session)
	if rec.Delay != nil {
		o.Key("delay")
		o.B = AppendNumber(o.B, *rec.Delay)
	}
	if rec.Text != nil {
		o.Text("text_input", *rec.Text)
	}
	if rec.Messages != nil {
		o.Key("messages")
		o.B = append(o.B, '[')
		for i, m := range rec.Messages {
			if i > 0 {
				o.B = append(o.B, ',')
			}
			o.B = append(o.B, m...)
		}
		o.B = append(o.B, ']')
	}
	if rec.Delta {
		o.Text("message_mode", "delta")
	}
	o.TextIfAny("context_mode", string(rec.Mode))
	for _, one := range []struct {
		key string
		raw []byte
	}{{"tools", rec.Tools}, {"payload", rec.Payload}, {"extra", rec.Extra}} {
		if one.raw != nil {
			o.Raw(one.key, one.raw)
		}
	}
	return o.Close()
}

// AppendNumber appends a number. A whole number has no decimal point.
func AppendNumber(dst []byte, f float64) []byte {
	if f == math.Trunc(f) && math.Abs(f) < 1<<53 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	return jsontext.AppendFloat(dst, f)
}

// InOrder lists the records of sessions in the order of grouped, the list that they were grouped from.
func InOrder(grouped []Record, sessions []Session) []*Record {
	known, next := map[string]int{}, make([]int, len(sessions))
	begun := 0
	list := make([]*Record, 0, len(grouped))
	for i := range grouped {
		id := grouped[i].Session
		at, seen := known[id]
		if id == "" || !seen {
			at = begun
			begun++
			known[id] = at
		}
		list = append(list, &sessions[at].Records[next[at]])
		next[at]++
	}
	return list
}

// WriteRows writes records, one per line.
func WriteRows(w io.Writer, records []*Record) error {
	out := bufio.NewWriterSize(w, 1<<16)
	var line []byte
	for _, rec := range records {
		line = append(AppendRow(line[:0], rec, rec.Session), '\n')
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
	return out.Flush()
}
