//go:build unix

package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	"github.com/parquet-go/parquet-go/format"

	"aiperf/internal/base/testhome"
)

// standInHub serves the data set AI-MO/NuminaMath-CoT: one file, that need not lie anywhere.
type standInHub struct {
	*httptest.Server
	content io.ReaderAt
	size    int64
	sum     string

	mu     sync.Mutex
	ranges []string
	sent   int64
	gate   func(n int) // called for the nth request of content, from 1, before it is answered; nil = nothing is
}

const shardName = "data/train-00000-of-00001.parquet"

func newStandInHub(t *testing.T, content io.ReaderAt, size int64, sum string) *standInHub {
	h := &standInHub{content: content, size: size, sum: sum}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *standInHub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	switch r.URL.Path {
	case "/api/datasets/AI-MO/NuminaMath-CoT/revision/main":
		fmt.Fprintf(w, `{"sha":%q,"siblings":[{"rfilename":%q,"size":%d,"lfs":{"sha256":%q,"size":%[3]d}}]}`, commit, shardName, h.size, h.sum)
	case "/datasets/AI-MO/NuminaMath-CoT/resolve/" + commit + "/" + shardName:
		h.mu.Lock()
		h.ranges = append(h.ranges, r.Header.Get("Range"))
		n, gate := len(h.ranges), h.gate
		h.mu.Unlock()
		if gate != nil {
			gate(n)
		}
		w.Header().Set("ETag", `"`+h.sum+`"`)
		http.ServeContent(&counted{w, h}, r, "", time.Time{}, io.NewSectionReader(h.content, 0, h.size))
	default:
		http.NotFound(w, r)
	}
}

// counted counts the bytes that are sent.
type counted struct {
	http.ResponseWriter
	hub *standInHub
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.hub.mu.Lock()
	c.hub.sent += int64(n)
	c.hub.mu.Unlock()
	return n, err
}

// traffic returns the ranges that were asked for and the bytes that were sent.
func (h *standInHub) traffic() (ranges []string, sent int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.ranges), h.sent
}

// withHub lets a process use the hub and its own cache.
func (p *process) withHub(h *standInHub, cache string, more ...string) *process {
	p.cmd.Env = append(p.cmd.Env, append([]string{"HF_ENDPOINT=" + h.URL, "HF_HOME=" + cache, "HF_TOKEN=", "HF_HUB_OFFLINE="}, more...)...)
	return p
}

// puller is `dataset pull aimo_numina_cot`.
func puller(t *testing.T, h *standInHub, cache string, more ...string) *process {
	p := &process{t: t, cmd: command(t, "dataset", "pull", "aimo_numina_cot")}
	p.stderr.more = make(chan struct{}, 1)
	p.cmd.Stdout, p.cmd.Stderr = &p.stdout, &p.stderr
	return p.withHub(h, cache, more...)
}

