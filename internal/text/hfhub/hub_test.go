package hfhub

import (
	"crypto/sha1"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

// standIn speaks the hub's routes: the repository list, file downloads with redirects to another host for large files, and errors.
type standIn struct {
	t     *testing.T
	files map[string]string
	large map[string]bool // by name: served by the other host

	mu      sync.Mutex
	asked   map[string]int // by path
	broken  int            // answers that fail with 503 first
	cut     int            // downloads that end after half the bytes first
	stall   bool           // downloads never end
	ranges  []string       // that downloads asked for
	refuse  func(w http.ResponseWriter, r *http.Request) bool
	hub     *httptest.Server
	storage *httptest.Server
}

func newStandIn(t *testing.T) *standIn {
	s := &standIn{t: t, asked: map[string]int{}, large: map[string]bool{"tokenizer.json": true}, files: map[string]string{
		"tokenizer.json": strings.Repeat("x", 5000), "tokenizer_config.json": `{"bos_token": "<s>"}`, "model.safetensors": "no"}}
	s.hub = httptest.NewServer(http.HandlerFunc(s.serve))
	s.storage = httptest.NewServer(http.HandlerFunc(s.store))
	t.Cleanup(func() { s.hub.Close(); s.storage.Close() })
	return s
}

func (s *standIn) config(t *testing.T) Config {
	return Config{Endpoint: s.hub.URL, Token: "secret", Cache: t.TempDir(), Backoff: time.Millisecond, Probe: 5 * time.Second}
}

func (s *standIn) count(path string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.asked[path]
}

func (s *standIn) serve(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.asked[r.URL.Path]++
	fail := s.broken > 0
	if fail {
		s.broken--
	}
	s.mu.Unlock()
	if r.Header.Get("Authorization") != "Bearer secret" {
		s.t.Errorf("%s came without the token", r.URL)
	}
	switch {
	case fail:
		http.Error(w, "later", http.StatusServiceUnavailable)
	case s.refuse != nil && s.refuse(w, r):
	case r.URL.Path == "/api/models":
		fmt.Fprint(w, `[{"id":"a/Qwen3-0.6B","downloads":5},{"id":"Qwen/Qwen3-0.6B","downloads":900},{"id":"x/Qwen3-0.6B-GGUF","downloads":9999}]`)
	case strings.HasPrefix(r.URL.Path, "/api/models/o/m/revision/"), strings.HasPrefix(r.URL.Path, "/api/datasets/o/m/revision/"):
		var names []string
		for n := range s.files {
			if s.large[n] && r.URL.Query().Get("blobs") == "true" {
				names = append(names, fmt.Sprintf(`{"rfilename":%q,"size":%d,"lfs":{"sha256":"%x","size":%[2]d}}`, n, len(s.files[n]), sha256.Sum256([]byte(s.files[n]))))
				continue
			}
			names = append(names, fmt.Sprintf(`{"rfilename":%q}`, n))
		}
		fmt.Fprintf(w, `{"sha":%q,"siblings":[%s]}`, commit, strings.Join(names, ","))
	case strings.Contains(r.URL.Path, "/o/m/resolve/"+commit+"/"):
		_, name, _ := strings.Cut(r.URL.Path, commit+"/")
		w.Header().Set("X-Repo-Commit", commit)
		if s.large[name] {
			w.Header().Set("X-Linked-Etag", fmt.Sprintf(`"%x"`, sha256.Sum256([]byte(s.files[name]))))
			w.Header().Set("X-Linked-Size", strconv.Itoa(len(s.files[name])))
			http.Redirect(w, r, s.storage.URL+"/"+name, http.StatusFound)
			return
		}
		w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha1.Sum(fmt.Appendf(nil, "blob %d\x00%s", len(s.files[name]), s.files[name]))))
		io.WriteString(w, s.files[name])
	default:
		w.Header().Set("X-Error-Code", "RepoNotFound")
		http.Error(w, "no", http.StatusUnauthorized)
	}
}

// store is the other host, which must never see the token.
func (s *standIn) store(w http.ResponseWriter, r *http.Request) {
	if r.Header.Get("Authorization") != "" {
		s.t.Error("the token went to another host")
	}
	body := s.files[r.URL.Path[1:]]
	s.mu.Lock()
	s.ranges = append(s.ranges, r.Header.Get("Range"))
	cut, stall := s.cut > 0, s.stall
	if cut {
		s.cut--
	}
	s.mu.Unlock()
	if stall {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
		io.WriteString(w, body[:1])
		w.(http.Flusher).Flush()
		<-r.Context().Done()
		return
	}
	if cut {
		w = &cutter{ResponseWriter: w}
	}
	http.ServeContent(w, r, "", time.Time{}, strings.NewReader(body))
}

