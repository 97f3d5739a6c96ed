package run

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"aiperf/internal/artifact"
	"aiperf/internal/conversation"
	"aiperf/internal/dataset"
	"aiperf/internal/endpoint"
	"aiperf/internal/redact"
	"aiperf/internal/terminal"
)

// checkBodies formats every turn that somebody wrote, alone, and the first conversation of those that are made: a turn that cannot be sent
// ends the run before anything is. What the bodies leave out is told once. Of data that are read while they are used, only the first are
// looked at, unless whole is set.
func checkBodies(ctx context.Context, r *resolved, data *prepared, whole bool, warn func(string)) error {
	told := map[string]bool{}
	var drawn, n int
	if g, ok := r.data.(dataset.Growing); ok && !whole {
		drawn = g.Known()
		n = min(drawn+r.data.Info().Started, checkedEarly)
	} else {
		drawn, n = r.data.Len(), dataset.All(r.data)
	}
	for at := range n {
		i := dataset.Nth(at, drawn)
		if err := ctx.Err(); err != nil {
			return err
		}
		c, written := r.data.Draft(i)
		if c == nil {
			if i > 0 {
				return nil
			}
			c, written = r.data.Conversation(i), true
		}
		for k := range c.Turns {
			if c.Turns[k].Silent {
				continue
			}
			req, err := alone(r.codec, c, k)
			if err != nil {
				return fmt.Errorf("conversation %s, turn %d: %w", c.ID, k+1, err)
			}
			if k == 0 && written && !req.Once {
				data.keep(i, c, &req)
			}
			for _, text := range r.endpoint.RemarksOn(&c.Turns[k]) {
				if !told[text] {
					told[text] = true
					warn(remark(c.Turns[k].Origin, text))
				}
			}
		}
	}
	return nil
}

// checkedEarly is how many conversations are looked at of data that are read while they are used.
const checkedEarly = 1000

// remark says where something was seen first, if it was read somewhere.
func remark(origin, text string) string {
	if origin == "" {
		return text
	}
	return origin + ": " + text + " (first seen here)"
}

// alone words a turn as if it were the only one of its conversation.
func alone(codec endpoint.Codec, c *conversation.Conversation, turn int) (endpoint.Request, error) {
	return codec.Encode(&c.Turns[turn], endpoint.Before(c, 0, nil))
}

// listing is the component that writes inputs.json: the body of every turn, formatted alone, of every conversation in the order of the dataset. What requests
// are made of anyway is written down beside the load; the rest is made when the load is over, so that nothing is made for the file alone
// while requests are measured.
type listing struct {
	passive
	data  *prepared
	codec endpoint.Codec
	path  string
	hide  *redact.Secrets
	warn  func(string)
	tell  func(done, of int) // every tellEvery while it is waited for; nil = nobody asked
	// progress is called for every conversation while the run waits for the file; nil = nobody asked.
	progress func(done, of int)
	file     *artifact.Inputs
	given    chan draft
	held     atomic.Int64  // bytes of the bodies given and not written yet
	over     chan struct{} // the load is over
	idle     chan struct{} // run has ended
	next     int           // conversation to be written, by its place in the file
	drawn    int           // conversations that are drawn, which stand first; FirstStarted = it is not known yet
	early    map[int]draft // those that came before their turn
	err      error

	unwanted bool // nothing was sent: there shall be no file
}

// draft is a conversation that a request has made.
type draft struct {
	index        int
	conversation *conversation.Conversation
	first        *endpoint.Request // of its first turn; nil = not made
}

// mostEarly bounds the conversations that wait for those before them, and mostHeld the bytes of their bodies; what is refused is made again
// at the end.
const (
	mostEarly = 256
	mostHeld  = 32 << 20
)

// mostLate is how many conversations are still made when the user has ended the run.
const mostLate = 1000

// tellEvery is the pause between two words about a file that takes long to complete.
const tellEvery = 5 * time.Second

// newListing makes the component. hide are the secrets that the file must not show.
func newListing(path string, hide *redact.Secrets, data *prepared, codec endpoint.Codec, warn func(string)) *listing {
	return &listing{data: data, codec: codec, path: path, hide: hide, warn: warn, given: make(chan draft, mostEarly), over: make(chan struct{}),
		idle: make(chan struct{}), early: map[int]draft{}, drawn: dataset.FirstStarted}
}

// Start implements component: it begins the file.
func (l *listing) Start(context.Context) error {
	var err error
	if l.file, err = artifact.CreateInputs(l.path, l.hide); err != nil {
		return err
	}
	go l.run()
	return nil
}

