package hfhub

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// inSmallParts makes parts of 1 kB of files from 4 kB on.
func inSmallParts(t *testing.T) {
	size, from := partSize, inPartsFrom
	partSize, inPartsFrom = 1000, 4000
	t.Cleanup(func() { partSize, inPartsFrom = size, from })
}

// newLarge serves a data set of one large file.
func newLarge(t *testing.T, size int) (*standIn, Config) {
	s := newStandIn(t)
	text := make([]byte, size)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range text {
		text[i] = byte(r.Uint32())
	}
	s.files = map[string]string{"train.parquet": string(text)}
	s.large = map[string]bool{"train.parquet": true}
	c := s.config(t)
	c.Content = Datasets
	return s, c
}

// pull brings the large file.
func pull(t *testing.T, c Config) (path string, err error) {
	t.Helper()
	snap, err := c.Snapshot(t.Context(), "o/m", "main")
	if err != nil {
		return "", err
	}
	return snap.File(t.Context(), "train.parquet")
}

func (s *standIn) same(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != s.files["train.parquet"] {
		t.Errorf("%s: %d bytes, %v: not what the hub has", path, len(b), err)
	}
}

// TestParts: a large file comes in parts side by side, and cut connections are mended within their part.
func TestParts(t *testing.T) {
	inSmallParts(t)
	s, c := newLarge(t, 9500)
	s.cut = 3
	var mu sync.Mutex
	last := int64(0)
	c.Progress = func(_ string, done, total int64) {
		mu.Lock()
		defer mu.Unlock()
		if last = max(last, done); total != 9500 {
			t.Errorf("total %d", total)
		}
	}
	path, err := pull(t, c)
	if err != nil {
		t.Fatal(err)
	}
	s.same(t, path)
	if slices.Sort(s.ranges); len(s.ranges) != 13 || !slices.Contains(s.ranges, "bytes=9000-9499") || last != 9500 {
		t.Errorf("asked for %v, told of %d bytes", s.ranges, last)
	}
	if left, _ := filepath.Glob(filepath.Join(c.Cache, "*", "blobs", "*.incomplete*")); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

// TestPartsGoOn: parts that are there are not fetched again; those of another content are.
func TestPartsGoOn(t *testing.T) {
	inSmallParts(t)
	s, c := newLarge(t, 9500)
	ctx, cancel := context.WithCancel(t.Context())
	c.Progress = func(_ string, done, _ int64) {
		if done >= 5000 {
			cancel()
		}
	}
	snap, err := c.Snapshot(ctx, "o/m", "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snap.File(ctx, "train.parquet"); err == nil {
		t.Fatal("a download that was called off came to its end")
	}
	ledgers, _ := filepath.Glob(filepath.Join(c.Cache, "*", "blobs", "*"+partsEnding))
	if len(ledgers) != 1 {
		t.Fatalf("ledgers %v", ledgers)
	}
	text, err := os.ReadFile(ledgers[0])
	if err != nil {
		t.Fatal(err)
	}
	there := bytes.Split(bytes.TrimSpace(text), []byte("\n"))[1:]
	s.storage.Close() // and wait for what is under way
	s.storage = httptest.NewServer(http.HandlerFunc(s.store))
	t.Cleanup(s.storage.Close)
	s.ranges, c.Progress = nil, nil
	path, err := pull(t, c)
	if err != nil {
		t.Fatal(err)
	}
	s.same(t, path)
	if len(there) == 0 || len(s.ranges) != 10-len(there) {
		t.Errorf("the parts %s were there, asked for %v", there, s.ranges)
	}
}

// TestPartsAfterOnePiece: after an interrupted download in one piece, its complete parts are used.
func TestPartsAfterOnePiece(t *testing.T) {
	inSmallParts(t)
	s, c := newLarge(t, 9500)
	blobs := filepath.Join(c.Cache, "datasets--o--m", "blobs")
	if err := os.MkdirAll(blobs, 0o755); err != nil {
		t.Fatal(err)
	}
	p, err := openPartial(blobs, commit+"/train.parquet")
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(p, s.files["train.parquet"][:3700])
	p.keepData = true
	p.Close()
	path, err := pull(t, c)
	if err != nil {
		t.Fatal(err)
	}
	s.same(t, path)
	if len(s.ranges) != 7 || slices.Contains(s.ranges, "bytes=2000-2999") {
		t.Errorf("asked for %v", s.ranges)
	}
}

// whole makes a storage that sends no ranges.
func (s *standIn) whole() {
	s.storage.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.ranges = append(s.ranges, r.Header.Get("Range"))
		s.mu.Unlock()
		io.WriteString(w, s.files[r.URL.Path[1:]])
	})
}

