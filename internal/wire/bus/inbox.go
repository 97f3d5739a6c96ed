package bus

import (
	"crypto/sha256"
	"fmt"
)

// inbox is the controller's account of one worker's pieces in one epoch. It accepts them in order, each once. It is not safe for concurrent use.
type inbox struct {
	epoch   int64
	digests [][8]byte // of the pieces taken so far
	last    bool      // the last piece is taken
}

// digest is enough to notice a piece that changed by mistake. A hostile worker can falsify its own results anyway.
func digest(p *Piece) [8]byte {
	b := sha256.Sum256(append([]byte{b2i(p.More), b2i(p.Last)}, p.Data...))
	return [8]byte(b[:8])
}

func b2i(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// take handles a piece. store is called for the next piece in order only; the piece counts as taken if store succeeds.
func (in *inbox) take(p *Piece, store func(*Piece) error) receipt {
	r := receipt{Epoch: p.Epoch, Next: int64(len(in.digests))}
	switch {
	case p.Epoch != in.epoch:
		r.Result, r.Next = pieceOld, 0
	case p.Number < r.Next:
		if in.digests[p.Number] != digest(p) {
			r.Result, r.Reason = pieceChanged, fmt.Sprintf("piece %d differs from the one received before", p.Number)
		}
	case p.Number > r.Next:
		r.Result = pieceEarly
	case in.last:
		r.Result, r.Reason = pieceChanged, fmt.Sprintf("piece %d comes after the last one", p.Number)
	case r.Next == maxPieces:
		r.Result, r.Reason = pieceChanged, fmt.Sprintf("a worker can send at most %d pieces", maxPieces)
	default:
		if err := store(p); err != nil {
			r.Result, r.Reason = pieceFailed, err.Error()
			break
		}
		in.digests = append(in.digests, digest(p))
		in.last = p.Last
		r.Next++
	}
	return r
}
