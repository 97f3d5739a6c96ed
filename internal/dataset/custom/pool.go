package custom

import (
	"io"
	"path/filepath"
	"slices"
	"strings"

	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/dataset/rows"
)

// defaultDraws is how many conversations are drawn from pools when nobody says so.
const defaultDraws = 100

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
// file.
func readPool(l *loader, path string) error {
	files, err := pools(path)
	if err != nil {
		return err
	}
	n := l.Entries
	if n < 1 {
		n = defaultDraws
	}
	draws := l.Root.Stream("dataset.loader.random_pool")
	turns := make([]conversation.Turn, n)
	for _, file := range files {
		pool, err := l.pool(file)
		if err != nil {
			return err
		}
		if l.faults.Count() > 0 { // its rows cannot be drawn, but the next file may have faults too
			continue
		}
		for i := range turns {
			t := &pool[draws.Index(len(pool))]
			turns[i].Parts = append(turns[i].Parts, t.Parts...)
			if turns[i].Origin == "" {
				turns[i].Origin = t.Origin
			}
		}
	}
	for i := range turns {
		slices.SortStableFunc(turns[i].Parts, func(a, b conversation.Part) int { return int(a.Kind) - int(b.Kind) })
		l.add(conversation.Conversation{ID: l.newID(), Turns: turns[i : i+1]})
	}
	return nil
}

// pool reads a file of rows to draw from.
func (l *loader) pool(file string) ([]conversation.Turn, error) {
	name := stem(file)
	var list []conversation.Turn
	err := l.rows(file, poolKeys, func(r *rows.Row) {
		checkType(r, poolType)
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
