package custom

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/rng"
	"aiperf/internal/base/sorting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
)

// defaultDraws is the default number of conversations drawn from pools.
const defaultDraws = 100

// passagesPool is the name of GenAI-Perf's passages file. Its rows may have a list as their text.
const passagesPool = "passages"

// queryPools are the names of query files.
var queryPools = []string{"query", "queries"}

// poolKeys are the keys of a row of a pool. Others are ignored with a warning.
var poolKeys = []string{"type", "text", "texts", "image", "images", "image_uuids", "audio", "audios", "video", "videos"}

// pools lists the pool files: the file itself, or the files of a folder.
func pools(path string) ([]string, error) {
	if !isFolder(path) {
		return []string{path}, nil
	}
	return members(path, "", false)
}

// readPool draws conversations of one turn. Each takes one row of every pool, with replacement. Content without a name gets the name of its file. With
// a batch size other than 1, a turn takes that many contents of a kind instead, from any rows. Rows of large pools stay in their files.
func readPool(l *loader, path string) error {
	files, err := l.pools(path)
	if err != nil {
		return err
	}
	keep := !l.leaves(files)
	list := make([]*pool, len(files))
	for i, file := range files {
		if list[i], err = l.pool(file, keep); err != nil {
			return err
		}
		if list[i].rows == 0 && l.faults.Count() == 0 {
			return fmt.Errorf("%s: %w", placeOf(l.Records, file), rows.ErrNoRecords)
		}
	}
	if l.faults.Count() > 0 {
		return nil
	}
	n := l.Entries
	if n < 1 {
		n = defaultDraws
	}
	draws := make([][]pick, n)
	stream := l.Root.Stream("dataset.loader.random_pool")
	switch queries, passages := l.rankingPools(list); {
	case passages != nil:
		err = l.drawPassages(queries, passages, draws, stream)
	case l.batched(list):
		err = l.drawBatches(path, list, draws, stream)
	default:
		drawRows(list, draws, stream)
	}
	if err != nil {
		return err
	}
	for i := range draws {
		c := conversation.Conversation{ID: l.newID(), Turns: make([]conversation.Turn, 1)}
		if keep {
			assemble(&c.Turns[0], draws[i])
		} else {
			first := draws[i][0]
			c.Turns[0].Origin = first.pool.origin(first.row)
		}
		l.add(c)
	}
	if !keep {
		l.set.readStored = func(i int, c *conversation.Conversation) { assemble(&c.Turns[0], draws[i]) }
	}
	return nil
}

// pick is what a turn takes from a pool.
type pick struct {
	pool *pool
	row  uint32
	part int32 // part of the row; -1 = all parts
	name bool  // the part keeps its name
}

// assemble builds the content of a turn, sorted by kind.
func assemble(t *conversation.Turn, picks []pick) {
	for _, k := range picks {
		from := k.pool.turn(k.row)
		switch {
		case k.part < 0:
			t.Parts = append(t.Parts, from.Parts...)
		default:
			p := from.Parts[k.part]
			if !k.name {
				p.Name = ""
			}
			t.Parts = append(t.Parts, p)
		}
		if t.Origin == "" {
			t.Origin = from.Origin
		}
	}
	sorting.Stable(t.Parts, func(a, b conversation.Part) int { return int(a.Kind) - int(b.Kind) })
}

// drawRows adds one row of each pool to every turn.
func drawRows(pools []*pool, draws [][]pick, stream *rng.Stream) {
	for _, p := range pools {
		for i := range draws {
			draws[i] = append(draws[i], pick{pool: p, row: uint32(stream.Index(p.rows)), part: -1})
		}
	}
}

// batch returns how many contents of a kind a turn takes.
func (l *loader) batch(kind conversation.Kind) int {
	if n, given := l.Batches[kind]; given {
		return n
	}
	return 1
}

// batched reports whether some kind in the pools has a batch size other than 1.
func (l *loader) batched(pools []*pool) bool {
	return slices.ContainsFunc(pools, func(p *pool) bool {
		for kind := range p.contents {
			if l.batch(kind) != 1 {
				return true
			}
		}
		return false
	})
}

