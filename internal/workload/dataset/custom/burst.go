package custom

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// burstColumns are the columns that are read from a BurstGPT table, in seconds, tokens and tokens.
var burstColumns = []string{"Timestamp", "Request tokens", "Response tokens"}

// isBurst recognises a BurstGPT table by its header.
func isBurst(line string) bool {
	for _, c := range burstColumns {
		if !strings.Contains(line, c) {
			return false
		}
	}
	return true
}

// readBurst reads a BurstGPT table. Every row becomes a conversation with one prompt of the given length.
func readBurst(l *loader, path string) error {
	var records []trace.Record
	t := burstTable{path: path}
	err := t.read(func(_ rows.Line, rec trace.Record) bool {
		l.burstRow()
		if l.Limits.Take(&rec, &l.set.info) {
			records = append(records, rec)
		}
		return true
	})
	if err != nil {
		return err
	}
	l.warnSkipped(&t)
	return l.replay(records, MooncakeBlock)
}

// burstRow counts a row and reports progress.
func (l *loader) burstRow() {
	if l.rowNo++; l.rowNo == 1 {
		l.set.info.FirstHasTime = true
	}
	if l.Reading != nil && l.rowNo%rowsPerReport == 0 {
		l.Reading(l.rowNo)
	}
}

// warnSkipped warns of skipped rows.
func (l *loader) warnSkipped(t *burstTable) {
	if t.skipped > 0 {
		l.warn("%s: row skipped: it needs three numbers (a time and two token counts from 1 to 10000000); rows skipped in total: %d", t.firstSkipped, t.skipped)
	}
}

// glanceBurst counts the rows of a BurstGPT table. It stops early in a large one, whose rows are checked when they are used.
func glanceBurst(l *FileSample, path string) error {
	t := burstTable{path: path}
	large, cut := isLarge(path), false
	err := t.read(func(at rows.Line, _ trace.Record) bool {
		l.add(at.Where(), rowSample{1, true})
		cut = large
		return !cut
	})
	if cut {
		l.Records, l.Turns = 0, 0
	}
	return err
}

var burstLayout = layout{supply: openBurst, timeIn: burstTimes}

// burstTimes returns a function that finds the time in a line of a table.
func burstTimes() func(line []byte) (at float64, ok bool) {
	column := -1
	return func(line []byte) (float64, bool) {
		cells := bytes.Split(line, []byte(","))
		if column < 0 {
			column = max(0, slices.IndexFunc(cells, func(c []byte) bool {
				return string(bytes.TrimSpace(bytes.TrimPrefix(c, []byte("\xef\xbb\xbf")))) == burstColumns[0]
			}))
			return 0, false
		}
		if column >= len(cells) {
			return 0, false
		}
		at, err := strconv.ParseFloat(string(bytes.TrimSpace(cells[column])), 64)
		return at, err == nil
	}
}

// burstSupply is a BurstGPT table whose rows stay in the file.
type burstSupply struct {
	table burstTable
	file  *rows.RereadableFile
}

func openBurst(_ Format, files []string) (supply, error) {
	file, err := rows.OpenRereadable(files[0])
	if err != nil {
		return nil, err
	}
	return &burstSupply{burstTable{path: files[0]}, file}, nil
}

func (s *burstSupply) each(l *loader, take func(rows.Line, *entry), more func() bool) error {
	err := s.table.records(s.file.From(0), true, func(at rows.Line, rec trace.Record) bool {
		l.burstRow()
		e := l.recordEntry(rec, MooncakeBlock)
		take(at, &e)
		return more()
	})
	l.warnSkipped(&s.table)
	return err
}

