//go:build unix

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
)

// flood writes a head and then copies of a piece until a given number of bytes are out or nobody reads.
func flood(t *testing.T, head string, piece string, most int64) string {
	block := []byte(strings.Repeat(piece, 1+(256<<10)/len(piece)))
	return wire(t, func(c *net.TCPConn) {
		_, err := io.WriteString(c, strings.ReplaceAll(head, "\n", "\r\n"))
		for n := int64(0); err == nil && n < most; n += int64(len(block)) {
			_, err = c.Write(block)
		}
	})
}

// bomb is 80 MiB of blanks, compressed a thousandfold.
func bomb(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	blanks := bytes.Repeat([]byte(" "), 1<<20)
	for range 80 {
		if _, err := z.Write(blanks); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHeavyAnswers: whatever a server sends, the client's memory stays within a few times the largest answer that it takes (64 MiB), and the
// run ends by itself with a failure that says so. With -v the peak of each is printed. Before there was a bound, 1 GB of JSON took 7.2 GB and an
// endless error body 6.2 GB.
func TestHeavyAnswers(t *testing.T) {
	testhome.Slow(t)
	const (
		json = "HTTP/1.1 200 OK\nContent-Type: application/json\nConnection: close\n"
		gig  = 1 << 30
	)
	stream := strings.ReplaceAll(sse, "\r\n", "\n") + "Connection: close\n"
	words := strings.Replace(event, `"well"`, `" well, and so on and on"`, 1)
	for _, c := range []struct {
		name, head, piece string
		most              int64
		says              string // in the message of the error; "" = the requests succeed
		limit             int64  // kB of the resident set
	}{
		{"1 GB of JSON", fmt.Sprintf("%sContent-Length: %d\n\n", json, gig), " ", gig, "larger than 67108864 bytes", 256 << 10},
		{"1 GB of JSON of unknown length", json + "\n", " ", gig, "larger than 67108864 bytes", 768 << 10},
		{"an endless error body", "HTTP/1.1 500 Oops\nConnection: close\n\n", "no ", 1 << 40, "no no no", 256 << 10},
		{"an endless stream", stream + "\n", words, 1 << 40, "larger than 67108864 bytes", 768 << 10},
		{"an endless stream of tiny events", stream + "\n", "data: 1\n\n", 1 << 40, "more than 524288 events", 768 << 10},
		{"an endless stream after its end", stream + "\n" + event + "data: [DONE]\n\n", event, 1 << 40, "", 256 << 10},
		{"a head of 1 MB in folded lines", "HTTP/1.1 200 OK\nX-Long: a\n", " a\r\n", 1 << 40, "head larger than", 256 << 10},
		{"one endless line", stream + "\ndata: ", "x", 1 << 40, "larger than 67108864 bytes", 768 << 10},
		{"a gzip bomb", json + "Content-Encoding: gzip\n\n", bomb(t), 1 << 20, "larger than 67108864 bytes", 768 << 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := program(t, towards(flood(t, c.head, c.piece, c.most), "--streaming", "--concurrency", "1", "--request-count", "1", "--export-level", "raw")...)
			want := 1
			if c.says == "" {
				want = 0
			}
			from := time.Now()
			if got := p.run(); got != want {
				t.Errorf("exit status %d, want %d\n%s", got, want, p.stderr.String())
			}
			p.complete(1)
			if c.says != "" && !strings.Contains(p.stdout.String()+p.stderr.String(), c.says) {
				t.Errorf("%q is not told:\n%s", c.says, p.stderr.String())
			}
			ru, ok := p.cmd.ProcessState.SysUsage().(*syscall.Rusage)
			if !ok {
				return
			}
			t.Logf("peak %d MB, %.1f s", ru.Maxrss>>10, time.Since(from).Seconds())
			if ru.Maxrss > c.limit && ru.Maxrss < 1<<30 { // kB; other systems count bytes
				t.Errorf("the resident set grew to %d kB, more than %d", ru.Maxrss, c.limit)
			}
		})
	}
}