// rankingPools returns the pools of a GenAI-Perf rankings folder, whose requests take several passages. It returns nil for other pools.
func (l *loader) rankingPools(list []*pool) (queries, passages *pool) {
	if len(list) != 2 || l.batch(conversation.Text) < 2 {
		return nil, nil
	}
	for _, p := range list {
		switch {
		case len(p.contents) != 1 || p.contents[conversation.Text] == nil:
			return nil, nil
		case p.name == passagesPool:
			passages = p
		case slices.Contains(queryPools, p.name):
			queries = p
		}
	}
	if queries == nil || passages == nil {
		return nil, nil
	}
	return queries, passages
}

// drawPassages adds a query and a batch of different passages to every turn, like GenAI-Perf.
func (l *loader) drawPassages(queries, passages *pool, draws [][]pick, stream *rng.Stream) error {
	n, have := l.batch(conversation.Text), passages.contents[conversation.Text]
	if n > have.Len() {
		return fmt.Errorf("%s %d: each request needs this number of different passages, but the folder has only %d; use a smaller batch", l.Spell.As("datasets.main.prompts.batch_size"), n, have.Len())
	}
	for i := range draws {
		draws[i] = append(draws[i], pick{pool: queries, row: uint32(stream.Index(queries.rows)), part: -1})
		moved := map[int]int{} // a sparse Fisher-Yates shuffle: the positions that no longer hold their own index
		at := func(place int) int {
			if to, ok := moved[place]; ok {
				return to
			}
			return place
		}
		for k := range n {
			j := k + stream.Index(have.Len()-k)
			c, _ := have.At(at(j))
			moved[j] = at(k)
			draws[i] = append(draws[i], pick{pool: passages, row: c.row, part: int32(c.part), name: true})
		}
	}
	return nil
}

// batchKinds are the kinds in the order in which the Python tool draws them, with the settings of their batch sizes.
var batchKinds = []struct {
	kind conversation.Kind
	key  string
}{
	{conversation.Image, "datasets.main.images.batch_size"}, {conversation.Text, "datasets.main.prompts.batch_size"},
	{conversation.Audio, "datasets.main.audio.batch_size"}, {conversation.Video, "datasets.main.video.batch_size"},
}

// drawBatches adds contents of each kind to every turn, drawn from all contents of that kind in the pool. Names and ids would be lost, so it rejects a
// pool that has some. It also rejects several pools, because their file names are the names of their contents.
func (l *loader) drawBatches(path string, list []*pool, draws [][]pick, stream *rng.Stream) error {
	if len(list) > 1 {
		return fmt.Errorf("%s: batch sizes other than 1 need a single pool file, but the folder has %d", path, len(list))
	}
	p := list[0]
	if p.firstNamed != "" {
		return fmt.Errorf("%s: batch sizes other than 1 would lose names and image_uuids; remove these keys from the pool or set the batch sizes to 1", p.firstNamed)
	}
	for i := range draws {
		for _, k := range batchKinds {
			have := p.contents[k.kind]
			for range l.batch(k.kind) {
				if have != nil {
					at, _ := have.At(stream.Index(have.Len()))
					draws[i] = append(draws[i], pick{pool: p, row: at.row, part: int32(at.part)})
				}
			}
		}
		if len(draws[i]) == 0 {
			var sizes []string
			for _, k := range batchKinds {
				sizes = append(sizes, l.Spell.As(k.key)+" "+strconv.Itoa(l.batch(k.kind)))
			}
			return fmt.Errorf("%s: nothing to send with these batch sizes: %s", path, strings.Join(sizes, ", "))
		}
	}
	return nil
}

// pool holds the rows of a file to draw from, in memory or as positions in the file.
type pool struct {
	loader     *loader
	name       string // name of the file
	rows       int
	firstNamed string                                          // position of the first row whose contents have names or ids; "" = none
	contents   map[conversation.Kind]*rowstore.Column[content] // by kind; the columns are empty if whole rows are drawn
	batches    bool

	turns  []conversation.Turn
	from   supply
	places rowstore.Offsets
}