// cutter breaks off in the middle of a body.
type cutter struct{ http.ResponseWriter }

func (c *cutter) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:len(p)/2])
	if f, ok := c.ResponseWriter.(http.Flusher); ok && err == nil {
		f.Flush()
	}
	if err == nil {
		err = io.ErrClosedPipe
	}
	return n, err
}

func want(name string) bool { return name == "tokenizer.json" || name == "tokenizer_config.json" }
func enough(files map[string]string) bool {
	return files["tokenizer.json"] != ""
}

func (s *standIn) fetch(t *testing.T, c Config) (map[string]string, error) {
	t.Helper()
	return c.Files(t.Context(), "o/m", "main", want, enough)
}

func TestFetchFillsTheCacheOnce(t *testing.T) {
	s := newStandIn(t)
	c := s.config(t)
	var seen sync.Map
	c.Progress = func(file string, done, total int64) { seen.Store(file, [2]int64{done, total}) }
	files, err := s.fetch(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for name := range files {
		b, err := os.ReadFile(files[name])
		if err != nil || string(b) != s.files[name] {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if v, _ := seen.Load("tokenizer.json"); v != [2]int64{5000, 5000} {
		t.Errorf("progress ended at %v", v)
	}
	// the layout that the Python tools read
	dir := filepath.Join(c.Cache, "models--o--m")
	ref, err := os.ReadFile(filepath.Join(dir, "refs", "main"))
	if err != nil || string(ref) != commit {
		t.Errorf("refs/main = %q, %v", ref, err)
	}
	link, err := os.Readlink(filepath.Join(dir, "snapshots", commit, "tokenizer.json"))
	if err != nil || !strings.HasPrefix(link, filepath.Join("..", "..", "blobs")) {
		t.Errorf("snapshot entry is a link to %q, %v", link, err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "blobs", "*.incomplete"))
	if len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
	before := s.count("/api/models/o/m/revision/main")
	if _, err := s.fetch(t, c); err != nil || s.count("/api/models/o/m/revision/main") != before {
		t.Errorf("a full cache asked the hub again (%v)", err)
	}
	s.hub.Close()
	c.Offline = "HF_HUB_OFFLINE"
	if _, err := s.fetch(t, c); err != nil {
		t.Errorf("offline with a full cache: %v", err)
	}
	if files, err = c.Files(t.Context(), "o/m", commit, want, enough); err != nil || len(files) != 2 {
		t.Errorf("by commit: %v, %v", files, err)
	}
	if got := c.Alias("M"); got != "o/m" {
		t.Errorf("Alias = %q", got)
	}
}

func TestFetchMendsCutsAndOverload(t *testing.T) {
	s := newStandIn(t)
	s.broken, s.cut = 2, 2
	if _, err := s.fetch(t, s.config(t)); err != nil {
		t.Fatal(err)
	}
}

func TestFetchFailures(t *testing.T) {
	testhome.Slow(t)
	code := func(status int, code string) func(w http.ResponseWriter, r *http.Request) bool {
		return func(w http.ResponseWriter, _ *http.Request) bool {
			w.Header().Set("X-Error-Code", code)
			w.WriteHeader(status)
			return true
		}
	}
	for name, c := range map[string]struct {
		set  func(s *standIn, c *Config)
		kind Kind
		says string
	}{
		"gated":       {func(s *standIn, _ *Config) { s.refuse = code(403, "GatedRepo") }, Gated, "refused the token"},
		"no repo":     {func(s *standIn, _ *Config) { s.refuse = code(401, "RepoNotFound") }, NotFound, "tokenizer.name"},
		"no revision": {func(s *standIn, _ *Config) { s.refuse = code(404, "RevisionNotFound") }, BadRevision, `revision "main"`},
		"no entry":    {func(s *standIn, _ *Config) { s.refuse = code(404, "EntryNotFound") }, NoFiles, "from which this one was derived"},
		"overload":    {func(s *standIn, _ *Config) { s.broken = 99 }, Down, "503"},
		"rate limit":  {func(s *standIn, _ *Config) { s.refuse = code(429, "") }, Busy, "429"},
		"down":        {func(_ *standIn, c *Config) { c.Endpoint = "http://127.0.0.1:1" }, Offline, "why: cannot reach 127.0.0.1:1: connection refused; searched /"},
		"offline":     {func(_ *standIn, c *Config) { c.Offline = "HF_HUB_OFFLINE" }, Offline, "is not present in the HuggingFace cache"},
		"stall":       {func(s *standIn, c *Config) { s.stall, c.Stall = true, 500*time.Millisecond }, "", "tokenizer.json"},
		"wrong bytes": {func(s *standIn, _ *Config) {
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				if !strings.HasSuffix(r.URL.Path, "tokenizer_config.json") {
					return false
				}
				w.Header().Set("ETag", `"`+commit+`"`)
				io.WriteString(w, "other")
				return true
			}
		}, Down, "hash"},
		"no JSON": {func(s *standIn, _ *Config) {
			s.refuse = func(w http.ResponseWriter, _ *http.Request) bool { io.WriteString(w, "<html>"); return true }
		}, Down, "not JSON"},
		"loop": {func(s *standIn, _ *Config) {
			s.refuse = func(w http.ResponseWriter, r *http.Request) bool {
				http.Redirect(w, r, r.URL.Path, http.StatusFound)
				return true
			}
		}, Down, "redirects"},
		"cache is a file": {func(_ *standIn, c *Config) {
			c.Cache = filepath.Join(c.Cache, "f")
			_ = os.WriteFile(c.Cache, nil, 0o644)
		}, Down, "f"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStandIn(t)
			cfg := s.config(t)
			c.set(s, &cfg)
			_, err := s.fetch(t, cfg)
			var e *Error
			if !errors.As(err, &e) {
				t.Fatalf("error %v", err)
			}
			if c.kind != "" && e.Kind != c.kind {
				t.Errorf("kind %q, want %q (%v)", e.Kind, c.kind, err)
			}
			if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "o/m") {
				t.Errorf("message %q does not say %q", err, c.says)
			}
		})
	}
}

