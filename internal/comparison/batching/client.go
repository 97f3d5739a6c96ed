package batching

import (
	"math"
	"math/rand/v2"
)

// Client is one that cannot always send when it should: it stands still now and then, or takes long over a request. Like this program's, it begins its
// schedule anew when it is more than catchUp late: what follows keeps its intervals. Instants in s.
type Client struct {
	Pauses     [][2]float64 // from, to; in their order
	PerRequest float64      // that it takes over one

	free float64
	lost [][2]float64 // when it gave a piece of its schedule up, and how long
}

// catchUp is how late a request may leave without moving those that follow, in s.
const catchUp = 0.010

// Standing is a client that stands still so many times a second, at instants of their own, for between least and most s.
func Standing(seed uint64, perSecond, least, most, seconds float64) *Client {
	r, c := rand.New(rand.NewPCG(seed, 5)), &Client{}
	for at := r.ExpFloat64() / perSecond; at < seconds; at += r.ExpFloat64() / perSecond {
		end := at + least + (most-least)*r.Float64()
		c.Pauses = append(c.Pauses, [2]float64{at, end})
		at = end
	}
	return c
}

// leaves is when a request that is due leaves.
func (c *Client) leaves(due float64) float64 {
	if c == nil || math.IsInf(due, 1) {
		return due
	}
	at := max(due, c.free)
	for len(c.Pauses) > 0 && c.Pauses[0][1] <= at { // requests come in their order
		c.Pauses = c.Pauses[1:]
	}
	if len(c.Pauses) > 0 && c.Pauses[0][0] <= at {
		return c.Pauses[0][1]
	}
	return at
}

// sent takes a request as sent and is the instant from which the next interval counts.
func (c *Client) sent(due, at float64) float64 {
	if c == nil {
		return due
	}
	if c.free = at + c.PerRequest; at-due <= catchUp {
		return due
	}
	c.lost = append(c.lost, [2]float64{at, at - due})
	return at
}

// LostBy is how much of its schedule it had given up by an instant.
func (c *Client) LostBy(at float64) (sum float64) {
	for _, one := range c.lost {
		if one[0] <= at {
			sum += one[1]
		}
	}
	return sum
}