// TestNoRanges: a storage that sends files only as a whole is read in one piece.
func TestNoRanges(t *testing.T) {
	inSmallParts(t)
	s, c := newLarge(t, 9500)
	s.whole()
	path, err := pull(t, c)
	if err != nil {
		t.Fatal(err)
	}
	s.same(t, path)
	snap, err := c.Snapshot(t.Context(), "o/m", "main")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := snap.Remote(t.Context(), "train.parquet").ReadAt(make([]byte, 10), 5000); err != nil {
		t.Errorf("a file of less than a block: %v", err)
	}
}

// TestRemote: pieces of a file are what the file has there, and only blocks that are asked for are fetched.
func TestRemote(t *testing.T) {
	s, c := newLarge(t, 40*blockSize+123)
	text := s.files["train.parquet"]
	snap, err := c.Snapshot(t.Context(), "o/m", "main")
	if err != nil {
		t.Fatal(err)
	}
	r := snap.Remote(t.Context(), "train.parquet")
	if r.Size() != int64(len(text)) {
		t.Fatalf("size %d", r.Size())
	}
	for _, at := range []int64{r.Size() - 8, 10, blockSize - 3, 20*blockSize - 1} {
		b := make([]byte, 8)
		if n, err := r.ReadAt(b, at); n != 8 || err != nil || string(b) != text[at:at+8] {
			t.Errorf("at %d: %d bytes, %v", at, n, err)
		}
	}
	if n, err := r.ReadAt(make([]byte, 9), r.Size()-8); n != 8 || !errors.Is(err, io.EOF) {
		t.Errorf("beyond the end: %d, %v", n, err)
	}
	if got := r.Fetched(); got > 8*blockSize {
		t.Errorf("%d bytes fetched", got)
	}
	if _, err := r.Seek(-5, io.SeekEnd); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != text[len(text)-5:] {
		t.Errorf("the end: %q, %v", b, err)
	}
	asked := len(s.ranges)
	if _, err := r.Seek(0, io.SeekStart); err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(r); err != nil || string(b) != text {
		t.Errorf("all of it: %d bytes, %v", len(b), err)
	}
	if more := len(s.ranges) - asked; more > 12 {
		t.Errorf("%d requests for 40 blocks in their order", more)
	}
	if hub := s.count("/datasets/o/m/resolve/" + commit + "/train.parquet"); hub != 1 {
		t.Errorf("the hub was asked %d times where the file lies", hub)
	}
}

// TestDamagedCache: a file of the cache that is not what its name says is fetched again, or refused where nothing can be fetched.
func TestDamagedCache(t *testing.T) {
	s, c := newLarge(t, 9500)
	path, err := pull(t, c)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(b []byte) []byte{
		"a byte":    func(b []byte) []byte { b[77] ^= 1; return b },
		"cut short": func(b []byte) []byte { return b[:500] },
	} {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, change(b), 0o600); err != nil {
			t.Fatal(err)
		}
		off := c
		off.Offline = "HF_HUB_OFFLINE"
		var e *Error
		if _, err := pull(t, off); !errors.As(err, &e) || e.Kind != Damaged || !strings.Contains(err.Error(), path) {
			t.Errorf("%s, offline: %v", name, err)
		}
		said := ""
		c.Notice = func(text string) { said += text }
		if path, err = pull(t, c); err != nil || !strings.Contains(said, "damaged") {
			t.Errorf("%s: %v, %q", name, err, said)
		}
		s.same(t, path)
	}
	models := s.config(t)
	s.files = map[string]string{"tokenizer.json": "{}", "tokenizer_config.json": "{}"}
	s.large = nil
	files, err := s.fetch(t, models)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files["tokenizer.json"], []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if files, err = s.fetch(t, models); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(files["tokenizer.json"]); err != nil || string(b) != "{}" {
		t.Errorf("the tokenizer is still damaged: %q, %v", b, err)
	}
}

// TestFullDisk: a full disk is reported before the download if the size is known, otherwise when it occurs; finished parts are kept.
func TestFullDisk(t *testing.T) {
	_, c := newLarge(t, 9500)
	c.Free = func(string) (int64, bool) { return 9000, true }
	var e *Error
	if _, err := pull(t, c); !errors.As(err, &e) || e.Kind != DiskFull || !strings.Contains(err.Error(), "needs 9.5 kB more disk space, but only 9.0 kB are free") {
		t.Errorf("%v", err)
	}
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil { // no such device on this system: the sentence is what remains to be tested
		full, err = os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
	}
	defer full.Close()
	f := &fetcher{Config: c, repo: "o/m", rev: "main"}
	err = f.copy(full, strings.NewReader("x"))
	if !errors.As(err, new(permanentError)) || !errors.As(err, &e) || isFull(err) && (e.Kind != DiskFull || !strings.Contains(err.Error(), "continues the download")) {
		t.Errorf("%v", err)
	}
	if p := (&partial{}); p.giveUp(f.fail(DiskFull, "o/m", "main", nil)) == nil || !p.keepData {
		t.Error("what came before the disk was full is thrown away")
	}
}

