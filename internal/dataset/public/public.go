// Package public opens published data sets: which repository, which of its files, and what a row becomes (public-datasets.json and
// datasets.md, section 2.1, of the contract).
package public

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/custom"
	"aiperf/internal/dataset/table"
	"aiperf/internal/hub"
)

// Cache is where files of published sets lie that come from no repository, below the working directory, as the Python tool has it.
var Cache = filepath.Join(".cache", "aiperf", "datasets")

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
	Rows     int    // of the split, as last known, see About; 0 = not known, or among facts
	Licence  string // likewise

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
	early   bool           // rows are read while they are used

	// Set by locate.
	repo     string
	snapshot *hub.Snapshot
	names    []string // files of the split
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
	d, err := b.dataset(ctx)
	var from *hub.Error
	if errors.As(err, &from) {
		from.Spell = o.Spell
	}
	if err != nil {
		return nil, fmt.Errorf("public dataset %s: %w", set.Name, err)
	}
	return d, nil
}

// dataset reads the set: all of it, or, where it is large and its rows are used as they stand, a little ahead of their use.
func (b *builder) dataset(ctx context.Context) (dataset.Dataset, error) {
	set, o := b.set, b.asked
	info := dataset.Info{Type: set.Name, Stated: true, Trace: set.Agents, Mode: set.mode}
	if set.plain() && o.Early && o.Fetch == nil && o.Context.User == 0 && o.Context.PrefixLength == 0 && o.Context.PrefixPool == 0 {
		if err := b.locate(ctx); err != nil {
			return nil, err
		}
		if large, err := b.large(); err != nil || large {
			if err != nil {
				return nil, err
			}
			b.early = true
			return custom.Grow(ctx, set.Name, o.Options, info, func(ctx context.Context, l *custom.Loader) error {
				b.Loader = l
				return b.fromHub(ctx)
			})
		}
	}
	return custom.Collect(set.Name, o.Options, info, func(l *custom.Loader) error {
		b.Loader = l
		if set.read != nil {
			return set.read(ctx, b)
		}
		return b.fromHub(ctx)
	})
}

// plain tells whether rows become conversations each by itself, with so little work that it can be done beside the load.
func (s *Set) plain() bool { return s.read == nil && !s.Agents && !s.Sessions && s.Modality == "text" }

// locate finds the files of the set's split.
func (b *builder) locate(ctx context.Context) error {
	if b.snapshot != nil {
		return nil
	}
	s, o := b.set, b.asked
	if b.repo = s.Repo; b.repo == "" {
		b.repo = o.Repo
	}
	if b.repo == "" {
		return errors.New(o.Spell.Text("no repository is named ({datasets.main.hf_weka_dataset})"))
	}
	rev, config := s.Revision, s.Config
	if rev == "" {
		rev = "main"
	}
	if o.Subset != "" {
		config = o.Subset
	}
	o.Hub.Content = hub.Datasets
	snapshot, err := o.Hub.Snapshot(ctx, b.repo, rev)
	if err != nil {
		return err
	}
	if b.names, err = files(ctx, snapshot, config, s.Split); err != nil {
		return fmt.Errorf("%s: %w", b.repo, err)
	}
	b.snapshot = snapshot
	return nil
}

// Sizes in bytes. Variables for tests.
var (
	// largeSet is the size from which a set is not read whole before its first request.
	largeSet int64 = 64 << 20
	// wholeFile is the size up to which a file is put into the cache as a whole, though only some of its rows may be needed.
	wholeFile int64 = 8 << 20
)

// large tells whether the files of the split are so long that the first request should not wait for all.
func (b *builder) large() (bool, error) {
	sum := int64(0)
	for _, name := range b.names {
		_, size, err := b.snapshot.Local(name)
		if err != nil {
			return false, err
		}
		sum += max(0, size)
	}
	return sum >= largeSet, nil
}

// fromHub reads the files of the set's split.
func (b *builder) fromHub(ctx context.Context) error {
	s := b.set
	next, err := s.open(b)
	if err != nil {
		return err
	}
	if err := b.locate(ctx); err != nil {
		return err
	}
	if !s.Streamed && !b.early {
		if _, err := b.snapshot.Files(ctx, func(n string) bool { return slices.Contains(b.names, n) }); err != nil {
			return err
		}
	}
	for _, name := range b.names {
		if err := b.file(ctx, name, next); err != nil {
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

// open opens a file of the split: where it lies on this machine, else piece by piece where it is long and not all of it may be needed, else
// brought into the cache.
func (b *builder) open(ctx context.Context, name string, columns []string) (table.Reader, func(), error) {
	there, size, err := b.snapshot.Local(name)
	if err != nil {
		return nil, nil, err
	}
	if (b.set.Streamed || b.early) && !there && size > wholeFile {
		if remote := b.snapshot.Remote(ctx, name); remote != nil {
			in, err := table.Read(b.repo+"/"+name, name, remote, size, columns...)
			if !hub.HasNoRanges(err) {
				return in, func() { b.notice("%s: %s of %s read", name, hub.Size(remote.Fetched()), hub.Size(size)) }, err
			}
		}
	}
	path, err := b.snapshot.File(ctx, name)
	if err != nil {
		return nil, nil, err
	}
	in, err := table.Open(path, columns...)
	return in, func() {}, err
}

// notice tells the user something that is not known before the run.
func (b *builder) notice(format string, args ...any) {
	if b.asked.Hub.Notice != nil {
		b.asked.Hub.Notice(fmt.Sprintf(format, args...))
	}
}

// file reads one file.
func (b *builder) file(ctx context.Context, file string, next convert) error {
	columns := b.set.columns
	if b.set.whole {
		columns = nil
	}
	in, told, err := b.open(ctx, file, columns)
	if err != nil {
		return err
	}
	defer in.Close()
	defer told()
	name := b.repo + "/" + file
	for n := 0; ; n++ {
		r, err := in.Next()
		if errors.Is(err, io.EOF) {
			return b.complete(name, in.Columns(), n)
		}
		if err == nil && n == 0 && !isJSON(file) {
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
		switch {
		case list == "":
		case b.early:
			b.notice("%s: rows skipped: %s", b.set.Name, list)
		default:
			b.Warn("%s: rows skipped: %s", b.set.Name, list)
		}
		return nil
	case list == "":
		return fmt.Errorf("%s: no row", b.set.Repo)
	}
	return fmt.Errorf("%s: no row is left, all %d were skipped: %s", b.set.Repo, b.rows, list)
}
