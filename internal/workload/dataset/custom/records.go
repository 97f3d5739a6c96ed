package custom

import (
	"encoding/json"
	"fmt"
	"io"

	"aiperf/internal/base/setting"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
)

// Pool is a list of rows given in a configuration instead of a file.
type Pool struct {
	Name string // "" = the only list
	Rows []json.RawMessage
	// Where returns the position of a row for messages; nil = records[i] or records.NAME[i].
	Where func(i int) string
}

// inlineNamespace is the namespace of hash ids in rows of a configuration. The Python tool hashes the name of their file, which is None.
const inlineNamespace = "dc937b59892604f5"

// inlinePool replaces the path for rows of a configuration.
const inlinePool = "<inline>"

// place returns the name of the list, for messages.
func (p Pool) place() string {
	if p.Name == "" {
		return "records"
	}
	return "records." + p.Name
}

// row returns the position of a row, for messages.
func (p Pool) row(i int) string {
	if p.Where != nil {
		return p.Where(i)
	}
	return fmt.Sprintf("%s[%d]", p.place(), i)
}

// placeOf returns the name of a file, or of the configuration list that replaces it, for messages.
func placeOf(pools []Pool, file string) string {
	for _, p := range pools {
		if p.Name == file || p.Name == "" {
			return p.place()
		}
	}
	return file
}

// lines calls f for every line of a file, or for every row of a list in the configuration.
func (l *loader) lines(path string, raw io.Writer, f func(rows.Line) bool) error {
	for _, p := range l.Records {
		if p.Name == path || p.Name == "" {
			return rows.Listed(p.row, p.Rows, raw, f)
		}
	}
	return rows.ReadBytes(path, raw, f)
}

// pools lists the names to draw from: the file itself, the files of a folder, or the lists of the configuration.
func (l *loader) pools(path string) ([]string, error) {
	if l.Records == nil {
		return pools(path)
	}
	var names []string
	for _, p := range l.Records {
		if p.Name == "" {
			return []string{inlinePool}, nil
		}
		names = append(names, p.Name)
	}
	return names, nil
}

// SampleRecords detects the format of rows in a configuration and counts them, like SampleFile for a file. A nil sample means that the rows cannot be read at
// all.
func SampleRecords(pools []Pool, named string, as setting.Spell) (*FileSample, error) {
	l := &FileSample{named: named}
	if named == "" {
		named = "single_turn"
	}
	var known bool
	if l.Format, known = Find(named); !known {
		return nil, CheckType(named)
	}
	if err := inlinable(l.Format, pools, as); err != nil {
		return nil, err // there are no rows that could have errors
	}
	see := func(r *rows.Row) { l.add(r.Where, glance(r)) }
	if l.Format.Sampled {
		see = func(r *rows.Row) { l.add(r.Where, rowSample{turns: 1}) }
	}
	var faults dataset.Faults
	for _, p := range pools {
		if err := rows.Listed(p.row, p.Rows, io.Discard, rows.Each(&faults, see)); err != nil {
			return l, err
		}
	}
	return l, faults.Err()
}

// inlinable returns an error if rows of a format cannot be given in a configuration.
func inlinable(f Format, pools []Pool, as setting.Spell) error {
	switch {
	case !f.hasJSONRows():
		return fmt.Errorf("%s: the type %s cannot be written in a configuration file; use a data file", as.As("datasets.main.records"), f.Name)
	case !f.Sampled && len(pools) > 0 && pools[0].Name != "":
		return fmt.Errorf("%s: named lists need type %s, not %s", as.As("datasets.main.records"), poolType, f.Name)
	}
	return nil
}

// RowKeys are the allowed keys of a format's rows in a configuration, and of their turns. A nil Turn = rows have no turns.
type RowKeys struct {
	Format    string
	Row, Turn []string
}

// KeysOfRows lists the keys of every format that has a fixed set of keys and can be given in a configuration.
func KeysOfRows() (list []RowKeys) {
	turns := map[string][]string{"multi_turn": turnKeys, "dag_jsonl": graphTurnKeys}
	for _, f := range Formats {
		keys := f.layout.keys
		if f.Name == poolType {
			keys = poolKeys
		}
		if f.hasJSONRows() && keys != nil {
			list = append(list, RowKeys{f.Name, keys, turns[f.Name]})
		}
	}
	return list
}
