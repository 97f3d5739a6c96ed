package media

import (
	"bytes"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"aiperf/internal/workload/conversation"
)

// counted returns items of 10 bytes and the number of times that each was generated.
func counted(n int) (func(i int) conversation.Part, []atomic.Int32) {
	made := make([]atomic.Int32, n)
	return func(i int) conversation.Part {
		return conversation.Part{Blob: conversation.Made("x/y", -1, nil, func() ([]byte, error) {
			made[i].Add(1)
			return fmt.Appendf(nil, "item %5d", i), nil
		})}
	}, made
}

func TestAheadMakesOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part, made := counted(50)
		a := NewContentCache(part)
		for i := range 50 {
			a.Want(i)
		}
		synctest.Wait()
		for i := range 50 {
			if n := made[i].Load(); n != 1 {
				t.Errorf("item %d was made %d times before it was asked for", i, n)
			}
			got, err := a.Part(i).Blob.Bytes()
			if want := fmt.Sprintf("item %5d", i); err != nil || string(got) != want {
				t.Errorf("%q, want %q (%v)", got, want, err)
			}
		}
		for i := range 50 { // second use
			if _, err := a.Part(i).Blob.Base64(); err != nil || made[i].Load() != 1 {
				t.Errorf("item %d was made %d times (%v)", i, made[i].Load(), err)
			}
		}
	})
}

// TestAheadIsBounded checks that no more is generated than the limit allows, and that used items are dropped for wanted ones.
func TestAheadIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part, made := counted(100)
		a := NewContentCache(part)
		a.limit, a.workers = 100, 3
		for i := range 100 {
			a.Want(i)
		}
		count := func() (n int) {
			for i := range made {
				n += int(made[i].Load())
			}
			return n
		}
		synctest.Wait()
		if n := count(); n < 10 || n > 10+a.workers {
			t.Errorf("%d items made, want the 10 of the budget", n)
		}
		for i := range 100 {
			a.Part(i)
			synctest.Wait()
			if a.bytes > a.limit+10*a.workers {
				t.Fatalf("%d bytes held, want %d", a.bytes, a.limit)
			}
		}
		if n := count(); n != 100 {
			t.Errorf("%d items made, want each once", n)
		}
	})
}

// TestAheadWhileAsked checks that callers that are faster than the workers get the same content.
func TestAheadWhileAsked(t *testing.T) {
	part, _ := counted(400)
	a := NewContentCache(part)
	a.limit = 500
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 400 {
				if g == 0 {
					a.Want(i)
				}
				got, err := a.Part(i).Blob.Bytes()
				if err != nil || !bytes.Equal(got, fmt.Appendf(nil, "item %5d", i)) {
					t.Errorf("item %d: %q, %v", i, got, err)
				}
			}
		})
	}
	all.Wait()
}

// TestAheadDropsWhatComesTooLate checks that an item requested before it was generated is not generated again, because it would take the place of
// items still to come.
func TestAheadDropsWhatComesTooLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		part, made := counted(40)
		a := NewContentCache(part)
		a.limit, a.workers = 100, 0 // no worker starts yet
		for i := range 20 {
			a.Want(i)
		}
		for i := range 20 {
			a.Part(i)
		}
		a.workers = 1
		for i := 20; i < 30; i++ {
			a.Want(i)
		}
		synctest.Wait()
		for i := range 30 {
			if n, want := made[i].Load(), int32(i/20); n != want {
				t.Errorf("item %d was made %d times, want %d", i, n, want)
			}
		}
		if len(a.late) != 0 || len(a.queue) != 0 {
			t.Errorf("still wanted: %v, %v", a.queue, a.late)
		}
	})
}
