package load

import "context"

// closedLoop keeps one session alive in each slot (6.3). It is a closed loop without pacing. Continuations take precedence over new sessions.
type closedLoop struct{ p *phase }

func (d *closedLoop) build(context.Context) error {
	d.p.g.prefetcher.deepen(d.first(d.p.Concurrency, d.p.Prefill))
	return nil
}

// first returns how many requests leave at the start under these limits.
func (d *closedLoop) first(limits ...int) int {
	n := maxArmed
	for _, l := range append(limits, int(d.p.Requests), int(d.p.Sessions)) {
		if l > 0 {
			n = min(n, l)
		}
	}
	return n
}

func (d *closedLoop) prime() (short bool) {
	p := d.p
	n := d.first(p.g.session.max, p.g.prefill.max)
	n = min(n, p.g.session.free(), p.g.prefill.free())
	for p.starts.len() < n {
		t, ok := p.prefetch()
		if !ok {
			return p.sending
		}
		p.arm(t)
	}
	return false
}

func (d *closedLoop) begin(int64) {}

func (d *closedLoop) finished() bool { return false }

func (d *closedLoop) due(_, next *ticket, now int64) int64 { return now + thinkTime(next) }

func (d *closedLoop) advance(now int64) int64 {
	p := d.p
	for p.sending && p.mayGrant() && p.g.prefill.free() > 0 {
		if p.ready.len() > 0 {
			p.admit(p.ready.pop(), 0, now)
			continue
		}
		if p.g.session.free() == 0 || !p.mayStart() {
			break
		}
		if p.starts.len() == 0 {
			if _, ok := p.prefetch(); !ok {
				break
			}
		}
		p.admit(p.starts.pop(), 0, now)
	}
	return never
}

func (d *closedLoop) ahead(int64) int64 { return never }

// thinkTime returns the delay of a turn after the previous answer, ns.
func thinkTime(t *ticket) int64 { return delayOf(&t.ses.Shape.Turns[t.req.Turn]) }

// delayOf returns the delay of a turn, ns.
func delayOf(t *TurnTime) int64 {
	if t.Delay == nil || *t.Delay <= 0 {
		return 0
	}
	return ns(*t.Delay / 1e3)
}
