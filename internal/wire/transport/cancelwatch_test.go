package transport

import (
	"bufio"
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"aiperf/internal/measure/record"
)

// TestContextsOfManyRequests: the end of a context cuts all requests of it and no other, whether or not requests of another one are under way; the
// requests of the next context are answered.
func TestContextsOfManyRequests(t *testing.T) {
	const many = 8
	hang := rawServer(t, func(c *net.TCPConn, r *bufio.Reader) {
		readRequest(r)
		io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: a\n\n")
		r.ReadByte()
	})
	fast := newAnswers(t, okAnswer)
	c := mustClient(t, nil)
	for range 3 { // a watch that has fired is used again
		first, endFirst := context.WithCancel(t.Context())
		second, endSecond := context.WithCancel(t.Context())
		var arrived sync.WaitGroup
		send := func(ctx context.Context, over *sync.WaitGroup, ended *atomic.Int32) {
			arrived.Add(1)
			over.Go(func() {
				var rec record.Record
				var once sync.Once
				c.Do(ctx, &Request{Target: hang}, &rec, func([]record.Message) *record.Error { once.Do(arrived.Done); return nil })
				ended.Add(1)
				if rec.Error == nil || rec.Error.Type != ErrCancelled || ctx.Err() == nil {
					t.Errorf("error %+v, context %v", rec.Error, ctx.Err())
				}
			})
		}
		var ofFirst, ofSecond sync.WaitGroup
		var firstEnded, secondEnded atomic.Int32
		for range many {
			send(first, &ofFirst, &firstEnded)
			send(second, &ofSecond, &secondEnded)
		}
		arrived.Wait()
		endFirst()
		ofFirst.Wait()
		if n := secondEnded.Load(); n != 0 {
			t.Errorf("%d requests of the other context ended", n)
		}
		endSecond()
		ofSecond.Wait()
		var rec record.Record
		ctx, end := context.WithCancel(t.Context())
		if c.Do(ctx, &Request{Target: fast.target}, &rec, nil); rec.Error != nil {
			t.Errorf("afterwards: %+v", rec.Error)
		}
		end()
	}
}
