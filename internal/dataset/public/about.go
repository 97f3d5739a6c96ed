package public

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"

	"aiperf/internal/hub"
)

// fact is what a set's page says of it.
type fact struct {
	rows    int // of the split, 0 = not known
	licence string
}

// facts are those of sets whose pages state them, by repository and configuration; a category of a configuration has rows of its own.
var facts = map[string]fact{
	"sharegpt": {0, "apache-2.0"}, "spec_bench": {480, "apache-2.0"},
	"aimo": {72441, "apache-2.0"}, "aimo_aime": {90, "apache-2.0"}, "aimo_numina_cot": {859494, "apache-2.0"}, "aimo_numina_1_5": {896215, "apache-2.0"},
	"mmstar": {1500, ""}, "mmvu": {1000, ""}, "llava_onevision": {0, "apache-2.0"}, "instruct_coder": {0, "mit"},
	"spec_al_gsm8k": {1319, "mit"}, "spec_al_math500": {500, ""}, "spec_al_humaneval": {164, "mit"}, "spec_al_mbpp": {500, "cc-by-4.0"},
	"spec_al_mtbench": {80, "apache-2.0"},
	"librispeech":     {2620, "cc-by-4.0"}, "voxpopuli": {1842, "cc0-1.0"}, "gigaspeech": {25619, "apache-2.0"}, "ami": {12643, "cc-by-4.0"},
	"spgispeech": {39341, "other"},
}

// Rows of the parts of SPEED-Bench.
const (
	qualitativeRows = 880
	categoryRows    = 80
	sizeRows        = 1536
	tierRows        = 512
)

// Words for how much of a set lies on this machine.
const (
	CachedAll  = "yes"
	CachedPart = "part"
	CachedNone = "no"
)

// About is what is known of a set.
type About struct {
	Name     string `json:"name"`
	Repo     string `json:"repository,omitempty"`
	Config   string `json:"subset,omitempty"`
	Split    string `json:"split,omitempty"`
	Modality string `json:"modality"`
	Rows     int    `json:"rows,omitempty"`    // as last known, or as its page says where the hub was asked; 0 = not known
	Bytes    int64  `json:"bytes,omitempty"`   // of its files, as far as they are known; 0 = not known
	Licence  string `json:"licence,omitempty"` // likewise; "" = not known
	Gated    bool   `json:"gated"`
	Cached   string `json:"cached"`
}

// licenceLine is that of a page's front matter.
var licenceLine = regexp.MustCompile(`(?m)^license(?:_name)?:[ \t]*["']?([\w.+-]+)`)

// shards is the number of files that one of a split written in parts tells.
var shards = regexp.MustCompile(`-\d{5}-of-(\d{5})\.`)

// About tells what is known of a set: of itself, of the cache, and where h is not offline of the hub. dir is the cache of files that come from no
// repository.
func (s *Set) About(ctx context.Context, h hub.Config, dir string) (About, error) {
	a := About{Name: s.Name, Repo: s.Repo, Config: s.Config, Split: s.Split, Modality: s.Modality, Gated: s.Gated, Cached: CachedNone}
	f := facts[s.Name]
	if f.rows == 0 {
		f.rows = s.Rows
	}
	if f.licence == "" {
		f.licence = s.Licence
	}
	a.Rows, a.Licence = f.rows, f.licence
	h.Content = hub.Datasets
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
		for _, m := range licenceLine.FindAllSubmatch(text, -1) { // the name of a licence that is none of the usual ones comes second
			a.Licence = string(m[1])
		}
	}
	a.count(snapshot, names)
	return a, nil
}

// count adds up the files of a set, and finds out how many lie on this machine.
func (a *About) count(snapshot *hub.Snapshot, names []string) {
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

// Pulled is what was brought into the cache.
type Pulled struct {
	Files    int
	Bytes    int64
	Snapshot *hub.Snapshot // nil = the set comes from no repository
	Path     string        // the one file of such a set
}

// Pull brings the files of a set into the cache.
func Pull(ctx context.Context, o Options) (p Pulled, err error) {
	set := Find(o.Name)
	if set == nil {
		return p, Check(o.Name)
	}
	o.Hub.Content = hub.Datasets
	b := &builder{asked: o, set: set, skipped: map[string]int{}}
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
