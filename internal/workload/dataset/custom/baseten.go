package custom

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/sorting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/table"
)

// Columnar holds the options of a trace in columns (baseten_trace).
type Columnar struct {
	SessionColumn string   // column with the session of a row; "" = provided_session_id
	Share         float64  // fraction of the sessions that are used; 0 = all
	IdleCap       *float64 // ms; longest pause in the whole trace; nil = as recorded
	Speedup       float64  // times and pauses are divided by it; 0 = 1
	ClosedLoop    bool     // later requests of a session wait for the previous answer, and then as long as the user did
	Strict        bool     // every row is a separate session
	NoHints       bool     // bodies carry no hash ids
	FreeLength    bool     // bodies do not ask for the recorded length as the minimum
}

// Names of the columns of a Baseten trace.
const (
	basetenTime    = "timestamp_start_unix_ms"
	basetenSession = "provided_session_id"
	poorSession    = "poor_man_session_id"
)

// basetenNeeded are the required columns. basetenUsed are optional.
var (
	basetenNeeded = []string{basetenTime, "prompt", "input_tokens", "output_tokens"}
	basetenUsed   = []string{"duration_e2e_ms", "total_hashes", "block_size"}
)

// First bytes of a Parquet file, of an Arrow file and of an Arrow stream.
const (
	parquetHead = "PAR1"
	arrowHead   = "ARROW1"
	streamHead  = "\xff\xff\xff\xff"
)

// isBaseten recognises a Baseten trace by the first bytes of its file.
func isBaseten(line string) bool {
	return strings.HasPrefix(line, parquetHead) || strings.HasPrefix(line, arrowHead) || strings.HasPrefix(line, streamHead)
}

// tableName returns the path with the extension that fits the first bytes of the file.
func tableName(path string) (string, error) {
	head := make([]byte, 6)
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return "", err
	}
	defer file.Close()
	n, err := io.ReadFull(file, head)
	if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", fmt.Errorf("%s: %w", path, err)
	}
	switch head = head[:n]; {
	case bytes.HasPrefix(head, []byte(parquetHead)):
		return path + ".parquet", nil
	case bytes.HasPrefix(head, []byte(arrowHead)), bytes.HasPrefix(head, []byte(streamHead)):
		return path + ".arrow", nil
	case n == 0:
		return "", fmt.Errorf("%s: %w", path, rows.ErrNoRecords)
	}
	return "", fmt.Errorf("%s: not a Parquet or Arrow file; it begins with %q", path, head)
}

// call is a row of a Baseten trace.
type call struct {
	session  string
	row      int
	at       float64 // ms
	service  float64 // ms; service time of the server
	prompt   string
	in, out  int
	hints    []byte // body members, each with a comma before it
	original int    // tokens of the recorded answer
}

// openColumns opens a table and checks that it has the columns of a Baseten trace. It also returns the column with the session ids, "" = none.
func openColumns(path, chosen string, more ...string) (in table.Reader, session string, err error) {
	name, err := tableName(path)
	if err != nil {
		return nil, "", err
	}
	first, err := table.OpenAs(path, name, basetenTime)
	if err != nil {
		return nil, "", err
	}
	all := first.Columns()
	_ = first.Close() // only its column names were needed
	var missing []string
	for _, c := range basetenNeeded {
		if !slices.Contains(all, c) {
			missing = append(missing, c)
		}
	}
	if missing != nil {
		return nil, "", fmt.Errorf("%s: columns %s are missing; the table has %s", path, strings.Join(missing, ", "), strings.Join(all, ", "))
	}
	other := poorSession
	if chosen == "" {
		chosen = basetenSession
	}
	if chosen == poorSession {
		other = basetenSession
	}
	for _, c := range []string{chosen, other} {
		if slices.Contains(all, c) {
			session = c
			break
		}
	}
	columns := slices.Clone(more)
	if session != "" {
		columns = append(columns, session)
	}
	in, err = table.OpenAs(path, name, slices.DeleteFunc(columns, func(c string) bool { return !slices.Contains(all, c) })...)
	return in, session, err
}

// eachCall calls f for every row of a sampled session, until f returns false.
func (l *loader) eachCall(path string, sampled *sample, f func(*call) bool) error {
	in, column, err := openColumns(path, l.Columnar.SessionColumn, append(slices.Clone(basetenNeeded), basetenUsed...)...)
	if err != nil {
		return err
	}
	defer in.Close()
	return eachRow(in, func(n int, row table.Row) bool {
		if !sampled.includes(row[column], n) {
			return true
		}
		c, ok := l.basetenRow(row, column, n, rowOf(path, n))
		return (!ok || f(&c)) && !l.faults.Enough()
	})
}

// rowOf returns the position of a row of a table, for messages.
func rowOf(path string, n int) string { return path + ": row " + strconv.Itoa(n) }

// eachRow calls f for every row of a table, until f returns false.
func eachRow(in table.Reader, f func(n int, row table.Row) bool) error {
	for n := 0; ; n++ {
		row, err := in.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil || !f(n, row) {
			return err
		}
	}
}

// sample holds the sampled sessions and the start time of the whole trace.
type sample struct {
	zero     float64 // ms
	all      bool
	sessions map[string]bool
	single   map[int]bool // sampled rows without a session
}

func (s *sample) includes(session any, row int) bool {
	if s.all {
		return true
	}
	if session == nil {
		return s.single[row]
	}
	return s.sessions[plainText(session)]
}

