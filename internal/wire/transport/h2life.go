package transport

import (
	"errors"
	"fmt"

	"golang.org/x/net/http2"

	"aiperf/internal/base/clock"
)

// stream returns an open stream by its id; nil = it does not exist any more.
func (h *h2conn) stream(id uint32) *h2stream {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.streams[id]
}

// reset ends one stream on which the server violated the protocol. An error ends the connection.
func (h *h2conn) reset(id uint32, code http2.ErrCode, err error) error {
	if s := h.stream(id); s != nil {
		s.end(err)
	}
	return h.refuse(id, code)
}

// reserve reserves room for one more stream; false = there is none.
func (h *h2conn) reserve() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || h.draining || h.retired || h.users >= h.maxStreams {
		return false
	}
	h.users++
	return true
}

// register opens a stream for which room was reserved; false = the connection accepts no more streams.
func (h *h2conn) register(id uint32, s *h2stream) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.err != nil || h.draining {
		return false
	}
	h.streams[id] = s
	return true
}

// leave frees the room of a stream.
func (h *h2conn) leave(id uint32) {
	h.mu.Lock()
	delete(h.streams, id)
	if h.users--; h.users == 0 {
		h.idle = clock.Now()
	}
	h.mu.Unlock()
	h.closeIfOver()
}

// retire ends the connection as soon as its last stream has ended.
func (h *h2conn) retire() {
	h.mu.Lock()
	h.retired = true
	h.mu.Unlock()
	h.closeIfOver()
}

func (h *h2conn) closeIfOver() {
	h.mu.Lock()
	over := h.users == 0 && (h.retired || h.draining)
	h.mu.Unlock()
	if over {
		h.fail(errRetired)
	}
}

// usable reports whether the connection accepts streams and was idle for at most idleFor (ns, 0 = no limit).
func (h *h2conn) usable(idleFor int64) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	old := idleFor > 0 && h.users == 0 && h.idle != 0 && clock.Now()-h.idle > idleFor
	return h.err == nil && !h.draining && !h.retired && !old
}

// errRetired is the reason for the end of a connection that is not needed any more.
var errRetired = errors.New("the connection is no longer needed")

// fail ends the connection and every stream on it.
func (h *h2conn) fail(err error) {
	h.mu.Lock()
	first := h.err == nil
	if first {
		h.err = err
	}
	var open []*h2stream
	for _, s := range h.streams {
		open = append(open, s)
	}
	h.mu.Unlock()
	if !first {
		return
	}
	for _, s := range open {
		s.end(h.err)
	}
	h.h2writer.wakeWaiters(err)
	h.k.close()
	h.client.pool.release()
}

// resetError reports that the server reset a stream.
type resetError struct{ code http2.ErrCode }

func (e *resetError) Error() string {
	return fmt.Sprintf("the server reset the stream (%s)", e.code)
}
