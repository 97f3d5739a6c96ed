package mockserver

import (
	"math/rand/v2"
	"time"
)

// script determines what happens to one request. It depends only on the seed, on the request's number and on what the request asks for.
type script struct {
	rng       *rand.Rand
	kind      string // kind of failure, "" = none
	tokens    int    // visible tokens
	reasoning int
	finish    string
	perEvent  int
	failAfter int // content events before the failure; -1 = no failure inside the stream
	itl       time.Duration
	first     time.Duration // time from arrival to the first content event
}

func (o *Options) script(n uint64, a *requestedWork, reasons bool) script {
	p := script{rng: rand.New(rand.NewPCG(o.Seed, n)), perEvent: o.TokensPerEvent, itl: o.ITL, failAfter: -1}
	draw, pick, where := p.rng.Float64(), p.rng.Float64(), p.rng.Float64()
	if draw < o.ErrorRate {
		p.kind = o.ErrorKinds[int(pick*float64(len(o.ErrorKinds)))]
	}
	total, finish := a.tokens(o.Tokens)
	p.finish = finish
	if reasons {
		p.reasoning = int(o.Reasoning*float64(total) + 0.5)
	}
	p.tokens = total - p.reasoning
	if p.kind == kindSlow {
		p.itl = max(10*p.itl, 10*time.Millisecond)
	}
	switch p.kind {
	case kindSSE, kindClose, kindReset, kindStall:
		p.failAfter = 1
		if n := p.events(); n > 2 {
			p.failAfter += int(where * float64(n-1))
		}
	}
	p.first = p.stretch(o.TTFT, o.Jitter)
	return p
}

// events returns the number of content events.
func (p *script) events() int {
	return (p.tokens+p.perEvent-1)/p.perEvent + (p.reasoning+p.perEvent-1)/p.perEvent
}

// stretch multiplies a gap by a random factor.
func (p *script) stretch(d time.Duration, jitter float64) time.Duration {
	if jitter == 0 {
		return d
	}
	return time.Duration(float64(d) * (1 + jitter*(2*p.rng.Float64()-1)))
}

// word draws the next word.
func (p *script) word() string { return words[p.rng.IntN(len(words))] }
