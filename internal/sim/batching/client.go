package batching

import (
	"math"
	"math/rand/v2"
)

// Client is a client that cannot always send on time: it pauses now and then, or takes long for a request. Like this program, it restarts its
// schedule when it is more than catchUp late; later requests keep their intervals. Instants are in s.
type Client struct {
	Pauses     [][2]float64 // start and end of each pause, in order
	PerRequest float64      // time that sending one request takes

	free float64
	lost [][2]float64 // start and length of each part of the schedule that it skipped
}

// catchUp is how late a request may leave, in s, without shifting the following ones.
const catchUp = 0.010

// Standing returns a client that pauses perSecond times a second on average, at random instants, each time for least to most seconds.
func Standing(seed uint64, perSecond, least, most, seconds float64) *Client {
	r, c := rand.New(rand.NewPCG(seed, 5)), &Client{}
	for at := r.ExpFloat64() / perSecond; at < seconds; at += r.ExpFloat64() / perSecond {
		end := at + least + (most-least)*r.Float64()
		c.Pauses = append(c.Pauses, [2]float64{at, end})
		at = end
	}
	return c
}

// leaves returns when a request that is due leaves.
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

// sent records that a request was sent, and returns the instant from which the next interval counts.
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

// LostBy returns how much of its schedule the client had skipped by an instant, in s.
func (c *Client) LostBy(at float64) (sum float64) {
	for _, one := range c.lost {
		if one[0] <= at {
			sum += one[1]
		}
	}
	return sum
}
