package custom

import (
	"bufio"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aiperf/internal/dataset/rows"
	"aiperf/internal/dataset/trace"
)

// burstColumns are the columns of a BurstGPT table that are read: seconds, tokens, tokens.
var burstColumns = []string{"Timestamp", "Request tokens", "Response tokens"}

// isBurst tells a BurstGPT table by its header.
func isBurst(line string) bool {
	for _, c := range burstColumns {
		if !strings.Contains(line, c) {
			return false
		}
	}
	return true
}

// readBurst reads a BurstGPT table: every row is a conversation of one prompt of its length.
func readBurst(l *loader, path string) error {
	var records []trace.Record
	t := burstTable{path: path}
	err := t.read(func(rec trace.Record) {
		if l.rowNo++; l.rowNo == 1 {
			l.set.info.FirstHasTime = true
		}
		if l.Limits.Take(&rec, &l.set.info) {
			records = append(records, rec)
		}
	})
	if err != nil {
		return err
	}
	if t.skipped > 0 {
		l.warn("%s: no three numbers (time, tokens from 1 to 10000000): left out, as are %d rows in all", t.firstSkipped, t.skipped)
	}
	return l.replay(records, MooncakeBlock)
}

// glanceBurst counts the rows of a BurstGPT table.
func glanceBurst(l *Look, path string) error {
	t := burstTable{path: path}
	return t.read(func(rec trace.Record) { l.add(rec.Where, glimpse{1, true}) })
}

// burstTable is a BurstGPT table that is being read.
type burstTable struct {
	path         string
	columns      [3]int
	skipped      int // rows that cannot be sent
	firstSkipped string
}

// read calls f for every row that can be sent.
func (t *burstTable) read(f func(trace.Record)) error {
	file, err := rows.Open(t.path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	bound := &bounded{source: file, left: longestRecord}
	in := bufio.NewReader(bound)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		_, _ = in.Discard(3) // they are in the buffer
	}
	table := csv.NewReader(in)
	table.FieldsPerRecord, table.ReuseRecord = -1, true
	line := 0 // where the row before ends, or its last column begins
	for header := true; ; header = false {
		bound.left = longestRecord
		cells, err := table.Read()
		switch {
		case errors.Is(err, io.EOF) && header:
			return fmt.Errorf("%s: no records", t.path)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return t.broken(err, line+1)
		}
		first, _ := table.FieldPos(0)
		line, _ = table.FieldPos(len(cells) - 1)
		if header {
			if err := t.head(cells); err != nil {
				return err
			}
			continue
		}
		t.row(fmt.Sprintf("%s:%d", t.path, first), cells, f)
	}
}

// head finds the columns.
func (t *burstTable) head(cells []string) error {
	var missing []string
	for i, name := range burstColumns {
		t.columns[i] = slices.IndexFunc(cells, func(c string) bool { return strings.TrimSpace(c) == name })
		if t.columns[i] < 0 {
			missing = append(missing, name)
		}
	}
	if missing != nil {
		return fmt.Errorf("%s:1: columns %s are missing; the table has %s", t.path, strings.Join(missing, ", "), printable(cells))
	}
	return nil
}

// printable lists cells for a message, without what no terminal should get, and not without end.
func printable(cells []string) string {
	text := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, strings.Join(cells, ", "))
	if len(text) > 200 {
		text = strings.ToValidUTF8(text[:200], "") + "…"
	}
	return text
}

// row reads a row, or counts it as one that cannot be sent.
func (t *burstTable) row(where string, cells []string, f func(trace.Record)) {
	var v [3]float64
	ok := true
	for i, at := range t.columns {
		n := math.NaN()
		if at < len(cells) {
			if parsed, err := strconv.ParseFloat(strings.TrimSpace(cells[at]), 64); err == nil {
				n = parsed
			}
		}
		ok = ok && !math.IsNaN(n) && !math.IsInf(n, 0) && (i == 0 || n >= 1 && n <= trace.MaxInput && n == math.Trunc(n))
		v[i] = n
	}
	if !ok {
		if t.skipped++; t.firstSkipped == "" {
			t.firstSkipped = where
		}
		return
	}
	ms, out := v[0]*1000, int(v[2])
	f(trace.Record{Where: where, Timestamp: &ms, InputLength: int(v[1]), OutputLength: &out})
}

// broken tells of a table whose quotes do not match, in the row that begins at a line.
func (t *burstTable) broken(err error, line int) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s:%d: column %d: %w", t.path, bad.Line, bad.Column, bad.Err)
	}
	return fmt.Errorf("%s:%d: %w", t.path, line, err)
}

// longestRecord bounds a row of a table, bytes: a quote that is never closed must not take the whole file into memory.
const longestRecord = 1 << 20

// bounded gives at most left bytes more.
type bounded struct {
	source io.Reader
	left   int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row is longer than %d KiB (a quote that is not closed?)", longestRecord>>10)
	}
	n, err := b.source.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
