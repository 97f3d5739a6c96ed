// Package public opens published data sets. It knows their repositories and files, and converts rows to conversations (contract: public-datasets.json
// and datasets.md, section 2.1).
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

	"aiperf/internal/text/hfhub"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/custom"
	"aiperf/internal/workload/dataset/table"
)

// Cache is the directory of published files that come from no repository. It is below the working directory, like in the Python tool.
var Cache = filepath.Join(".cache", "aiperf", "datasets")

// Options select a set and how it is read.
type Options struct {
	custom.Options
	Name      string   // name of the set
	Subset    string   // configuration of the repository; "" = the one of the set
	Repo      string   // repository, for sets that name none
	Filters   []string // filters, "key=value"
	Entries   int      // number of conversations requested by the user; 0 = not given
	Requests  int      // maximum number of requests of a phase; 0 = not given
	Scheduled bool     // requests are sent at the times in the set
	Hub       hfhub.Config
	Cache     string                           // directory of files that come from no repository
	Count     func() (func(string) int, error) // returns a token counter; needed by sets that select rows by length
}

// Set is a published data set.
type Set struct {
	Name     string
	Repo     string // repository on the hub
	Revision string // "" = main
	Config   string // configuration of the repository; "" = the only or default one
	Split    string
	Modality string // content of its prompts: text, image, audio, video
	Gated    bool   // the user must accept its terms
	Streamed bool   // reads only as many rows as conversations are needed
	Filters  bool   // rows can be filtered
	Sessions bool   // rows are sessions of many requests
	Agents   bool   // recorded agents
	Rows     int    // last known number of rows in the split, see About; 0 = unknown, or given in facts
	Licence  string // last known licence; "" = unknown, or given in facts

	columns []string // required columns
	whole   bool     // all columns are read, not only the required ones
	mode    conversation.Mode
	// open returns the function that converts rows to conversations.
	open func(b *builder) (convert, error)
	// read replaces reading the files of the split; nil = the files are read.
	read func(ctx context.Context, b *builder) error
}

// convert adds the conversations of a row. It adds none if the row is skipped.
type convert func(r row) error

// row is a row with its position.
type row struct {
	table.Row
	where string // "OWNER/NAME/FILE row N"
}

// builder is the state of building a dataset from a set.
type builder struct {
	*custom.Loader
	options  Options
	set      *Set
	rows     int
	usedRows int            // rows that gave at least one conversation
	full     bool           // there are as many conversations as the user asked for
	done     func() error   // called after the last row; nil = nothing to do
	skipped  map[string]int // number of skipped rows by reason
	early    bool           // rows are read during the run

	// Set by locate.
	repo     string
	snapshot *hfhub.Snapshot
	names    []string // files of the split
}

// skip counts a skipped row.
func (b *builder) skip(reason string) error {
	b.skipped[reason]++
	return nil
}

// enough reports whether a streamed set has taken as many rows as it needs.
func (b *builder) enough() bool { return b.full || b.set.Streamed && b.usedRows >= b.neededRows() }

// neededRows returns the number of rows that a streamed set needs: the number of requests, else the number of conversations that the user gave. Sessions
// use the opposite order (datasets.md, section 2).
func (b *builder) neededRows() int {
	first, second := b.options.Requests, b.options.Entries
	if b.set.Sessions {
		first, second = second, first
	}
	switch {
	case first > 0:
		return first
	case second > 0:
		return second
	}
	return defaultWanted
}

// defaultWanted is the default number of rows of a streamed set.
const defaultWanted = 100

// Open opens a set.
func Open(ctx context.Context, o Options) (dataset.Dataset, error) {
	set := Find(o.Name)
	if set == nil {
		return nil, Check(o.Name)
	}
	if len(o.Filters) > 0 && !set.Filters {
		return nil, fmt.Errorf("%s: the dataset %s has no filters", o.Spell.As("datasets.main.filters"), set.Name)
	}
	b := &builder{options: o, set: set, skipped: map[string]int{}}
	d, err := b.dataset(ctx)
	var from *hfhub.Error
	if errors.As(err, &from) {
		from.Spell = o.Spell
	}
	if err != nil {
		return nil, fmt.Errorf("public dataset %s: %w", set.Name, err)
	}
	return d, nil
}

// dataset reads the whole set. If it is large and its rows are used in order, it reads only a little ahead of their use.
func (b *builder) dataset(ctx context.Context) (dataset.Dataset, error) {
	set, o := b.set, b.options
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

// plain reports whether each row is converted independently, and so cheaply that this can be done during the run.
func (s *Set) plain() bool { return s.read == nil && !s.Agents && !s.Sessions && s.Modality == "text" }

// locate finds the files of the set's split.
func (b *builder) locate(ctx context.Context) error {
	if b.snapshot != nil {
		return nil
	}
	s, o := b.set, b.options
	if b.repo = s.Repo; b.repo == "" {
		b.repo = o.Repo
	}
	if b.repo == "" {
		return errors.New(o.Spell.Text("the repository is missing; give it with {datasets.main.hf_weka_dataset}"))
	}
	rev, config := s.Revision, s.Config
	if rev == "" {
		rev = "main"
	}
	if o.Subset != "" {
		config = o.Subset
	}
	o.Hub.Content = hfhub.Datasets
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

// Sizes in bytes. They are variables for tests.
var (
	// largeSet is the size from which the first request does not wait for the whole set.
	largeSet int64 = 64 << 20
	// wholeFile is the maximum size of a file that is always downloaded whole, even if only some rows are needed.
	wholeFile int64 = 8 << 20
)

// large reports whether the files of the split are so large that the first request should not wait for all of them.
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
	return b.reportSkipped()
}

// open opens a file of the split. It prefers a local copy. A large file that may not be needed whole is read in pieces from the hub. Any other file is
// downloaded into the cache.
func (b *builder) open(ctx context.Context, name string, columns []string) (table.Reader, func(), error) {
	there, size, err := b.snapshot.Local(name)
	if err != nil {
		return nil, nil, err
	}
	if (b.set.Streamed || b.early) && !there && size > wholeFile {
		if remote := b.snapshot.Remote(ctx, name); remote != nil {
			in, err := table.Read(b.repo+"/"+name, name, remote, size, columns...)
			if !hfhub.HasNoRanges(err) {
				return in, func() { b.notice("%s: %s of %s read", name, hfhub.Size(remote.Fetched()), hfhub.Size(size)) }, err
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
	if b.options.Hub.Notice != nil {
		b.options.Hub.Notice(fmt.Sprintf(format, args...))
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
			b.usedRows++
		}
		if b.enough() {
			return nil
		}
	}
}

// isJSON reports whether the columns of a file are known only after reading its rows.
func isJSON(path string) bool { return strings.Contains(path, ".json") }

// complete checks that a file with this number of rows has the required columns.
func (b *builder) complete(name string, columns []string, rows int) error {
	for _, c := range b.set.columns {
		if rows > 0 && !slices.Contains(columns, c) {
			return fmt.Errorf("%s has no column %s; its columns are %s", name, c, strings.Join(columns, ", "))
		}
	}
	return nil
}

// reportSkipped reports the skipped rows. It returns an error if there is no conversation.
func (b *builder) reportSkipped() error {
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
	return fmt.Errorf("%s: no rows left: all %d were skipped: %s", b.set.Repo, b.rows, list)
}
