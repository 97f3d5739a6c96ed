// Package bus connects the controller of a run with its workers on other machines. It carries bytes, and knows nothing of their meaning:
//
//   - orders from the controller to a worker, which arrive once and in order, also over lost connections
//   - questions from a worker to the controller, each of which is handled once, however often it had to be sent
//   - pieces of results from a worker to the controller, numbered, acknowledged and kept until then
//   - beats, by which both sides know since when they cannot reach each other
//   - clock probes, by which a worker knows the controller's clock within a stated bound
//
// A worker keeps two TCP connections to the controller, which are made again whenever they are lost: one for pieces, and one for the rest, so that
// beats never wait behind pieces.
package bus

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"aiperf/internal/base/lazyregexp"
)

// Limits of the bus.
const (
	MaxPiece = 128 << 10 // bytes of a piece; over 10 kB/s it takes less time than bulkLostAfter
	MaxData  = 900 << 10 // bytes of an order, a question or an answer

	maxPending     = 64 << 20         // bytes that wait for a connection
	window         = 16               // pieces on their way without an acknowledgement
	maxMembers     = 1024             // workers that may join
	maxConnections = 2*maxMembers + 4 // two of each worker, and a few of strangers
	maxQuestions   = 16               // questions of one worker in progress
	maxAsked       = 1 << 16          // questions of one worker since the oldest one that waits
	maxOrders      = 4096             // orders that one worker has not received yet
	maxPieces      = 1 << 20          // pieces of one worker in an epoch
	probesAtStart  = 20               // clock probes before a worker is ready
	shortestToken  = 16               // bytes
	longestToken   = 8 << 10          // bytes
)

// Periods of the bus.
const (
	beatPeriod    = 500 * time.Millisecond
	resendPeriod  = time.Second
	redialPause   = 100 * time.Millisecond
	lostAfter     = 3 * time.Second         // a worker without an answer for so long connects again
	goneAfter     = 5 * time.Second         // the controller ends the connections of a worker without a sign of life for so long
	bulkLostAfter = 15 * time.Second        // lostAfter of the connection for pieces: answers may wait while pieces are stored
	secondLook    = 100 * time.Millisecond  // for what came while this machine had no time to read
	farewell      = time.Second             // to write what waits when a connection is closed
	silentAfter   = 1500 * time.Millisecond // a worker without a sign of life for so long is silent
	presencePause = 50 * time.Millisecond
	startTimeout  = 5 * time.Second
)

// ErrRefused is the error of a worker whose token, name or version the controller does not accept.
var ErrRefused = errors.New("the controller refused this worker, and says why: the token is wrong, another worker has the same name, or the versions of aiperf differ; " +
	"copy the token file again, give this machine another name, or install the version of the controller")

// ErrOldEpoch is the error of a worker that sends pieces of an epoch that has ended.
var ErrOldEpoch = errors.New("the controller has begun another run: it takes no more results of this one")

// Refusal is the answer of a controller that did not do what a worker asked.
type Refusal struct{ Reason string }

func (r *Refusal) Error() string { return r.Reason }

var (
	namePattern = lazyregexp.New(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
	kindPattern = lazyregexp.New(`^[a-z][a-z-]{0,31}$`)
)

// CheckName returns an error if a worker cannot have this name.
func CheckName(name string) error {
	if !namePattern.MatchString(name) {
		return fmt.Errorf("the machine name %q is not valid: use 1 to 63 letters, digits, - and _, the first one a letter or digit", name)
	}
	return nil
}

// NewToken returns a random token of 128 bits in hexadecimal digits.
func NewToken() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return hex.EncodeToString(b[:])
}
