package bus

import (
	"context"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// TestPatience: a flush waits as long as pieces are acknowledged, however slowly, and gives up when none is.
func TestPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := newOutbox(0, 1<<20, nil)
		for range 10 {
			if _, err := out.Put(t.Context(), []byte("x"), false); err != nil {
				t.Fatal(err)
			}
		}
		go func() {
			for k := range int64(9) {
				time.Sleep(9 * time.Second)
				out.receive(&receipt{Next: k + 1})
			}
		}()
		began := time.Now()
		err := out.Flush(t.Context(), 10*time.Second)
		if took := time.Since(began); took != 91*time.Second || err == nil || !strings.Contains(err.Error(), "has not acknowledged 1 piece of results: none for 10s") {
			t.Errorf("after %v: %v", took, err)
		}
		go func() {
			time.Sleep(time.Second)
			out.receive(&receipt{Next: 10})
		}()
		if err := out.Flush(t.Context(), 10*time.Second); err != nil {
			t.Error(err)
		}
	})
}

// TestNothingTwice: over a slow network no piece is sent again while its connection lasts; one that could not be stored is, once a period.
func TestNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sent []int64
		out := newOutbox(0, 1<<20, func(p *Piece) error {
			sent = append(sent, p.Number)
			return nil
		})
		ctx, cancel := context.WithCancel(t.Context())
		go out.run(ctx, time.Second)
		for range 3 {
			if _, err := out.Put(t.Context(), []byte("x"), false); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		if !slices.Equal(sent, []int64{0, 1, 2}) {
			t.Errorf("sent %v", sent)
		}
		out.receive(&receipt{Next: 1, Result: pieceFailed, Reason: "disk full"})
		time.Sleep(2500 * time.Millisecond)
		synctest.Wait()
		if !slices.Equal(sent, []int64{0, 1, 2, 1, 2, 1, 2}) {
			t.Errorf("sent %v", sent)
		}
		out.receive(&receipt{Next: 3})
		cancel()
		synctest.Wait()
		if err := out.Flush(t.Context(), time.Second); err == nil || len(out.pieces) != 0 {
			t.Errorf("%v, %d pieces left", err, len(out.pieces))
		}
	})
}
