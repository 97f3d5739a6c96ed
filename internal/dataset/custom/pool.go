package custom

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
	"aiperf/internal/rng"
)

// defaultDraws is how many conversations are drawn from pools when nobody says so.
const defaultDraws = 100

// passagesPool is the name of GenAI-Perf's file of passages, whose rows may have a list as their text.
const passagesPool = "passages"

// poolKeys are the keys of a row of a pool; others are ignored with a warning.
var poolKeys = []string{"type", "text", "texts", "image", "images", "image_uuids", "audio", "audios", "video", "videos"}

// pools lists the files that are pools: the file itself, or those of a folder.
func pools(path string) ([]string, error) {
	if !isFolder(path) {
		return []string{path}, nil
	}
	return members(path, "", false)
}

// readPool draws conversations of one turn: each takes a row of every pool, with replacement. What a row says without a name bears that of its
// file. With a batch size other than 1 each takes that many contents of a kind instead, whichever rows they stand in. Rows of large pools stay in
// their files.
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
	if l.batched(list) {
		err = l.drawBatches(path, list, draws, stream)
	} else {
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
		l.set.lay = func(i int, c *conversation.Conversation) { assemble(&c.Turns[0], draws[i]) }
	}
	return nil
}

// pick is what a turn takes from a pool.
type pick struct {
	pool *pool
	row  uint32
	part int32 // of the row; -1 = all of it
}

// assemble puts together what a turn takes, by kinds.
func assemble(t *conversation.Turn, picks []pick) {
	for _, k := range picks {
		from := k.pool.turn(k.row)
		switch {
		case k.part < 0:
			t.Parts = append(t.Parts, from.Parts...)
		default:
			p := from.Parts[k.part]
			p.Name = ""
			t.Parts = append(t.Parts, p)
		}
		if t.Origin == "" {
			t.Origin = from.Origin
		}
	}
	slices.SortStableFunc(t.Parts, func(a, b conversation.Part) int { return int(a.Kind) - int(b.Kind) })
}

// drawRows gives every turn a row of each pool.
func drawRows(pools []*pool, draws [][]pick, stream *rng.Stream) {
	for _, p := range pools {
		for i := range draws {
			draws[i] = append(draws[i], pick{p, uint32(stream.Index(p.rows)), -1})
		}
	}
}

// batch is how many contents of a kind a turn takes.
func (l *loader) batch(kind conversation.Kind) int {
	if n, given := l.Batches[kind]; given {
		return n
	}
	return 1
}

// batched tells whether turns take other than one content of a kind that the pools have.
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

// batchKinds are the kinds in the order in which the Python tool draws them, and the settings of their batches.
var batchKinds = []struct {
	kind conversation.Kind
	key  string
}{
	{conversation.Image, "datasets.main.images.batch_size"}, {conversation.Text, "datasets.main.prompts.batch_size"},
	{conversation.Audio, "datasets.main.audio.batch_size"}, {conversation.Video, "datasets.main.video.batch_size"},
}

// drawBatches gives every turn contents of each kind, drawn from all of that kind that the one pool has. Names and ids of contents would be
// lost: a pool that has some is refused, and so are several pools, whose names are those of their files.
func (l *loader) drawBatches(path string, list []*pool, draws [][]pick, stream *rng.Stream) error {
	if len(list) > 1 {
		return fmt.Errorf("%s: batch sizes other than 1 are for one pool; the folder has %d, whose names tell their contents apart", path, len(list))
	}
	p := list[0]
	if p.named != "" {
		return fmt.Errorf("%s: batch sizes other than 1 are for contents without names and image_uuids, which would be lost", p.named)
	}
	for i := range draws {
		for _, k := range batchKinds {
			have := p.contents[k.kind]
			for range l.batch(k.kind) {
				if have != nil {
					at, _ := have.at(stream.Index(have.n))
					draws[i] = append(draws[i], pick{p, at.row, int32(at.part)})
				}
			}
		}
		if len(draws[i]) == 0 {
			var sizes []string
			for _, k := range batchKinds {
				sizes = append(sizes, l.Spell.As(k.key)+" "+strconv.Itoa(l.batch(k.kind)))
			}
			return fmt.Errorf("%s: the batch sizes leave nothing to send: %s", path, strings.Join(sizes, ", "))
		}
	}
	return nil
}

// pool are the rows of a file to draw from: in memory, or where they stand in it.
type pool struct {
	loader   *loader
	rows     int
	named    string                                 // the first row whose contents have names or ids, "" = none has
	contents map[conversation.Kind]*column[content] // of the kinds that the rows have; empty where whole rows are drawn
	batches  bool

	turns  []conversation.Turn
	from   supply
	places places
}

// content is one of the contents of a row.
type content struct{ row, part uint32 }

// pool reads a file of rows to draw from. keep = they stay in memory.
func (l *loader) pool(file string, keep bool) (*pool, error) {
	p := &pool{loader: l, contents: map[conversation.Kind]*column[content]{}, batches: l.batches()}
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
		p.places.add(at)
		fault = l.inline(false)
	}, func() bool { return fault == nil })
	return p, cmp.Or(err, fault, l.inline(true))
}

// poolEntry reads a row of the pool of a name.
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
		if p.named == "" && (l.labelled || part.ID != "") {
			p.named = e.Turns[0].Origin
		}
		of := p.contents[part.Kind]
		if of == nil {
			of = &column[content]{}
			p.contents[part.Kind] = of
		}
		if p.batches {
			of.add(content{uint32(p.rows), uint32(k)})
		}
	}
	p.rows++
}

// batches tells whether turns take other than one content of some kind.
func (l *loader) batches() bool {
	for _, n := range l.Batches {
		if n != 1 {
			return true
		}
	}
	return false
}

// turn is what a row says.
func (p *pool) turn(row uint32) conversation.Turn {
	if p.from == nil {
		return p.turns[row]
	}
	at := p.places.find(int(row))
	e, err := p.from.again(reread(p.loader.Options, p.loader.set.info, p.loader.media), at, int(row-at.row))
	if err != nil {
		panic(changed(poolType, err))
	}
	return e.Turns[0]
}

// origin is where a row stands.
func (p *pool) origin(row uint32) string { return p.turn(row).Origin }

// stem is the name of a file without folder and extension.
func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// glanceFiles counts the rows of some files. They have no times.
func glanceFiles(l *Look, files []string) error {
	return glanceEach(l, files, glimpse{turns: 1})
}

// glanceEach counts the rows of files; those of large ones are looked at when they are read.
func glanceEach(l *Look, files []string, each glimpse) error {
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
func glancePool(l *Look, path string) error {
	files, err := pools(path)
	if err != nil {
		return err
	}
	return glanceFiles(l, files)
}