func TestNamesCannotLeaveTheCache(t *testing.T) {
	s := newStandIn(t)
	for _, repo := range []string{"../x", "a/../b", "a/b/c", "", `a\b`} {
		if _, err := s.config(t).Files(t.Context(), repo, "main", want, enough); err == nil {
			t.Errorf("%q was taken", repo)
		}
	}
	s.files["../evil"] = "x"
	files, err := s.config(t).Files(t.Context(), "o/m", "main", func(string) bool { return true }, enough)
	if err != nil || files["../evil"] != "" {
		t.Errorf("%v, %v", files, err)
	}
}

func TestResolve(t *testing.T) {
	s := newStandIn(t)
	c := s.config(t)
	if id, err := c.Resolve(t.Context(), "qwen3-0.6b"); err != nil || id != "Qwen/Qwen3-0.6B" {
		t.Errorf("Resolve = %q, %v", id, err)
	}
	if id, err := c.Resolve(t.Context(), "A/qwen3-0.6b"); err != nil || id != "a/Qwen3-0.6B" {
		t.Errorf("Resolve = %q, %v", id, err)
	}
	var e *Error
	if _, err := c.Resolve(t.Context(), "qwen"); !errors.As(err, &e) || e.Kind != Ambiguous || !strings.Contains(err.Error(), "Qwen/Qwen3-0.6B") {
		t.Errorf("Resolve: %v", err)
	}
}

func TestFromEnv(t *testing.T) {
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "token"), []byte(" tok\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"HF_HOME": home, "HF_ENDPOINT": "http://x/", "HF_HUB_OFFLINE": "0", "TRANSFORMERS_OFFLINE": "Yes"}
	c := FromEnv(func(k string) string { return env[k] })
	if c.Endpoint != "http://x" || c.Token != "tok" || c.Cache != filepath.Join(home, "hub") || c.Offline != "TRANSFORMERS_OFFLINE" {
		t.Errorf("%+v", c)
	}
	env = map[string]string{"XDG_CACHE_HOME": "/c", "HF_TOKEN": "a", "HF_HUB_OFFLINE": "false"}
	c = FromEnv(func(k string) string { return env[k] })
	if c.Endpoint != "https://huggingface.co" || c.Token != "a" || c.Cache != "/c/huggingface/hub" || c.Offline != "" {
		t.Errorf("%+v", c)
	}
}

