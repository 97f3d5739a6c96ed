package custom

import (
	"fmt"
	"io"
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
// file. With a batch size other than 1 each takes that many contents of a kind instead, whichever rows they stand in.
func readPool(l *loader, path string) error {
	files, err := l.pools(path)
	if err != nil {
		return err
	}
	list := make([][]conversation.Turn, len(files))
	for i, file := range files {
		if list[i], err = l.pool(file); err != nil {
			return err
		}
		if len(list[i]) == 0 && l.faults.Count() == 0 {
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
	turns := make([]conversation.Turn, n)
	stream := l.Root.Stream("dataset.loader.random_pool")
	if l.batched(list) {
		err = l.drawBatches(path, files, list, turns, stream)
	} else {
		drawRows(list, turns, stream)
	}
	for i := range turns {
		l.add(conversation.Conversation{ID: l.newID(), Turns: turns[i : i+1]})
	}
	return err
}

// drawRows gives every turn a row of each pool.
func drawRows(pools [][]conversation.Turn, turns []conversation.Turn, stream *rng.Stream) {
	for _, pool := range pools {
		for i := range turns {
			t := &pool[stream.Index(len(pool))]
			turns[i].Parts = append(turns[i].Parts, t.Parts...)
			if turns[i].Origin == "" {
				turns[i].Origin = t.Origin
			}
		}
	}
	for i := range turns {
		slices.SortStableFunc(turns[i].Parts, func(a, b conversation.Part) int { return int(a.Kind) - int(b.Kind) })
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
func (l *loader) batched(pools [][]conversation.Turn) bool {
	for _, pool := range pools {
		for i := range pool {
			if slices.ContainsFunc(pool[i].Parts, func(p conversation.Part) bool { return l.batch(p.Kind) != 1 }) {
				return true
			}
		}
	}
	return false
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
func (l *loader) drawBatches(path string, files []string, list [][]conversation.Turn, turns []conversation.Turn, stream *rng.Stream) error {
	if len(files) > 1 {
		return fmt.Errorf("%s: batch sizes other than 1 are for one pool; the folder has %d, whose names tell their contents apart", path, len(files))
	}
	all := map[conversation.Kind][]conversation.Part{}
	for _, t := range list[0] {
		for _, p := range t.Parts {
			if l.labelled || p.ID != "" {
				return fmt.Errorf("%s: batch sizes other than 1 are for contents without names and image_uuids, which would be lost", t.Origin)
			}
			p.Name = ""
			all[p.Kind] = append(all[p.Kind], p)
		}
	}
	for i := range turns {
		turns[i].Origin = list[0][0].Origin
		for _, k := range batchKinds {
			for range l.batch(k.kind) {
				if have := all[k.kind]; len(have) > 0 {
					turns[i].Parts = append(turns[i].Parts, have[stream.Index(len(have))])
				}
			}
		}
		if len(turns[i].Parts) == 0 {
			var sizes []string
			for _, k := range batchKinds {
				sizes = append(sizes, l.Spell.As(k.key)+" "+strconv.Itoa(l.batch(k.kind)))
			}
			return fmt.Errorf("%s: the batch sizes leave nothing to send: %s", path, strings.Join(sizes, ", "))
		}
		slices.SortStableFunc(turns[i].Parts, func(a, b conversation.Part) int { return int(a.Kind) - int(b.Kind) })
	}
	return nil
}

// pool reads a file of rows to draw from.
func (l *loader) pool(file string) ([]conversation.Turn, error) {
	name := stem(file)
	var list []conversation.Turn
	err := l.rows(file, poolKeys, func(r *rows.Row) {
		checkType(r, poolType)
		if raw := r.Raw("text"); name == passagesPool && len(raw) > 0 && raw[0] == '[' {
			r.Respell("text", "texts")
		}
		list = append(list, conversation.Turn{Parts: l.parts(r, name, false), Origin: r.Where})
	})
	return list, err
}

// stem is the name of a file without folder and extension.
func stem(path string) string {
	name := filepath.Base(path)
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// glanceFiles counts the rows of some files. They have no times.
func glanceFiles(l *Look, files []string) error {
	var faults dataset.Faults
	for _, file := range files {
		if err := rows.Objects(file, io.Discard, &faults, func(r *rows.Row) { l.add(r.Where, glimpse{turns: 1}) }); err != nil {
			return err
		}
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
