// Package public opens published data sets: which repository, which of its files, and what a row becomes (public-datasets.json and
// datasets.md, section 2.1, of the contract).
package public

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/dataset/table"
	"aiperf/internal/hub"
)

// Options say which set is read and how.
type Options struct {
	custom.Options
	Name      string   // of the set
	Subset    string   // configuration of the repository, "" = that of the set
	Repo      string   // of a set that names none
	Filters   []string // "key=value"
	Entries   int      // conversations that the user asked for, 0 = not said
	Requests  int      // largest number of requests of a phase, 0 = not said
	Scheduled bool     // requests leave when the set says
	Hub       hub.Config
	Cache     string                           // directory of files that come from no repository
	Count     func() (func(string) int, error) // opens what counts tokens; asked for by sets that choose rows by their length
}

// Set is a published data set.
type Set struct {
	Name     string
	Repo     string // of the hub
	Revision string // "" = main
	Config   string // configuration of the repository, "" = the only or default one
	Split    string
	Modality string // what its prompts hold: text, image, audio, video
	Gated    bool   // its terms must be accepted
	Streamed bool   // only as many rows are read as conversations are needed
	Filters  bool   // rows can be filtered
	Sessions bool   // rows are sessions of many requests
	Agents   bool   // recorded agents

	columns []string // that must be there
	whole   bool     // all columns are read, not only those
	mode    conversation.Mode
	// open makes what turns rows into conversations.
	open func(b *builder) (convert, error)
	// read replaces reading the files of the split; nil = they are read.
	read func(ctx context.Context, b *builder) error
}

// convert turns a row into conversations, none if the row is left out.
type convert func(r row) error

// row is a row and its place.
type row struct {
	table.Row
	where string // "OWNER/NAME/FILE row N"
}

// builder is a set on its way to be a dataset.
type builder struct {
	*custom.Loader
	asked   Options
	set     *Set
	rows    int
	taken   int            // rows that gave a conversation or more
	full    bool           // there are as many conversations as the user asked for
	done    func() error   // after the last row, nil = nothing
	skipped map[string]int // reason -> rows
}

// skip leaves a row out.
func (b *builder) skip(reason string) error {
	b.skipped[reason]++
	return nil
}

// enough tells whether as many rows were taken as a streamed set needs.
func (b *builder) enough() bool { return b.full || b.set.Streamed && b.taken >= b.wanted() }

// wanted is the number of rows that a streamed set needs: one for each request, or as many as the user said; for sessions the other way
// round (datasets.md, section 2).
func (b *builder) wanted() int {
	first, second := b.asked.Requests, b.asked.Entries
	if b.set.Sessions {
		first, second = second, first
	}
	switch {
	case first > 0:
		return first
	case second > 0:
		return second
	}
	return unsaid
}

// unsaid is the number of rows that a streamed set needs where nobody says it.
const unsaid = 100

// Open reads a set.
func Open(ctx context.Context, o Options) (dataset.Dataset, error) {
	set := Find(o.Name)
	if set == nil {
		return nil, Check(o.Name)
	}
	if len(o.Filters) > 0 && !set.Filters {
		return nil, fmt.Errorf("%s: %s takes no filters", o.Spell.As("datasets.main.filters"), set.Name)
	}
	b := &builder{asked: o, set: set, skipped: map[string]int{}}
	info := dataset.Info{Type: set.Name, Stated: true, Trace: set.Agents, Mode: set.mode}
	d, err := custom.Collect(set.Name, o.Options, info, func(l *custom.Loader) error {
		b.Loader = l
		if set.read != nil {
			return set.read(ctx, b)
		}
		return b.fromHub(ctx)
	})
	var from *hub.Error
	if errors.As(err, &from) {
		from.Spell = o.Spell
	}
	if err != nil {
		return nil, fmt.Errorf("public dataset %s: %w", set.Name, err)
	}
	return d, nil
}

// fromHub reads the files of the set's split.
func (b *builder) fromHub(ctx context.Context) error {
	s := *b.set
	if s.Repo == "" {
		s.Repo = b.asked.Repo
	}
	if s.Repo == "" {
		return errors.New(b.Spell.Text("no repository is named ({datasets.main.hf_weka_dataset})"))
	}
	next, err := s.open(b)
	if err != nil {
		return err
	}
	rev, config := s.Revision, s.Config
	if rev == "" {
		rev = "main"
	}
	if b.asked.Subset != "" {
		config = b.asked.Subset
	}
	b.asked.Hub.Content = hub.Datasets
	snapshot, err := b.asked.Hub.Snapshot(ctx, s.Repo, rev)
	if err != nil {
		return err
	}
	names, err := files(ctx, snapshot, config, s.Split)
	if err != nil {
		return fmt.Errorf("%s: %w", s.Repo, err)
	}
	if !s.Streamed {
		if _, err := snapshot.Files(ctx, func(n string) bool { return slices.Contains(names, n) }); err != nil {
			return err
		}
	}
	for _, name := range names {
		path, err := snapshot.File(ctx, name)
		if err != nil {
			return err
		}
		if err := b.file(ctx, path, s.Repo+"/"+name, next); err != nil {
			return err
		}
		if b.enough() {
			break
		}
	}
	if b.done != nil {
		return b.done()
	}
	if b.enough() {
		return nil
	}
	return b.left()
}

// file reads one file. name stands in errors.
func (b *builder) file(ctx context.Context, path, name string, next convert) error {
	columns := b.set.columns
	if b.set.whole {
		columns = nil
	}
	in, err := table.Open(path, columns...)
	if err != nil {
		return err
	}
	defer in.Close()
	for n := 0; ; n++ {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return b.complete(name, in.Columns(), n)
		}
		if err == nil && n == 0 && !isJSON(path) {
			err = b.complete(name, in.Columns(), 1)
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			return err
		}
		b.rows++
		before := b.Len()
		if err := next(row{r, fmt.Sprintf("%s row %d", name, n)}); err != nil {
			return err
		}
		if b.Len() > before {
			b.taken++
		}
		if b.enough() {
			return nil
		}
	}
}

// isJSON tells whether a file's columns are known only when its rows are.
func isJSON(path string) bool { return strings.Contains(path, ".json") }

// complete checks that a file of so many rows has the columns that the set needs.
func (b *builder) complete(name string, columns []string, rows int) error {
	for _, c := range b.set.columns {
		if rows > 0 && !slices.Contains(columns, c) {
			return fmt.Errorf("%s has no column %s, only %s", name, c, strings.Join(columns, ", "))
		}
	}
	return nil
}

// left tells which rows were left out; it is an error if no conversation is there.
func (b *builder) left() error {
	var why []string
	for _, reason := range slices.Sorted(maps.Keys(b.skipped)) {
		why = append(why, fmt.Sprintf("%d %s", b.skipped[reason], reason))
	}
	list := strings.Join(why, ", ")
	switch {
	case b.Len() > 0:
		if list != "" {
			b.Warn("%s: rows skipped: %s", b.set.Name, list)
		}
		return nil
	case list == "":
		return fmt.Errorf("%s: no row", b.set.Repo)
	}
	return fmt.Errorf("%s: no row is left, all %d were skipped: %s", b.set.Repo, b.rows, list)
}