// TestPausesAsAsked: a hub that asks for a pause gets it, however often; one that asks for too long a pause is reported.
func TestPausesAsAsked(t *testing.T) {
	s, c := newLarge(t, 500)
	left, head, value := 5, "Retry-After", "0.001"
	s.refuse = func(w http.ResponseWriter, _ *http.Request) bool {
		if left--; left < 0 {
			return false
		}
		w.Header().Set(head, value)
		w.WriteHeader(http.StatusTooManyRequests)
		return true
	}
	waits := 0
	c.Notice = func(text string) {
		if strings.Contains(text, "429") && strings.Contains(text, "as the server asks") {
			waits++
		}
	}
	if _, err := pull(t, c); err != nil || waits != 5 {
		t.Errorf("%d pauses, %v", waits, err)
	}
	left, value = 99, "7200"
	if _, err := c.Snapshot(t.Context(), "o/other", "main"); err == nil || !strings.Contains(err.Error(), "retry in 2h0m0s") || !strings.Contains(err.Error(), string(Busy)) {
		t.Errorf("%v", err)
	}
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, x := range []struct {
		head, value string
		want        time.Duration
	}{
		{"Retry-After", "30", 30 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:05:05 GMT", time.Minute},
		{"Retry-After", "Fri, 02 Jan 2026 03:00:00 GMT", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After", "-3", 0},
		{"RateLimit", `"api";r=0;t=55`, 55 * time.Second},
		{"Other", "1", 0},
	} {
		if got := pauseAsked(http.Header{http.CanonicalHeaderKey(x.head): {x.value}}, now); got != x.want {
			t.Errorf("%s: %s: %v, want %v", x.head, x.value, got, x.want)
		}
	}
}

// TestRefusals: every refusal says in a sentence what it is and what to do.
func TestRefusals(t *testing.T) {
	for _, x := range []struct {
		status      int
		code, token string
		kind        Kind
		says        string
	}{
		{401, "GatedRepo", "", Gated, "no token was sent"},
		{401, "", "bad", Unauthorized, "set HF_TOKEN to a valid read token"},
		{401, "", "", NotFound, "set HF_TOKEN if the repository is private"},
		{403, "GatedRepo", "t", Gated, "/datasets/o/m, use a token of the account"},
		{403, "", "t", Gated, "a copy of the files"},
		{404, "RepoNotFound", "t", NotFound, "does not have the dataset"},
		{404, "RevisionNotFound", "t", BadRevision, `no revision "main"`},
		{404, "EntryNotFound", "t", NoData, "does not have"},
		{429, "", "t", Busy, "run again later"},
		{500, "", "t", Down, "again later"},
	} {
		s, c := newLarge(t, 500)
		c.Token = x.token
		s.hub.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Error-Code", x.code)
			w.WriteHeader(x.status)
		})
		var e *Error
		if _, err := pull(t, c); !errors.As(err, &e) || e.Kind != x.kind || !strings.Contains(err.Error(), x.says) || !strings.Contains(err.Error(), fmt.Sprint(x.status)) {
			t.Errorf("%d %s: %v", x.status, x.code, err)
		}
	}
}

// TestDirectoryStandsForARepository: a copy of the files is all that is read.
func TestDirectoryStandsForARepository(t *testing.T) {
	s, c := newLarge(t, 9500)
	if _, err := pull(t, c); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "copy")
	if n, err := c.Stored("o/m", "main").CopyTo(dir); n != 1 || err != nil {
		t.Fatalf("%d files, %v", n, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, ".git", "config"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	s.hub.Close()
	c.Dir, c.Offline, c.Cache = dir, "", t.TempDir()
	path, err := pull(t, c)
	if err != nil || path != filepath.Join(dir, "train.parquet") {
		t.Fatalf("%s, %v", path, err)
	}
	s.same(t, path)
	if snap, err := c.Snapshot(t.Context(), "o/m", "main"); err != nil || len(snap.Names) != 1 || snap.Remote(t.Context(), "train.parquet") != nil {
		t.Errorf("%+v, %v", snap, err)
	}
	c.Dir = t.TempDir()
	if _, err := c.Snapshot(t.Context(), "o/m", "main"); err == nil || !strings.Contains(err.Error(), c.Dir) {
		t.Errorf("an empty directory: %v", err)
	}
}
