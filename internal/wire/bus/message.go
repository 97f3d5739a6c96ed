package bus

import (
	"fmt"
	"slices"

	"aiperf/internal/base/binenc"
)

// message is a value that travels over the bus. visit describes its fields once, for writing and for reading.
type message interface{ visit(c *binenc.Coder) }

// encode returns the bytes of a message.
func encode(m message) []byte {
	c := binenc.NewWriter(nil)
	m.visit(c)
	return c.Bytes()
}

// decode fills a message from bytes. Byte slices of the message share memory with them.
func decode(b []byte, m message) error {
	c := binenc.NewReader(b)
	m.visit(c)
	if err := c.Err(); err != nil {
		return fmt.Errorf("a message of the bus is damaged: %w", err)
	}
	if n := len(c.Bytes()); n > 0 {
		return fmt.Errorf("a message of the bus has %d bytes too many", n)
	}
	return nil
}

// visitNumber visits a number that is never negative.
func visitNumber(c *binenc.Coder, v *int64) {
	c.Int64(v)
	if *v < 0 {
		c.Fail("a number is negative: %d", *v)
	}
}

// visitKind visits the kind of an order, a question or a note.
func visitKind(c *binenc.Coder, v *string) {
	c.String(v)
	if c.Reading() && c.Err() == nil && !kindPattern.MatchString(*v) {
		c.Fail("the kind %q is not valid", *v)
	}
}

// beat is a sign of life of a worker, and a clock probe.
type beat struct {
	Number int64
	Orders int64 // number of orders received so far
}

func (m *beat) visit(c *binenc.Coder) {
	visitNumber(c, &m.Number)
	visitNumber(c, &m.Orders)
}

// beatAnswer is the controller's answer: instants on its clock, ns.
type beatAnswer struct{ Number, Received, Answered int64 }

func (m *beatAnswer) visit(c *binenc.Coder) {
	visitNumber(c, &m.Number)
	visitNumber(c, &m.Received)
	visitNumber(c, &m.Answered)
}

// order is a message from the controller to a worker. Orders of a worker are numbered from 0.
type order struct {
	Number int64
	Kind   string
	Data   []byte
}

func (m *order) visit(c *binenc.Coder) {
	visitNumber(c, &m.Number)
	visitKind(c, &m.Kind)
	c.ByteSlice(&m.Data)
}

// note is a message from a worker that needs no answer and may be lost.
type note struct {
	Kind string
	Data []byte
}

func (m *note) visit(c *binenc.Coder) {
	visitKind(c, &m.Kind)
	c.ByteSlice(&m.Data)
}

// question is a request of a worker. Open lists the questions that wait for an answer, in order; the controller forgets other answers.
type question struct {
	Number int64
	Open   []int64
	Kind   string
	Data   []byte
}

func (m *question) visit(c *binenc.Coder) {
	visitNumber(c, &m.Number)
	binenc.Slice(c, &m.Open, visitNumber)
	visitKind(c, &m.Kind)
	c.ByteSlice(&m.Data)
	if c.Reading() && (len(m.Open) > maxQuestions || !slices.IsSorted(m.Open) || !slices.Contains(m.Open, m.Number)) {
		c.Fail("the list of open questions is not valid")
	}
}

// answer is the controller's answer to a question.
type answer struct {
	Number  int64
	Refused bool
	Reason  string
	Data    []byte
}

func (m *answer) visit(c *binenc.Coder) {
	visitNumber(c, &m.Number)
	c.Bool(&m.Refused)
	c.String(&m.Reason)
	c.ByteSlice(&m.Data)
}

// Piece is a part of a worker's results. Pieces of an epoch are numbered from 0, and a numbered piece never changes.
type Piece struct {
	Epoch  int64
	Number int64
	More   bool // the next piece continues this one: both are of no use without each other
	Last   bool // no piece of this worker and epoch follows
	Data   []byte
}

func (m *Piece) visit(c *binenc.Coder) {
	visitNumber(c, &m.Epoch)
	visitNumber(c, &m.Number)
	c.Bool(&m.More)
	c.Bool(&m.Last)
	c.ByteSlice(&m.Data)
	if c.Reading() && len(m.Data) > MaxPiece {
		c.Fail("a piece has %d bytes, at most %d are allowed", len(m.Data), MaxPiece)
	}
}

// Results of a piece.
const (
	pieceTaken   = iota // every piece below Next is safe
	pieceEarly          // an earlier piece is missing
	pieceOld            // another epoch
	pieceChanged        // the controller has a different piece with this number, or the last piece was already there
	pieceFailed         // the controller could not store it
	pieceResults        // number of results
)

// receipt is the controller's answer to a piece.
type receipt struct {
	Epoch  int64
	Next   int64 // number of the piece that the controller wants next
	Result byte
	Reason string
}

func (m *receipt) visit(c *binenc.Coder) {
	visitNumber(c, &m.Epoch)
	visitNumber(c, &m.Next)
	c.Byte(&m.Result)
	c.String(&m.Reason)
	if c.Reading() && m.Result >= pieceResults {
		c.Fail("the result %d of a piece is unknown", m.Result)
	}
}
