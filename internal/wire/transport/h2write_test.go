package transport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"golang.org/x/net/http2"
)

// stuckH2 is a connection whose socket takes nothing: what is written stays in its buffer.
func stuckH2() *h2conn {
	h := &h2conn{streams: map[uint32]*h2stream{}}
	h.h2writer.init(new(conn))
	h.flushing = true
	return h
}

// frameNames are the frames that wait for the socket, as "type stream flags length".
func (w *h2writer) frameNames(t *testing.T) string {
	t.Helper()
	var list []string
	f := http2.NewFramer(nil, bytes.NewReader(w.unwritten()))
	for {
		fr, err := f.ReadFrame()
		if errors.Is(err, io.EOF) {
			return strings.Join(list, ", ")
		} else if err != nil {
			t.Fatal(err)
		}
		h := fr.Header()
		list = append(list, fmt.Sprint(h.Type, " ", h.StreamID, " ", h.Flags&http2.FlagDataEndStream, " ", h.Length))
	}
}

// TestHTTP2SmallBodies: a body goes out with its headers where both windows have room for it, takes that room, and is out when the socket took it.
func TestHTTP2SmallBodies(t *testing.T) {
	for _, c := range []struct {
		window, initial int64
		frames          string
	}{
		{100, 100, "HEADERS 5 0 3, DATA 5 1 60"}, {60, 60, "HEADERS 5 0 3, DATA 5 1 60"},
		{59, 100, "HEADERS 5 0 3"}, {100, 59, "HEADERS 5 0 3"},
	} {
		h := stuckH2()
		h.window, h.initial, h.nextID = c.window, c.initial, 5
		var request bytes.Buffer
		f := http2.NewFramer(&request, nil)
		_ = f.WriteHeaders(http2.HeadersFrameParam{StreamID: 1, BlockFragment: []byte("abc"), EndHeaders: true}) // a buffer takes everything
		headers := request.Len()
		_ = f.WriteData(1, true, make([]byte, 60))
		s := &h2stream{conn: h}
		whole, err := h.begin(s, request.Bytes(), headers, 60)
		took := int64(0)
		if whole {
			took = 60
		}
		if got := h.frameNames(t); err != nil || got != c.frames || whole != strings.Contains(c.frames, "DATA") || h.window != c.window-took || s.window != c.initial-took {
			t.Errorf("windows %d and %d: %s, %v; left %d and %d", c.window, c.initial, got, err, h.window, s.window)
		}
		if all := h.backlog(); h.sentWhole(s) {
			t.Error("a request is out before the socket took it")
		} else if h.recordSent(all); !h.sentWhole(s) {
			t.Error("a request that the socket took is not out")
		}
	}
	h := stuckH2()
	h.nextID = h2MaxID + 2
	if _, err := h.begin(&h2stream{conn: h}, nil, 0, 0); !errors.Is(err, errStale) {
		t.Errorf("a stream beyond the last id: %v", err)
	}
}

// TestHTTP2Windows: what may be sent follows what the server says, up to the largest window that there may be.
func TestHTTP2Windows(t *testing.T) {
	h := stuckH2()
	s := &h2stream{conn: h, id: 1, window: 100}
	h.open[1] = s
	if h.resize(h2FirstWindow + 10); s.window != 110 || h.initial != h2FirstWindow+10 {
		t.Errorf("an open stream has %d, a new one %d", s.window, h.initial)
	}
	h.window = 30
	if n, err := h.room(s, 50); n != 30 || err != nil || h.window != 0 || s.window != 80 {
		t.Errorf("%d bytes, %v; left %d and %d", n, err, h.window, s.window)
	}
	for _, id := range []uint32{0, 1} {
		left := h2MaxID - h.window
		if id == 1 {
			left = h2MaxID - s.window
		}
		if !h.grow(id, left) || h.grow(id, 1) {
			t.Errorf("stream %d: the largest window is not %d", id, h2MaxID)
		}
	}
	if h.forget(s); len(h.open) != 0 {
		t.Errorf("%d streams are open after the end of the only one", len(h.open))
	}
}

// TestHTTP2EndOfSeveralRanges: the last frame of a body ends its stream, and no other does.
func TestHTTP2EndOfSeveralRanges(t *testing.T) {
	h := stuckH2()
	s := &h2stream{conn: h, id: 1, window: 1 << 20, timedOut: true}
	if err := h.sendBody(s, [][]byte{make([]byte, 20), make([]byte, h2MaxFrame+7)}); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Error(err)
	}
	if got, want := h.frameNames(t), fmt.Sprintf("DATA 1 0 20, DATA 1 0 %d, DATA 1 1 7", h2MaxFrame); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestHTTP2WindowIsGivenBackOnce: bytes received are given back to the connection's window once, when they are half of it.
func TestHTTP2WindowIsGivenBackOnce(t *testing.T) {
	h := stuckH2()
	for _, n := range []int{h2ConnWindow/2 - 1, 1, 1} {
		if err := h.received(n); err != nil {
			t.Fatal(err)
		}
	}
	if got := h.frameNames(t); got != "WINDOW_UPDATE 0 0 4" || h.pending != 1 {
		t.Errorf("%s; %d bytes wait", got, h.pending)
	}
}

// TestHTTP2SettledStream: a stream that was stopped waits for the write in progress, and for no later one.
func TestHTTP2SettledStream(t *testing.T) {
	h := stuckH2()
	h.rounds = 5
	s := &h2stream{conn: h, stopped: true, stopWrite: 5}
	if h.stopKnown(s) {
		t.Error("the write goes on")
	}
	if h.rounds = 6; !h.stopKnown(s) {
		t.Error("the write has ended")
	}
	h.rounds, h.flushing = 5, false
	if !h.stopKnown(s) {
		t.Error("there is no write")
	}
}