// content is the position of one content of a row.
type content struct{ row, part uint32 }

// pool reads a file of rows to draw from. keep = the rows stay in memory.
func (l *loader) pool(file string, keep bool) (*pool, error) {
	p := &pool{loader: l, name: stem(file), contents: map[conversation.Kind]*rowstore.Column[content]{}, batches: l.batches()}
	read := poolEntry(stem(file))
	if keep {
		err := l.rows(file, poolKeys, func(r *rows.Row) {
			e := read(l, r)
			p.note(l, &e)
			p.turns = append(p.turns, e.Turns[0])
		})
		return p, err
	}
	var err error
	if p.from, err = openLines(Format{layout: layout{keys: poolKeys, entry: read}}, []string{file}); err != nil {
		return nil, err
	}
	var fault error
	err = p.from.each(l, func(at rows.Line, e *entry) {
		clear(l.media.known)
		p.note(l, e)
		p.places.Add(at)
		fault = l.inline(false)
	}, func() bool { return fault == nil })
	return p, cmp.Or(err, fault, l.inline(true))
}

// poolEntry returns a function that reads a row of the named pool.
func poolEntry(name string) func(*loader, *rows.Row) entry {
	return func(l *loader, r *rows.Row) entry {
		checkType(r, poolType)
		if raw := r.Raw("text"); name == passagesPool && len(raw) > 0 && raw[0] == '[' {
			r.Respell("text", "texts")
		}
		return entry{Conversation: conversation.Conversation{Turns: []conversation.Turn{{Parts: l.parts(r, name, false), Origin: r.Where}}}}
	}
}

// note counts a row and its contents.
func (p *pool) note(l *loader, e *entry) {
	for k, part := range e.Turns[0].Parts {
		if p.firstNamed == "" && (l.hasNames || part.ID != "") {
			p.firstNamed = e.Turns[0].Origin
		}
		of := p.contents[part.Kind]
		if of == nil {
			of = &rowstore.Column[content]{}
			p.contents[part.Kind] = of
		}
		if p.batches {
			of.Add(content{uint32(p.rows), uint32(k)})
		}
	}
	p.rows++
}

// batches reports whether some kind has a batch size other than 1.
func (l *loader) batches() bool {
	for _, n := range l.Batches {
		if n != 1 {
			return true
		}
	}
	return false
}

// turn returns the content of a row.
func (p *pool) turn(row uint32) conversation.Turn {
	if p.from == nil {
		return p.turns[row]
	}
	at := p.places.Find(int(row))
	e, err := p.from.reread(reread(p.loader.Options, p.loader.set.info, p.loader.media), at, int(row-at.Row))
	if err != nil {
		panic(changed(poolType, err))
	}
	return e.Turns[0]
}

// origin returns the position of a row, for messages.
func (p *pool) origin(row uint32) string { return p.turn(row).Origin }

// stem returns the name of a file without folder and extension.
func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// glanceFiles counts the rows of files without times.
func glanceFiles(l *FileSample, files []string) error {
	return glanceEach(l, files, rowSample{turns: 1})
}

// glanceEach counts the rows of files. It stops early in large ones, whose rows are checked when they are read.
func glanceEach(l *FileSample, files []string, each rowSample) error {
	var faults dataset.Faults
	large, cut := largeFiles(files), false
	for i := 0; i < len(files) && !cut; i++ {
		take := rows.Each(&faults, func(r *rows.Row) { l.add(r.Where, each) })
		err := rows.Read(files[i], func(line rows.Line) bool {
			on := take(line)
			cut = large
			return on && !cut
		})
		if err != nil {
			return err
		}
	}
	if cut {
		l.Records, l.Turns = 0, 0
	}
	return faults.Err()
}

// glancePool counts the rows of pools.
func glancePool(l *FileSample, path string) error {
	files, err := pools(path)
	if err != nil {
		return err
	}
	return glanceFiles(l, files)
}