// TestKilledPullGoesOn: a download whose process is killed continues with the missing parts; then damage in the cache is found and repaired.
func TestKilledPullGoesOn(t *testing.T) {
	testhome.Slow(t)
	t.Parallel()
	const parts, each = 8, 8 << 20
	content := bytes.Repeat([]byte("0123456789abcdefghijklmnopqrstuvwxyz\n"), parts*each/37+1)[:parts*each]
	for i := range parts {
		content[i*each] = byte(i) // no part is like another
	}
	h := newStandInHub(t, bytes.NewReader(content), parts*each, fmt.Sprintf("%x", sha256.Sum256(content)))
	release, blocked := make(chan struct{}), make(chan struct{}, parts)
	h.mu.Lock()
	h.gate = func(n int) {
		if n > 3 {
			blocked <- struct{}{}
			<-release
		}
	}
	h.mu.Unlock()
	cache := t.TempDir()
	p := puller(t, h, cache).start()
	for range 4 { // then all workers wait: three parts were brought and written down
		<-blocked
	}
	p.signal(syscall.SIGKILL)
	if p.wait() != -1 {
		t.Fatal("was not killed")
	}
	h.mu.Lock()
	brought := slices.Clone(h.ranges[:3]) // the gate let these pass; which they are is the workers' business
	h.gate, h.sent, h.ranges = nil, 0, nil
	h.mu.Unlock()
	close(release)
	if p = puller(t, h, cache); p.run() != 0 || !strings.Contains(p.stderr.String(), "continues after 25.2 MB") {
		t.Fatalf("%s%s", &p.stdout, p.stderr.String())
	}
	if ranges, _ := h.traffic(); len(ranges) != parts-3 || slices.ContainsFunc(ranges, func(one string) bool { return slices.Contains(brought, one) }) {
		t.Errorf("asked for %v after %v", ranges, brought)
	}
	blob := filepath.Join(cache, "hub", "datasets--AI-MO--NuminaMath-CoT", "blobs", h.sum)
	if b, err := os.ReadFile(blob); err != nil || !bytes.Equal(b, content) {
		t.Fatalf("%d bytes, %v: not what the hub has", len(b), err)
	}
	file, err := os.OpenFile(blob, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := file.WriteAt([]byte{'!'}, parts*each/2); err != nil {
		t.Fatal(err)
	}
	file.Close()
	if p = puller(t, h, cache, "HF_HUB_OFFLINE=1"); p.run() != 1 || !strings.Contains(p.stderr.String(), "Damaged Cache") {
		t.Errorf("offline: %s%s", &p.stdout, p.stderr.String())
	}
	if p = puller(t, h, cache); p.run() != 0 || !strings.Contains(p.stderr.String(), "is damaged") {
		t.Errorf("%s%s", &p.stdout, p.stderr.String())
	}
	if b, err := os.ReadFile(blob); err != nil || !bytes.Equal(b, content) {
		t.Errorf("%d bytes, %v: the damage is still there", len(b), err)
	}
}

// spread is a Parquet file whose row groups lie far apart; between them is nothing but zeros, which nobody keeps.
type spread struct {
	small  []byte // the file as it was written
	groups []move
	footer []byte
	size   int64
}

// move is where bytes of the small file lie in the large one.
type move struct{ from, to, at int64 }

func (s *spread) ReadAt(p []byte, off int64) (int, error) {
	clear(p)
	put := func(b []byte, at int64) {
		if lo, hi := max(at, off), min(at+int64(len(b)), off+int64(len(p))); lo < hi {
			copy(p[lo-off:], b[lo-at:hi-at])
		}
	}
	put(s.small[:4], 0)
	for _, g := range s.groups {
		put(s.small[g.from:g.to], g.at)
	}
	put(s.footer, s.size-int64(len(s.footer)))
	return len(p), nil
}

// tenGigabytes is such a file of 100 groups of 500 rows.
func tenGigabytes(t *testing.T) *spread {
	type row struct {
		Problem  string `parquet:"problem"`
		Solution string `parquet:"solution"`
	}
	const groups, rows, apart = 100, 500, int64(100 << 20)
	var b bytes.Buffer
	w := parquet.NewGenericWriter[row](&b, parquet.MaxRowsPerRowGroup(rows))
	for i := range groups * rows {
		if _, err := w.Write([]row{{fmt.Sprintf("What is %d + 1?", i), strings.Repeat("because ", i%50)}}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	s := &spread{small: b.Bytes()}
	file, err := parquet.OpenFile(bytes.NewReader(s.small), int64(len(s.small)))
	if err != nil {
		t.Fatal(err)
	}
	meta := *file.Metadata()
	if len(meta.RowGroups) != groups {
		t.Fatalf("%d row groups", len(meta.RowGroups))
	}
	for g := range meta.RowGroups {
		columns := meta.RowGroups[g].Columns
		m := move{from: start(&columns[0].MetaData), at: 4 + int64(g)*apart}
		for c := range columns {
			d := &columns[c].MetaData
			m.to = max(m.to, start(d)+d.TotalCompressedSize)
			shift := m.at - m.from
			d.DataPageOffset += shift
			if d.DictionaryPageOffset > 0 {
				d.DictionaryPageOffset += shift
			}
			columns[c].OffsetIndexOffset, columns[c].OffsetIndexLength, columns[c].ColumnIndexOffset, columns[c].ColumnIndexLength = 0, 0, 0, 0
		}
		meta.RowGroups[g].FileOffset += m.at - m.from
		s.groups = append(s.groups, m)
	}
	if s.footer, err = thrift.Marshal(new(thrift.CompactProtocol), &meta); err != nil {
		t.Fatal(err)
	}
	n := len(s.footer)
	s.footer = append(s.footer, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	s.footer = append(s.footer, "PAR1"...)
	s.size = 4 + groups*apart + int64(len(s.footer))
	return s
}

// start is where the pages of a column begin.
func start(d *format.ColumnMetaData) int64 {
	if d.DictionaryPageOffset > 0 {
		return min(d.DictionaryPageOffset, d.DataPageOffset)
	}
	return d.DataPageOffset
}

// TestTenGigabytesAreNotReadWhole: of a set of 10 GB a run reads the footer and the columns and row groups that it needs, in little memory, with a
// number of requests and with a duration.
func TestTenGigabytesAreNotReadWhole(t *testing.T) {
	testhome.Slow(t)
	content := tenGigabytes(t)
	h := newStandInHub(t, content, content.size, strings.Repeat("0f", 32))
	for _, stop := range [][]string{{"--request-count", "600"}, {"--benchmark-duration", "1", "--request-rate", "100"}} {
		h.mu.Lock()
		h.sent = 0
		h.mu.Unlock()
		p := program(t, append([]string{"--public-dataset", "aimo_numina_cot", "--url", "mock://?ttft=1ms&itl=0ms", "--model", "m", "--tokenizer", "builtin", "--osl", "1",
			"--concurrency", "8"}, stop...)...).withHub(h, t.TempDir())
		if p.run() != 0 {
			t.Fatalf("%v: %s", stop, p.stderr.String())
		}
		used, _ := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
		ranges, sent := h.traffic()
		if sent > 16<<20 || used.Maxrss > 512<<10 {
			t.Errorf("%v: %d bytes of %d were read, with %d kB of memory", stop, sent, content.size, used.Maxrss)
		}
		t.Logf("%v: %.1f of %.0f MB read in %d pieces, %d MB of memory", stop, float64(sent)/1e6, float64(content.size)/1e6, len(ranges), used.Maxrss>>10)
		var inputs struct {
			Data []struct {
				Payloads []struct{ Messages []struct{ Content string } }
			}
		}
		text, err := os.ReadFile(filepath.Join(p.dir, "inputs.json"))
		if err == nil {
			err = json.Unmarshal(text, &inputs)
		}
		if err != nil || len(inputs.Data) < 50 || len(inputs.Data) > 5000 {
			t.Fatalf("%v: %d sessions are listed, %v", stop, len(inputs.Data), err)
		}
		for i, s := range inputs.Data {
			if got := s.Payloads[0].Messages[0].Content; got != fmt.Sprintf("What is %d + 1?", i) {
				t.Fatalf("%v: prompt %d is %q", stop, i, got)
			}
		}
	}
}