func TestGatedAdviceSaysWhetherATokenWasSent(t *testing.T) {
	for token, says := range map[string]string{"": "no token was sent", "hf_x": "refused the token"} {
		f := &fetcher{Config: Config{Endpoint: "https://hub", Token: token}, repo: "o/m"}
		if got := strings.Join(f.gatedAdvice(), "; "); !strings.Contains(got, says) || !strings.Contains(got, "https://hub/o/m") || strings.Contains(got, "hf_x") {
			t.Errorf("token %q: %s", token, got)
		}
	}
}

// TestDatasets: repositories of data have their own routes and their own place in the cache, and their files may lie in folders.
func TestDatasets(t *testing.T) {
	s := newStandIn(t)
	s.files = map[string]string{"data/train.parquet": strings.Repeat("p", 3000), "README.md": "x"}
	s.large = map[string]bool{"data/train.parquet": true}
	c := s.config(t)
	c.Content = Datasets
	snap, err := c.Snapshot(t.Context(), "o/m", "main")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(snap.Names, " "); got != "README.md data/train.parquet" || snap.Commit != commit {
		t.Errorf("%s at %s", got, snap.Commit)
	}
	path, err := snap.File(t.Context(), "data/train.parquet")
	if err != nil || path != filepath.Join(c.Cache, "datasets--o--m", "snapshots", commit, "data", "train.parquet") {
		t.Fatalf("%s, %v", path, err)
	}
	if s.count("/datasets/o/m/resolve/"+commit+"/data/train.parquet") != 1 {
		t.Errorf("asked %v", s.asked)
	}
	if _, err := c.Snapshot(t.Context(), "o/none", "main"); err == nil || !strings.Contains(err.Error(), "no dataset o/none") {
		t.Errorf("no repository: %v", err)
	}
	s.hub.Close()
	for offline, says := range map[string]string{"": "", "HF_HUB_OFFLINE": "HF_HUB_OFFLINE forbids"} {
		c.Offline = offline
		snap, err := c.Snapshot(t.Context(), "o/m", "main")
		if err != nil || strings.Join(snap.Names, " ") != "data/train.parquet" {
			t.Errorf("offline %q: %v, %v", offline, snap, err)
			continue
		}
		if again, err := snap.File(t.Context(), "data/train.parquet"); err != nil || again != path {
			t.Errorf("offline %q: %s, %v", offline, again, err)
		}
		if _, err := snap.File(t.Context(), "README.md"); err == nil || !strings.Contains(err.Error(), "is not in the cache") {
			t.Errorf("offline %q: README.md: %v", offline, err)
		}
		if _, err := c.Snapshot(t.Context(), "o/other", "main"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("offline %q: o/other: %v", offline, err)
		}
	}
}

// TestKilledDownloadGoesOn: the part that a killed process had fetched is not fetched again, and damage in it is found.
func TestKilledDownloadGoesOn(t *testing.T) {
	for name, c := range map[string]struct {
		left string // by the killed process
		says string // error of the next attempt
	}{
		"good":    {strings.Repeat("x", 2000), ""},
		"damaged": {strings.Repeat("y", 2000), "damaged"},
	} {
		s := newStandIn(t)
		cfg := s.config(t)
		blobs := filepath.Join(cfg.Cache, "models--o--m", "blobs")
		if err := os.MkdirAll(blobs, 0o755); err != nil {
			t.Fatal(err)
		}
		p, err := openPartial(blobs, commit+"/tokenizer.json")
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(p, c.left)
		p.keepData = true
		p.Close()
		_, err = s.fetch(t, cfg)
		if c.says == "" && err != nil || c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)) {
			t.Errorf("%s: %v", name, err)
		}
		if got := strings.Join(s.ranges, " "); got != "bytes=2000-" {
			t.Errorf("%s: asked for %q", name, got)
		}
		if c.says != "" {
			if _, err := s.fetch(t, cfg); err != nil {
				t.Errorf("%s: the attempt after it: %v", name, err)
			}
		}
	}
}

// TestTwoDownloadsAtOnce: a second process does not write into the partial download of the first.
func TestTwoDownloadsAtOnce(t *testing.T) {
	dir := t.TempDir()
	a, err := openPartial(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	b, err := openPartial(dir, "x")
	if err != nil {
		t.Fatal(err)
	}
	if a.Name() == b.Name() {
		t.Errorf("both write %s", a.Name())
	}
	a.Close()
	b.Close()
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}