// sampleSessions reads the times and sessions of a table and draws the sessions to use. It draws in the order of their first rows.
func (l *loader) sampleSessions(path string) (*sample, error) {
	in, column, err := openColumns(path, l.Columnar.SessionColumn, basetenTime)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	s := &sample{zero: math.Inf(1), all: l.Columnar.Share <= 0 || l.Columnar.Share >= 1 || column == "", sessions: map[string]bool{}, single: map[int]bool{}}
	type start struct {
		id string
		at float64
	}
	first := map[string]float64{}
	var single []int
	err = eachRow(in, func(n int, row table.Row) bool {
		at, ok := wholeCell(row[basetenTime])
		if !ok {
			return true // this row is rejected when it is read in full
		}
		s.zero = min(s.zero, at)
		switch id := row[column]; {
		case s.all:
		case id == nil:
			single = append(single, n)
		default:
			key := plainText(id)
			if known, seen := first[key]; !seen || at < known {
				first[key] = at
			}
		}
		return true
	})
	if err != nil || s.all {
		return s, err
	}
	starts := make([]start, 0, len(first))
	for id, at := range first {
		starts = append(starts, start{id, at})
	}
	sorting.Sort(starts, func(a, b start) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.id, b.id)) })
	draw := l.Root.Stream("dataset.loader.baseten_trace.session_sampling")
	for _, st := range starts {
		if draw.Float64() < l.Columnar.Share {
			s.sessions[st.id] = true
		}
	}
	if len(s.sessions) == 0 && len(starts) > 0 {
		s.sessions[starts[draw.Below(len(starts))].id] = true
	}
	for _, n := range single {
		if draw.Float64() < l.Columnar.Share {
			s.single[n] = true
		}
	}
	return s, nil
}

// plainText formats an id as text.
func plainText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	}
	return fmt.Sprint(v)
}

// wholeCell returns the non-negative integer of a cell.
func wholeCell(v any) (float64, bool) {
	switch v := v.(type) {
	case int64:
		return float64(v), v >= 0
	case float64:
		return v, v >= 0 && v == math.Trunc(v)
	}
	return 0, false
}

// basetenRow reads a row. It returns false if the row has an error or the limits exclude it.
func (l *loader) basetenRow(row table.Row, column string, n int, where string) (call, bool) {
	c := call{row: n}
	before := l.faults.Count()
	number := func(name string) float64 {
		v, ok := wholeCell(row[name])
		if !ok {
			l.faults.Add(where, name, "must be a whole number, at least 0, got %.40v", row[name])
		}
		return v
	}
	c.at = number(basetenTime)
	c.in, c.original = int(number("input_tokens")), int(number("output_tokens"))
	c.out = max(1, c.original)
	text, ok := row["prompt"].(string)
	if !ok {
		l.faults.Add(where, "prompt", "must be a text, got %.40v", row["prompt"])
	}
	c.prompt = text
	if row["duration_e2e_ms"] != nil {
		c.service = number("duration_e2e_ms")
	}
	if id := row[column]; column != "" && id != nil {
		c.session = plainText(id)
	}
	if !l.Columnar.NoHints {
		c.hints = l.hints(row, where)
	}
	if m := l.Limits.MaxISL; m > 0 && c.in > m {
		l.set.info.TooLong++
		return c, false
	}
	if m := l.Limits.MaxOSL; m > 0 && c.out > m {
		c.out = m
		l.set.info.Capped++
	}
	return c, l.faults.Count() == before
}

// hints returns body members that tell a router which prefix the prompt shares with others.
func (l *loader) hints(row table.Row, where string) []byte {
	var out []byte
	if list, ok := row["total_hashes"].([]any); ok && len(list) > 0 {
		out = append(out, `,"hash_ids":[`...)
		for i, v := range list {
			id, ok := v.(int64)
			if !ok {
				l.faults.Add(where, fmt.Sprintf("total_hashes[%d]", i), "must be a whole number, got %.40v", v)
				return nil
			}
			if i > 0 {
				out = append(out, ',')
			}
			out = strconv.AppendInt(out, id, 10)
		}
		out = append(out, ']')
	}
	if row["block_size"] != nil {
		n, ok := wholeCell(row["block_size"])
		if !ok || n < 1 {
			l.faults.Add(where, "block_size", "must be a whole number, at least 1, got %.40v", row["block_size"])
		}
		out = strconv.AppendInt(append(out, `,"block_size":`...), int64(n), 10)
	}
	return out
}

// completion returns the turn of a call.
func (o *Options) completion(path string, c *call) conversation.Turn {
	t := conversation.Turn{MaxTokens: &c.out, Timestamp: &c.at, Origin: rowOf(path, c.row), Parts: conversation.Texts("text", c.prompt)}
	body := []byte{}
	if !o.Columnar.FreeLength {
		body = strconv.AppendInt(append(body, `,"min_tokens":`...), int64(c.out), 10)
	}
	if body = append(body, c.hints...); len(body) > 0 {
		body[0] = '{'
		t.ExtraBody = json.RawMessage(append(body, '}'))
	}
	return t
}

// glanceBaseten counts the rows of the table.
func glanceBaseten(l *FileSample, path string) error {
	in, _, err := openColumns(path, "", basetenTime)
	if err != nil {
		return err
	}
	defer in.Close()
	return eachRow(in, func(n int, row table.Row) bool {
		_, timed := wholeCell(row[basetenTime])
		l.add(rowOf(path, n), rowSample{1, timed})
		return true
	})
}
