package transport

import "golang.org/x/net/http2"

// h2MaxReplies is how many answers to a server's frames may wait for the socket at once. Go's own server uses the same limit.
const h2MaxReplies = 10_000

// replyQueue counts the answers to PING, SETTINGS and broken streams that the socket has not accepted yet. Each entry is the offset in the connection
// of the end of one answer. Request bodies wait for the socket too, but do not count: a healthy server may send PING while it reads slowly.
type replyQueue []uint64

// dropWritten removes the answers that the socket has accepted: those that end within the first written bytes of the connection.
func (q *replyQueue) dropWritten(written uint64) {
	n := 0
	for n < len(*q) && (*q)[n] <= written {
		n++
	}
	if *q = (*q)[n:]; len(*q) == 0 {
		*q = nil
	}
}

// reply writes a frame that the server asked for. It fails if the server keeps asking but does not read.
func (w *h2writer) reply(frame func(f *http2.Framer) error) error {
	if err := w.writeControl(frame); err != nil {
		return err
	}
	w.wmu.Lock()
	defer w.wmu.Unlock()
	w.replies.dropWritten(w.written)
	if waiting := w.backlog(); waiting > 0 {
		w.replies = append(w.replies, w.written+uint64(waiting))
	}
	if len(w.replies) > h2MaxReplies {
		return malformed("The server sends HTTP/2 frames that need a reply but does not read: more than %d replies wait", h2MaxReplies)
	}
	return nil
}

func (w *h2writer) acceptSettings() error { return w.reply((*http2.Framer).WriteSettingsAck) }

func (w *h2writer) answerPing(data [8]byte) error {
	return w.reply(func(f *http2.Framer) error { return f.WritePing(true, data) })
}

// refuse resets a stream on which the server violated the protocol.
func (w *h2writer) refuse(id uint32, code http2.ErrCode) error {
	return w.reply(func(f *http2.Framer) error { return f.WriteRSTStream(id, code) })
}
