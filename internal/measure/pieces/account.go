package pieces

import (
	"errors"
	"fmt"
)

// Account is the account of the pieces of one machine. They come in the order of their numbers, each once.
type Account struct {
	Pieces, Rows int64
	total        *Total
}

// Complete reports whether everything has come that the machine says there is.
func (a *Account) Complete() bool {
	return a.total != nil && a.total.Pieces == a.Pieces && a.total.Rows == a.Rows
}

// About returns the facts of the machine about itself; nil = its last piece has not come.
func (a *Account) About() []byte {
	if a.total == nil {
		return nil
	}
	return a.total.About
}

// Add adds a piece, or returns an error and changes nothing if the piece contradicts what came before.
func (a *Account) Add(p *Piece) error {
	rows := a.Rows + int64(len(p.Results))
	switch {
	case a.total != nil:
		return errors.New("a piece of results follows the last one")
	case p.Number != a.Pieces:
		return fmt.Errorf("piece %d of results came, want %d", p.Number, a.Pieces)
	case p.Total != nil && (p.Total.Pieces != a.Pieces+1 || p.Total.Rows != rows):
		return fmt.Errorf("the machine says that it has sent %d requests in %d pieces; %d came in %d", p.Total.Rows, p.Total.Pieces, rows, a.Pieces+1)
	}
	a.Pieces, a.Rows, a.total = a.Pieces+1, rows, p.Total
	return nil
}
