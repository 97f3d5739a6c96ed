package public

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/text/hfhub"
)

// fact is what the page of a set says about it.
type fact struct {
	rows    int // rows of the split; 0 = unknown
	licence string
}

// facts holds the numbers from the pages of sets, by repository and configuration. A category of a configuration has its own number of rows.
var facts = map[string]fact{
	"sharegpt": {0, "apache-2.0"}, "spec_bench": {480, "apache-2.0"},
	"aimo": {72441, "apache-2.0"}, "aimo_aime": {90, "apache-2.0"}, "aimo_numina_cot": {859494, "apache-2.0"}, "aimo_numina_1_5": {896215, "apache-2.0"},
	"mmstar": {1500, ""}, "mmvu": {1000, ""}, "llava_onevision": {0, "apache-2.0"}, "instruct_coder": {0, "mit"},
	"spec_al_gsm8k": {1319, "mit"}, "spec_al_math500": {500, ""}, "spec_al_humaneval": {164, "mit"}, "spec_al_mbpp": {500, "cc-by-4.0"},
	"spec_al_mtbench": {80, "apache-2.0"},
	"librispeech":     {2620, "cc-by-4.0"}, "voxpopuli": {1842, "cc0-1.0"}, "gigaspeech": {25619, "apache-2.0"}, "ami": {12643, "cc-by-4.0"},
	"spgispeech": {39341, "other"},
}

// Number of rows in the parts of SPEED-Bench.
const (
	qualitativeRows = 880
	categoryRows    = 80
	sizeRows        = 1536
	tierRows        = 512
)

// Values for how much of a set is cached on this machine.
const (
	CachedAll  = "yes"
	CachedPart = "part"
	CachedNone = "no"
)

// SetDescription is what is known about a set.
type SetDescription struct {
	Name     string `json:"name"`
	Repo     string `json:"repository,omitempty"`
	Config   string `json:"subset,omitempty"`
	Split    string `json:"split,omitempty"`
	Modality string `json:"modality"`
	Rows     int    `json:"rows,omitempty"`    // last known value, or the value of the page if the hub was asked; 0 = unknown
	Bytes    int64  `json:"bytes,omitempty"`   // bytes of its files that are known; 0 = unknown
	Licence  string `json:"licence,omitempty"` // last known value or the value of the page; "" = unknown
	Gated    bool   `json:"gated"`
	Cached   string `json:"cached"`
}

// licenceLine matches the licence in the front matter of a page.
var licenceLine = lazyregexp.New(`(?m)^license(?:_name)?:[ \t]*["']?([\w.+-]+)`)

// shards matches the number of parts in the file name of a split written in parts.
var shards = lazyregexp.New(`-\d{5}-of-(\d{5})\.`)

// About describes the set with what the set itself, the cache and (unless h is offline) the hub know. dir is the cache of files that come from no
// repository.
func (s *Set) About(ctx context.Context, h hfhub.Config, dir string) (SetDescription, error) {
	a := SetDescription{Name: s.Name, Repo: s.Repo, Config: s.Config, Split: s.Split, Modality: s.Modality, Gated: s.Gated, Cached: CachedNone}
	f := facts[s.Name]
	if f.rows == 0 {
		f.rows = s.Rows
	}
	if f.licence == "" {
		f.licence = s.Licence
	}
	a.Rows, a.Licence = f.rows, f.licence
	h.Content = hfhub.Datasets
	if one := map[string]string{"sharegpt": shareGPTFile, "spec_bench": specBenchFile}[s.Name]; one != "" {
		if info, err := os.Stat(filepath.Join(dir, one)); err == nil {
			a.Cached, a.Bytes = CachedAll, info.Size()
			return a, nil
		}
	}
	if s.Repo == "" {
		return a, nil
	}
	rev := s.Revision
	if rev == "" {
		rev = "main"
	}
	snapshot, err := h.Stored(s.Repo, rev), error(nil)
	if h.Offline == "" {
		snapshot, err = h.Snapshot(ctx, s.Repo, rev)
	}
	if err != nil || snapshot == nil {
		return a, err
	}
	names := []string{shareGPTFile}
	if s.read == nil {
		if names, err = files(ctx, snapshot, s.Config, s.Split); err != nil {
			return a, err
		}
	}
	if text, err := page(ctx, snapshot); err == nil {
		for _, m := range licenceLine.FindAllSubmatch(text, -1) { // the name of an unusual licence comes second
			a.Licence = string(m[1])
		}
	}
	a.count(snapshot, names)
	return a, nil
}

// count adds up the files of a set and counts those cached on this machine.
func (a *SetDescription) count(snapshot *hfhub.Snapshot, names []string) {
	there, wanted := 0, len(names)
	for _, name := range names {
		size, local := snapshot.Size(name)
		a.Bytes += max(0, size)
		if local {
			there++
		}
		if m := shards.FindStringSubmatch(name); m != nil {
			if n, err := strconv.Atoi(m[1]); err == nil && len(names) < n {
				wanted = max(wanted, n)
			}
		}
	}
	switch {
	case there > 0 && there >= wanted:
		a.Cached = CachedAll
	case there > 0:
		a.Cached = CachedPart
	}
}

// PulledSet is what Pull put into the cache.
type PulledSet struct {
	Files    int
	Bytes    int64
	Snapshot *hfhub.Snapshot // nil = the set comes from no repository
	Path     string          // file of a set without a repository
}

// Pull downloads the files of a set into the cache.
func Pull(ctx context.Context, o Options) (p PulledSet, err error) {
	set := Find(o.Name)
	if set == nil {
		return p, Check(o.Name)
	}
	o.Hub.Content = hfhub.Datasets
	b := &builder{options: o, set: set, skipped: map[string]int{}}
	if set.Name == "spec_bench" {
		in, err := b.specBench(ctx)
		if err != nil {
			return p, err
		}
		p.Files, p.Path = 1, filepath.Join(o.Cache, specBenchFile)
		if info, err := os.Stat(p.Path); err == nil {
			p.Bytes = info.Size()
		}
		return p, in.Close()
	}
	names := []string{shareGPTFile}
	if set.read == nil {
		if err := b.locate(ctx); err != nil {
			return p, err
		}
		names, p.Snapshot = b.names, b.snapshot
	} else if p.Snapshot, err = o.Hub.Snapshot(ctx, set.Repo, "main"); err != nil {
		return p, err
	}
	found, err := p.Snapshot.Files(ctx, func(n string) bool { return slices.Contains(names, n) })
	for name := range found {
		size, _ := p.Snapshot.Size(name)
		p.Files, p.Bytes = p.Files+1, p.Bytes+max(0, size)
	}
	return p, err
}
