package bus

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"aiperf/internal/base/testhome"
	"aiperf/internal/base/testlink"
)

// through returns how to reach a controller by a link. There is no clock by UDP.
func through(l *testlink.Link) Join { return Join{Host: "127.0.0.1", Port: l.Port()} }

// TestCuts: connections are cut again and again. Every piece is stored once, in order and unchanged; every question is handled once; every order comes
// once and in order.
func TestCuts(t *testing.T) {
	testhome.Slow(t)
	c := listen(t, Options{})
	l := testlink.New(t, c.Join().address())
	const count = 300
	orders := make(chan string, count)
	w := dial(t, through(l), "w1", func(_ string, data []byte) { orders <- string(data) })
	out := w.Outbox(0, 8<<20)
	r := rand.New(rand.NewPCG(1, 2))
	var want [][]byte
	var asks sync.WaitGroup
	for k := range count {
		data := bytes.Repeat([]byte{byte(k)}, r.IntN(100_000))
		want = append(want, data)
		if _, err := out.Put(deadline(t), data, k == count-1); err != nil {
			t.Fatal(err)
		}
		if err := c.Order("w1", "step", fmt.Append(nil, k)); err != nil {
			t.Fatal(err)
		}
		if k%20 == 0 {
			asks.Go(func() {
				if got, err := w.Ask(deadline(t), "lease", fmt.Append(nil, k)); err != nil || string(got) != fmt.Sprint("re: ", k) {
					t.Errorf("%q, %v", got, err)
				}
			})
			until(t, "pieces before the cut", func() bool { return len(c.stored("w1")) > k-window })
			l.Cut()
		}
	}
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	asks.Wait()
	for k := range count {
		select {
		case got := <-orders:
			if got != fmt.Sprint(k) {
				t.Fatalf("order %s comes in place of %d", got, k)
			}
		case <-deadline(t).Done():
			t.Fatalf("order %d did not come", k)
		}
	}
	pieces := c.stored("w1")
	if len(pieces) != count {
		t.Fatalf("%d pieces", len(pieces))
	}
	for k, p := range pieces {
		if p.Number != int64(k) || !bytes.Equal(p.Data, want[k]) {
			t.Errorf("piece %d is number %d with %d bytes", k, p.Number, len(p.Data))
		}
	}
	handled := map[string]int{}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, a := range c.asked {
		handled[a]++
	}
	for a, n := range handled {
		if n != 1 {
			t.Errorf("%q was handled %d times", a, n)
		}
	}
	if len(handled) != count/20 || l.Cuts() < count/20 {
		t.Errorf("%d questions, %d cuts", len(handled), l.Cuts())
	}
}

// TestPresence: a silent worker, one that comes back, and one that is gone. Acknowledgements that were under way are not lost twice.
func TestPresence(t *testing.T) {
	testhome.Slow(t)
	c := listen(t, Options{})
	l := testlink.New(t, c.Join().address())
	w := dial(t, through(l), "w1", nil)
	c.event(t, Joined, "w1")
	out := w.Outbox(0, 1<<20)
	put := func(text string, last bool) {
		t.Helper()
		if _, err := out.Put(deadline(t), []byte(text), last); err != nil {
			t.Fatal(err)
		}
	}
	put("before", false)
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	l.Stop(true)
	put("in the dark", false)
	seen := w.InSight()
	if e := c.event(t, Silent, "w1"); e.Unseen < silentAfter || e.Unseen > 10*silentAfter {
		t.Errorf("silent for %v", e.Unseen)
	}
	if again := w.InSight(); again-seen > int64(beatPeriod) { // at most an answer that was under way
		t.Errorf("in sight for %v more", time.Duration(again-seen))
	}
	l.Cut()
	l.Stop(false)
	if e := c.event(t, Back, "w1"); e.Unseen < silentAfter {
		t.Errorf("back after %v", e.Unseen)
	}
	put("after", true)
	if err := out.Flush(t.Context(), patience); err != nil {
		t.Fatal(err)
	}
	if p := c.stored("w1"); len(p) != 3 || string(p[1].Data) != "in the dark" {
		t.Errorf("%+v", p)
	}
	w.Close()
	c.event(t, Disconnected, "w1")
	if m := c.Members(); m[0].Connected {
		t.Errorf("%+v", m)
	}
}
