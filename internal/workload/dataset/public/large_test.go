package public

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"aiperf/internal/base/testhome"
	"aiperf/internal/workload/dataset"
)

// TestRecordedCasesInPieces runs the recorded cases as if every file were so large that it is read in pieces during use.
func TestRecordedCasesInPieces(t *testing.T) {
	testhome.Slow(t)
	large, whole := largeSet, wholeFile
	largeSet, wholeFile = 1, 0
	t.Cleanup(func() { largeSet, wholeFile = large, whole })
	grew, pieces := 0, 0
	for name, c := range readCases(t) {
		set := Find(c.expect.Set)
		if set == nil || c.expect.Made || c.files["hub.json"] != nil || set.Agents || set.Sessions || strings.Contains(string(c.files["cmd.txt"]), "--osl") {
			continue
		}
		t.Run(name, func(t *testing.T) {
			o := c.options(t)
			o.Early = true
			o.Hub.Notice = func(text string) {
				if strings.Contains(text, " read") {
					pieces++
				}
			}
			d, err := Open(t.Context(), o)
			if g, ok := d.(dataset.OpenEnded); ok && err == nil {
				grew++
				if _, err = g.Reach(1 << 30); err == nil && d.Len() != g.Known() {
					t.Errorf("%d conversations, %d known", d.Len(), g.Known())
				}
				defer g.Close()
			}
			if c.expect.Exit != 0 {
				refused(t, c, err)
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			compare(t, c, d)
		})
	}
	if grew < 10 || pieces < 10 {
		t.Errorf("%d sets grew while they were used, %d files were read in pieces", grew, pieces)
	}
}

// TestDirectoryInPlaceOfTheHub checks that a copy of a repository gives the same, without network access.
func TestDirectoryInPlaceOfTheHub(t *testing.T) {
	testhome.Slow(t)
	seen := 0
	for name, c := range readCases(t) {
		set := Find(c.expect.Set)
		if set == nil || c.expect.Made || c.expect.Exit != 0 || set.Revision != "" || strings.Contains(string(c.files["cmd.txt"]), "--osl") {
			continue
		}
		dir, n := t.TempDir(), 0
		for file, b := range c.files {
			rest, ok := strings.CutPrefix(file, "hub/datasets/"+set.Repo+"/")
			if !ok || strings.HasPrefix(rest, ".") {
				continue
			}
			n++
			path := filepath.Join(dir, filepath.FromSlash(rest))
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if n == 0 {
			continue
		}
		seen++
		t.Run(name, func(t *testing.T) {
			o := c.options(t)
			o.Hub.Endpoint, o.Hub.Dir = "http://127.0.0.1:1", dir
			d, err := Open(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			compare(t, c, d)
		})
	}
	if seen < 20 {
		t.Errorf("only %d sets", seen)
	}
}

// TestAbout checks the description of a set before and after it is pulled, and that only the files of its split are pulled.
func TestAbout(t *testing.T) {
	c := readCases(t)["aimo_aime.pages"]
	if c == nil {
		t.Fatal("no case of several files")
	}
	o, set := c.options(t), Find("aimo_aime")
	offline := o.Hub
	offline.Offline = "HF_HUB_OFFLINE"
	want := SetDescription{Name: "aimo_aime", Repo: "AI-MO/aimo-validation-aime", Split: "train", Modality: "text", Rows: 90, Licence: "apache-2.0", Cached: CachedNone}
	if a, err := set.About(t.Context(), offline, o.Cache); err != nil || a != want {
		t.Errorf("%+v, %v", a, err)
	}
	before, err := set.About(t.Context(), o.Hub, o.Cache)
	if err != nil || before.Cached != CachedNone || before.Bytes == 0 {
		t.Errorf("online: %+v, %v", before, err)
	}
	p, err := Pull(t.Context(), o)
	if err != nil || p.Files < 2 || p.Bytes != before.Bytes {
		t.Fatalf("%+v, %v", p, err)
	}
	want.Cached, want.Bytes = CachedAll, before.Bytes
	if a, err := set.About(t.Context(), offline, o.Cache); err != nil || a != want {
		t.Errorf("%+v, %v", a, err)
	}
	files, err := filepath.Glob(filepath.Join(p.Snapshot.Folder(), "data", "*"))
	if err != nil || len(files) != p.Files {
		t.Fatalf("%v, %v", files, err)
	}
	if err := os.Remove(slices.Max(files)); err != nil {
		t.Fatal(err)
	}
	if a, err := set.About(t.Context(), offline, o.Cache); err != nil || a.Cached != CachedPart {
		t.Errorf("without its last file: %+v, %v", a, err)
	}
	if _, err := Pull(t.Context(), Options{Name: "aimo_aim"}); err == nil || !strings.Contains(err.Error(), "did you mean aimo") {
		t.Errorf("%v", err)
	}
	for i := range Sets {
		if f := facts[Sets[i].Name]; f.rows > 0 && Sets[i].Rows > 0 {
			t.Errorf("%s: its rows are stated twice", Sets[i].Name)
		}
	}
	for name := range facts {
		if Find(name) == nil {
			t.Errorf("facts of %s, which is no set", name)
		}
	}
}
