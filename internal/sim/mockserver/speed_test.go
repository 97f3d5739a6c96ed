package mockserver

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
)

// drain sends one streaming request and reads until the end of the answer's body.
func drain(t testing.TB, addr string, body string) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Error(err)
		return
	}
	defer c.Close()
	fmt.Fprintf(c, "POST %s HTTP/1.1\r\nContent-Length: %d\r\n\r\n%s", chatPath, len(body), body)
	buf := make([]byte, 256<<10)
	end := []byte("\r\n0\r\n\r\n")
	for kept := 0; ; {
		n, err := c.Read(buf[kept:])
		if bytes.HasSuffix(buf[:kept+n], end) {
			return
		}
		if err != nil {
			t.Error(err)
			return
		}
		kept = copy(buf, buf[max(0, kept+n-len(end)):kept+n])
	}
}

// BenchmarkEvents measures the CPU that the server process spends on a streamed event when nothing paces it: one write for each event.
func BenchmarkEvents(b *testing.B) {
	child := startChild(b, "ttft=0&itl=0&count-prompt=false")
	addr := child.url[len("http://"):]
	const events = 20000
	body := chatBody(true, fmt.Sprintf(`,"max_tokens":%d,"ignore_eos":true`, events))
	n := 0
	for b.Loop() {
		drain(b, addr, body)
		n += events
	}
	wall := b.Elapsed()
	child.stop(b)
	cpu := child.cpu()
	b.ReportMetric(float64(n)/cpu.Seconds(), "events/cpu-s")
	b.ReportMetric(float64(n)/wall.Seconds(), "events/s")
}

// BenchmarkLateness measures how late the server's own writes are, from its truth log.
func BenchmarkLateness(b *testing.B) {
	for _, streams := range []int{100, 400} {
		b.Run(fmt.Sprint(streams), func(b *testing.B) { lateness(b, streams) })
	}
}

func lateness(b *testing.B, streams int) {
	path := filepath.Join(b.TempDir(), "truth.jsonl")
	child := startChild(b, "ttft=50ms&itl=10ms&tokens=200&count-prompt=false&truth-log="+path)
	n := 0
	for b.Loop() {
		var wg sync.WaitGroup
		for range streams {
			wg.Go(func() { drain(b, child.url[len("http://"):], chatBody(true, "")) })
		}
		wg.Wait()
		n++
	}
	child.stop(b)
	cpu := child.cpu()
	log, err := os.ReadFile(path)
	if err != nil {
		b.Fatal(err)
	}
	var late []int64
	for line := range bytes.Lines(log) {
		var t Truth
		if err := json.Unmarshal(line, &t); err != nil {
			b.Fatal(err)
		}
		for _, w := range t.Writes {
			if w.Events > 0 {
				late = append(late, w.Before-w.Due)
			}
		}
	}
	slices.Sort(late)
	b.ReportMetric(float64(late[len(late)/2])/1e3, "p50-late-µs")
	b.ReportMetric(float64(late[len(late)*99/100])/1e3, "p99-late-µs")
	b.ReportMetric(float64(cpu.Microseconds())/float64(len(late)), "cpu-µs/event")
}
