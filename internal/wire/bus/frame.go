package bus

import (
	"encoding/binary"
	"errors"
	"io"

	"aiperf/internal/base/binenc"
)

// frameKind says what a frame carries. A connection carries frames: four bytes with the length of the rest, big endian, one byte with the kind, and
// a message.
type frameKind byte

// Kinds of frames.
const (
	frameHello    frameKind = iota // first frame of a worker
	frameAccepted                  // first frame of the controller
	frameRefused                   // first and last frame of the controller
	framePing
	framePong
	frameBeat // from a worker
	frameNote
	frameQuestion
	framePiece
	frameBeatAnswer // from the controller
	frameOrder
	frameAnswer
	frameReceipt
)

const (
	frameHead = 5        // bytes before the message
	maxFrame  = 1 << 20  // bytes of a message
	maxHello  = 16 << 10 // bytes of a hello, which a stranger may send; tokens may be long
)

var errFrameSize = errors.New("the size of a message of the bus is not valid")

// encodeFrame returns a frame. nil = a frame without a message.
func encodeFrame(kind frameKind, m message) []byte {
	c := binenc.NewWriter([]byte{0, 0, 0, 0, byte(kind)})
	if m != nil {
		m.visit(c)
	}
	b := c.Bytes()
	binary.BigEndian.PutUint32(b, uint32(len(b)-frameHead+1))
	return b
}

// readFrame reads a frame whose message has at most limit bytes. The error is errFrameSize if it has more.
func readFrame(r io.Reader, limit int) (kind frameKind, body []byte, err error) {
	var head [frameHead]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > uint32(limit)+1 {
		return 0, nil, errFrameSize
	}
	body = make([]byte, size-1)
	_, err = io.ReadFull(r, body)
	return frameKind(head[frameHead-1]), body, err
}
