package public

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha1"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"strings"
	"testing"
	"time"

	"aiperf/internal/text/hfhub"
)

// tcase is a case of testdata/cases.tar.gz: the files of a repository, the command line of the Python tool, and its output.
type tcase struct {
	files  map[string][]byte
	expect expected
}

// expected is the part of a recorded case that is compared.
type expected struct {
	Set           string
	Exit          int
	Words         []json.RawMessage
	Generated     bool
	Made          bool
	OwnIDs        bool `json:"own_ids"`
	Conversations []struct {
		ID    string
		Turns []expectedTurn
	}
}

type expectedTurn struct {
	Texts        []any
	Images       []any
	Audios       []any
	Videos       []any
	MaxTokens    *int              `json:"max_tokens"`
	DelayMS      *float64          `json:"delay_ms"`
	TimestampMS  *float64          `json:"timestamp_ms"`
	Messages     []json.RawMessage `json:"messages"`
	Tools        json.RawMessage   `json:"tools"`
	ExtraBody    json.RawMessage   `json:"extra_body"`
	ExtraHeaders map[string]string `json:"extra_headers"`
	Seconds      *float64          `json:"audio_duration_seconds"`
}

func readCases(t *testing.T) map[string]*tcase {
	t.Helper()
	f, err := os.Open("testdata/cases.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	cases := map[string]*tcase{}
	for in := tar.NewReader(z); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		name, rest, _ := strings.Cut(h.Name, "/")
		b, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if cases[name] == nil {
			cases[name] = &tcase{files: map[string][]byte{}}
		}
		cases[name].files[rest] = b
	}
	for name, c := range cases {
		if err := json.Unmarshal(c.files["expect.json"], &c.expect); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	return cases
}

// repo is a repository of a case, as served by the hub.
type repo struct {
	commit  string
	gated   bool
	private bool
	folders map[string]string // further commits -> folder of .revisions
	files   map[string][]byte
}

// of returns the files of a commit.
func (r *repo) of(commit string) map[string][]byte {
	found := map[string][]byte{}
	folder, other := r.folders[commit]
	for name, b := range r.files {
		rest, inRevisions := strings.CutPrefix(name, ".revisions/"+folder+"/")
		switch {
		case other && inRevisions:
			found[rest] = b
		case !other && !strings.HasPrefix(name, ".revisions/") && name != ".hub.json":
			found[name] = b
		}
	}
	return found
}

// serve starts a hub with the repositories of the case.
func (c *tcase) serve(t *testing.T) hfhub.Config {
	t.Helper()
	repos := map[string]*repo{}
	for name, b := range c.files {
		rest, ok := strings.CutPrefix(name, "hub/datasets/")
		if !ok {
			continue
		}
		parts := strings.SplitN(rest, "/", 3)
		id := parts[0] + "/" + parts[1]
		if repos[id] == nil {
			repos[id] = &repo{commit: fmt.Sprintf("%x", sha1.Sum([]byte(id))), files: map[string][]byte{}}
		}
		repos[id].files[parts[2]] = b
	}
	for id, r := range repos {
		var conf struct {
			Gated, Private bool
			Commit         string
			Folders        map[string]string
		}
		if b := r.files[".hub.json"]; b != nil {
			if err := json.Unmarshal(b, &conf); err != nil {
				t.Fatalf("%s: %v", id, err)
			}
		}
		if r.gated, r.private, r.folders = conf.Gated, conf.Private, conf.Folders; conf.Commit != "" {
			r.commit = conf.Commit
		}
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) { answer(w, req, repos) }))
	t.Cleanup(s.Close)
	token := ""
	if strings.Contains(string(c.files["cmd.txt"]), "HF_TOKEN=") {
		token = "hf_good"
	}
	return hfhub.Config{Endpoint: s.URL, Cache: t.TempDir(), Token: token, Backoff: time.Millisecond}
}

func answer(w http.ResponseWriter, req *http.Request, repos map[string]*repo) {
	parts := strings.Split(strings.TrimPrefix(strings.TrimPrefix(req.URL.Path, "/api"), "/datasets/"), "/")
	if len(parts) < 4 {
		http.NotFound(w, req)
		return
	}
	r := repos[parts[0]+"/"+parts[1]]
	known := req.Header.Get("Authorization") == "Bearer hf_good"
	switch {
	case r == nil || r.private && !known:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		w.WriteHeader(http.StatusUnauthorized)
		return
	case r.gated && !known:
		w.Header().Set("X-Error-Code", "GatedRepo")
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	commit := parts[3]
	if commit == "main" {
		commit = r.commit
	}
	files := r.of(commit)
	if parts[2] == "revision" {
		type sibling struct {
			RFilename string `json:"rfilename"`
			Size      int    `json:"size"`
			BlobID    string `json:"blobId"`
		}
		info := struct {
			SHA      string    `json:"sha"`
			Siblings []sibling `json:"siblings"`
		}{SHA: commit}
		for name, b := range files {
			info.Siblings = append(info.Siblings, sibling{name, len(b), gitName(b)})
		}
		_ = json.NewEncoder(w).Encode(info)
		return
	}
	b, ok := files[path.Join(parts[4:]...)]
	if !ok {
		w.Header().Set("X-Error-Code", "EntryNotFound")
		w.WriteHeader(http.StatusNotFound)
		return
	}
	w.Header().Set("ETag", `"`+gitName(b)+`"`)
	http.ServeContent(w, req, "", time.Time{}, bytes.NewReader(b))
}

// gitName returns the git blob id of a content.
func gitName(b []byte) string {
	return fmt.Sprintf("%x", sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(b)), b...)))
}
