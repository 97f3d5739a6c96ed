package custom

import (
	"encoding/json"
	"fmt"
	"io"

	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/setting"
)

// Pool are rows that stand in a configuration, not in a file.
type Pool struct {
	Name string // "" = the only one
	Rows []json.RawMessage
	// Where names the place of a row in messages; nil = records[i], or records.NAME[i].
	Where func(i int) string
}

// inlineNamespace is the namespace of hash ids in rows of a configuration: the Python tool hashes the name of their file, which is None.
const inlineNamespace = "dc937b59892604f5"

// inlinePool stands for a path where the rows of a configuration are read.
const inlinePool = "<inline>"

// place names the list that a pool stands in, for messages.
func (p Pool) place() string {
	if p.Name == "" {
		return "records"
	}
	return "records." + p.Name
}

// row names the place of a row, for messages.
func (p Pool) row(i int) string {
	if p.Where != nil {
		return p.Where(i)
	}
	return fmt.Sprintf("%s[%d]", p.place(), i)
}

// placeOf names a file, or the list that stands for it in a configuration, for messages.
func placeOf(pools []Pool, file string) string {
	for _, p := range pools {
		if p.Name == file || p.Name == "" {
			return p.place()
		}
	}
	return file
}

// lines calls f for every line of a file, or for every row of a pool of the configuration.
func (l *loader) lines(path string, raw io.Writer, f func(rows.Line) bool) error {
	for _, p := range l.Records {
		if p.Name == path || p.Name == "" {
			return rows.Listed(p.row, p.Rows, raw, f)
		}
	}
	return rows.ReadBytes(path, raw, f)
}

// pools lists what is drawn from: the file itself, the files of a folder, or the pools of the configuration.
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

// LookAt tells the format of rows that stand in a configuration and counts them, as LookInto does for a file. Where it returns nothing to look
// at, the rows cannot be read at all.
func LookAt(pools []Pool, named string, as setting.Spell) (*Look, error) {
	l := &Look{named: named}
	if named == "" {
		named = "single_turn"
	}
	var known bool
	if l.Format, known = Find(named); !known {
		return nil, CheckType(named)
	}
	if err := inlinable(l.Format, pools, as); err != nil {
		return nil, err // there are no rows to look for faults in
	}
	see := func(r *rows.Row) { l.add(r.Where, glance(r)) }
	if l.Format.Sampled {
		see = func(r *rows.Row) { l.add(r.Where, glimpse{turns: 1}) }
	}
	var faults dataset.Faults
	for _, p := range pools {
		if err := rows.Listed(p.row, p.Rows, io.Discard, rows.Each(&faults, see)); err != nil {
			return l, err
		}
	}
	return l, faults.Err()
}

// inlinable tells whether rows of a format can stand in a configuration.
func inlinable(f Format, pools []Pool, as setting.Spell) error {
	switch {
	case !f.rowed():
		return fmt.Errorf("%s: files of type %s hold no rows that could stand in a configuration", as.As("datasets.main.records"), f.Name)
	case !f.Sampled && len(pools) > 0 && pools[0].Name != "":
		return fmt.Errorf("%s: lists by name are for type %s, not for %s", as.As("datasets.main.records"), poolType, f.Name)
	}
	return nil
}

// RowKeys are the keys of the rows of a format that can stand in a configuration, and those of the turns in them; nil = rows have no turns.
type RowKeys struct {
	Format    string
	Row, Turn []string
}

// KeysOfRows are those of every such format whose rows have no others.
func KeysOfRows() (list []RowKeys) {
	turns := map[string][]string{"multi_turn": turnKeys, "dag_jsonl": graphTurnKeys}
	for _, f := range Formats {
		keys := f.layout.keys
		if f.Name == poolType {
			keys = poolKeys
		}
		if f.rowed() && keys != nil {
			list = append(list, RowKeys{f.Name, keys, turns[f.Name]})
		}
	}
	return list
}