// Stop implements component: it completes the file. Once the context has ended that is not waited for beyond mostLate conversations.
func (l *listing) Stop(ctx context.Context) error {
	if l.unwanted {
		close(l.over)
		<-l.idle
		return l.file.Drop()
	}
	missing, err := l.finish(ctx)
	if n := dataset.All(l.data.data); err == nil && missing > 0 {
		l.warn(fmt.Sprintf("%s lists %s of %s: the run was interrupted", l.path, terminal.Count(n-missing), terminal.Plural(n, "conversation")))
	}
	return err
}

// offer hands a conversation over that a request has made, and the body of its first turn. It never waits. A nil listing takes nothing, and none takes
// what others start: that stands behind all that is drawn.
func (l *listing) offer(i int, c *conversation.Conversation, first *endpoint.Request) {
	if l == nil || i >= dataset.FirstStarted {
		return
	}
	d := draft{i, c, first}
	if l.held.Add(d.size()) > mostHeld {
		l.held.Add(-d.size())
		return
	}
	select {
	case l.given <- d:
	default:
		l.held.Add(-d.size())
	}
}

// size is the number of bytes that the draft holds, about.
func (d draft) size() int64 { return int64(d.first.Body.Len()) }

func (l *listing) run() {
	defer close(l.idle)
	for {
		select {
		case d := <-l.given:
			if _, known := l.early[d.index]; known || d.index < l.next || len(l.early) == mostEarly {
				l.held.Add(-d.size())
				continue
			}
			l.early[d.index] = d
			for l.err == nil && l.known(d.index) {
				l.write(l.make())
			}
		case <-l.over:
			return
		}
	}
}

// known tells whether the next conversation was made, given here or kept for the requests to come. Of the latter it looks only at those
// before last: the listing keeps pace with the requests and does not run ahead of them.
func (l *listing) known(last int) bool {
	if _, ok := l.early[l.next]; ok {
		return true
	}
	return l.next < last && l.data.holds(l.next)
}

// write appends the next conversation.
func (l *listing) write(d draft) {
	payloads := make([][]byte, 0, len(d.conversation.Turns))
	for k := range d.conversation.Turns {
		if d.conversation.Turns[k].Silent {
			continue
		}
		if k == 0 && d.first != nil {
			payloads = append(payloads, d.first.Listed())
			continue
		}
		req, err := alone(l.codec, d.conversation, k)
		if err != nil {
			l.err = fmt.Errorf("%s: conversation %s, turn %d: %w", l.path, d.conversation.ID, k+1, err)
			return
		}
		payloads = append(payloads, req.Listed())
	}
	if early, ok := l.early[l.next]; ok {
		delete(l.early, l.next)
		l.held.Add(-early.size())
	}
	l.next++
	l.err = l.file.Add(d.conversation.ID, payloads)
}

// finish makes what no request was made of and completes the file. Once the context has ended it makes mostLate
// more at the most: missing is the number of conversations that the file lacks. On an error there is no file.
func (l *listing) finish(ctx context.Context) (missing int, err error) {
	close(l.over)
	<-l.idle
	if a, ok := l.data.data.(dataset.Abridged); ok && !a.Abridge() {
		l.warn(fmt.Sprintf("%s lists the %s that were read; the dataset holds more", l.path, terminal.Plural(l.data.data.Len(), "conversation")))
	}
	l.drawn = l.data.data.Len()
	n, late := dataset.All(l.data.data), 0
	told := time.Now()
	for l.next < n && l.err == nil && late < mostLate {
		if l.progress != nil {
			l.progress(l.next, n)
		}
		if l.tell != nil && time.Since(told) >= tellEvery {
			told = time.Now()
			l.tell(l.next, n)
		}
		if ctx.Err() != nil {
			late++
		}
		l.write(l.make())
	}
	if l.progress != nil {
		l.progress(n, n) // the file is as complete as it will be
	}
	missing = n - l.next
	if l.err != nil {
		_ = l.file.Drop() // the first error counts
		return missing, l.err
	}
	return missing, l.file.Close()
}

// make gives the next conversation: as a request has made it, or made now.
func (l *listing) make() draft {
	if d, ok := l.early[l.next]; ok {
		return d
	}
	s := l.data.session(dataset.Nth(l.next, l.drawn))
	d := draft{index: l.next, conversation: s.conversation}
	d.first = s.first
	return d
}