func (s *burstSupply) reread(l *loader, at rowstore.Run, skip int) (e entry, err error) {
	t := burstTable{path: s.table.path, columns: s.table.columns}
	err = t.records(s.file.From(at.Offset), false, func(from rows.Line, rec trace.Record) bool {
		if skip--; skip < 0 {
			rec.Where = fmt.Sprintf("%s:%d", t.path, int(at.Line)+from.Number-t.first)
			e = l.recordEntry(rec, MooncakeBlock)
		}
		return skip >= 0
	})
	if err == nil && skip >= 0 {
		err = io.ErrUnexpectedEOF
	}
	return e, err
}

// Close closes the file.
func (s *burstSupply) Close() error { return s.file.Close() }

// burstTable is the state of reading a BurstGPT table.
type burstTable struct {
	path         string
	columns      [3]int
	first        int // line of the first valid row
	skipped      int // invalid rows
	firstSkipped string
}

// read calls f for every valid row, with its position, until f returns false.
func (t *burstTable) read(f func(rows.Line, trace.Record) bool) error {
	file, err := rows.Open(t.path, io.Discard)
	if err != nil {
		return err
	}
	defer file.Close()
	return t.records(file, true, f)
}

// records reads from any row of the table on. headed = the first line holds the column names.
func (t *burstTable) records(from io.Reader, headed bool, f func(rows.Line, trace.Record) bool) error {
	bound := &limitedReader{source: from, remaining: longestRecord}
	in := bufio.NewReader(bound)
	begin := int64(0)
	if mark, _ := in.Peek(3); headed && string(mark) == "\xef\xbb\xbf" {
		n, _ := in.Discard(3) // the bytes are in the buffer, so this cannot fail
		begin = int64(n)
	}
	table := csv.NewReader(in)
	table.FieldsPerRecord, table.ReuseRecord = -1, true
	line := 0 // line where the previous row ended
	for header := headed; ; header = false {
		bound.remaining = longestRecord
		offset := begin + table.InputOffset()
		cells, err := table.Read()
		switch {
		case errors.Is(err, io.EOF) && header:
			return fmt.Errorf("%s: no records", t.path)
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return brokenTable(t.path, err, line+1)
		}
		first, _ := table.FieldPos(0)
		line, _ = table.FieldPos(len(cells) - 1)
		if header {
			if err := t.head(cells); err != nil {
				return err
			}
			continue
		}
		at := rows.Line{Path: t.path, Number: first, Offset: offset}
		if rec, ok := t.row(at.Where(), cells); ok {
			if t.first == 0 {
				t.first = first
			}
			if !f(at, rec) {
				return nil
			}
		}
	}
}

// head finds the columns by their names.
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

// printable lists cells for a message. It replaces control characters and limits the length.
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

// row reads a row. It returns false if the row is invalid, and counts it.
func (t *burstTable) row(where string, cells []string) (rec trace.Record, ok bool) {
	var v [3]float64
	ok = true
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
		return rec, false
	}
	ms, out := v[0]*1000, int(v[2])
	return trace.Record{Where: where, Timestamp: &ms, InputLength: int(v[1]), OutputLength: &out}, true
}

// brokenTable returns the error for malformed CSV. line is where the row begins.
func brokenTable(path string, err error, line int) error {
	var bad *csv.ParseError
	if errors.As(err, &bad) {
		return fmt.Errorf("%s:%d: column %d: %w", path, bad.Line, bad.Column, bad.Err)
	}
	return fmt.Errorf("%s:%d: %w", path, line, err)
}

// longestRecord is the maximum length of a CSV row, in bytes. Without it, a quote that is never closed would read the whole file into memory.
const longestRecord = 1 << 20

// limitedReader returns at most left more bytes.
type limitedReader struct {
	source    io.Reader
	remaining int
}

func (b *limitedReader) Read(p []byte) (int, error) {
	if b.remaining <= 0 {
		return 0, fmt.Errorf("a row is longer than %d KiB; is a closing quote missing?", longestRecord>>10)
	}
	n, err := b.source.Read(p[:min(len(p), b.remaining)])
	b.remaining -= n
	return n, err
}
