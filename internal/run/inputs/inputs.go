package inputs

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/base/terminal"
	"aiperf/internal/report/artifact"
	"aiperf/internal/run/component"
	"aiperf/internal/wire/endpoint"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
)

// CheckBodies encodes every turn of user data on its own, and the first conversation of generated data. A turn that cannot be sent makes the run fail
// before it sends anything. It warns once about everything that the bodies leave out. Of data that are read during the run only the first
// conversations are checked, unless whole is set.
func CheckBodies(ctx context.Context, data *PreparedStore, e *endpoint.Endpoint, codec endpoint.Codec, whole bool, warn func(string)) error {
	warned := map[string]bool{}
	var drawn, n int
	g, grows := data.data.(dataset.OpenEnded)
	if grows && !whole {
		drawn = g.Known()
		n = min(drawn+data.data.Info().Started, checkedEarly)
	} else {
		drawn, n = data.data.Len(), dataset.All(data.data)
		if grows { // a row that cannot be read ends the reading, and Len with it
			if _, err := g.Reach(drawn); err != nil {
				return err
			}
		}
	}
	for at := range n {
		i := dataset.Nth(at, drawn)
		if err := ctx.Err(); err != nil {
			return err
		}
		c, written := data.data.Draft(i)
		if c == nil {
			if i > 0 {
				return nil
			}
			c, written = data.data.Conversation(i), true
		}
		for k := range c.Turns {
			if c.Turns[k].Silent {
				continue
			}
			req, err := EncodeAlone(codec, c, k)
			if err != nil {
				return fmt.Errorf("conversation %s, turn %d: %w", c.ID, k+1, err)
			}
			if k == 0 && written && !req.SentOnce {
				data.Keep(i, c, &req)
			}
			for _, text := range e.RemarksOn(&c.Turns[k]) {
				if !warned[text] {
					warned[text] = true
					warn(remark(c.Turns[k].Origin, text))
				}
			}
		}
	}
	return nil
}

// checkedEarly is the number of conversations that are checked of data that are read during the run.
const checkedEarly = 1000

// remark adds the place where something was first found, if the data come from a file.
func remark(origin, text string) string {
	if origin == "" {
		return text
	}
	return origin + ": " + text + " (first seen here)"
}

// EncodeAlone encodes a turn as if it were the only one of its conversation.
func EncodeAlone(codec endpoint.Codec, c *conversation.Conversation, turn int) (endpoint.Request, error) {
	return codec.Encode(&c.Turns[turn], endpoint.Before(c, 0, nil))
}

// FileWriter is the component that writes inputs.json. The file holds the body of every turn, encoded on its own, of every conversation in the order
// of the dataset. Conversations of requests are written during the load. The others are generated after the load, so that the file costs little work
// while requests are measured.
type FileWriter struct {
	component.Passive
	data  *PreparedStore
	codec endpoint.Codec
	path  string
	hide  *redact.Secrets
	warn  func(string)
	Tell  func(done, of int) // called once per tellInterval while the run waits for the file; nil = not needed
	// progress is called for every conversation while the run waits for the file; nil = not needed.
	Progress func(done, of int)
	file     *artifact.Inputs
	given    chan draftConversation
	held     atomic.Int64              // bytes of the bodies that were offered and not yet written
	over     chan struct{}             // closed when the load is over
	idle     chan struct{}             // closed when run has returned
	next     int                       // next conversation to write, by its place in the file
	drawn    int                       // number of drawn conversations, which come first; FirstStarted = not known yet
	early    map[int]draftConversation // conversations that were offered before their turn
	err      error

	unwanted bool // nothing was sent: the file is not written
}

// draftConversation is a conversation that a request has generated.
type draftConversation struct {
	index        int
	conversation *conversation.Conversation
	first        *endpoint.Request // encoded first turn; nil = not encoded
}

// maxEarly limits the conversations that wait for earlier ones, and maxHeldBytes the bytes of their bodies. Conversations beyond that are generated again
// at the end.
const (
	maxEarly     = 256
	maxHeldBytes = 32 << 20
)

// maxLate is the largest number of conversations that are generated after the user has interrupted the run.
const maxLate = 1000

// tellInterval is the interval of progress messages while a slow file is completed.
const tellInterval = 5 * time.Second

// NewFileWriter makes the component. hide holds the secrets that the file must not contain.
func NewFileWriter(path string, hide *redact.Secrets, data *PreparedStore, codec endpoint.Codec, warn func(string)) *FileWriter {
	return &FileWriter{data: data, codec: codec, path: path, hide: hide, warn: warn, given: make(chan draftConversation, maxEarly), over: make(chan struct{}),
		idle: make(chan struct{}), early: map[int]draftConversation{}, drawn: dataset.FirstStarted}
}

// Start implements component: it creates the file.
func (l *FileWriter) Start(context.Context) error {
	var err error
	if l.file, err = artifact.CreateInputs(l.path, l.hide); err != nil {
		return err
	}
	go l.run()
	return nil
}

// Stop implements component: it completes the file. After the context has ended, it adds at most maxLate conversations.
func (l *FileWriter) Stop(ctx context.Context) error {
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

// Discard makes Stop remove the file: nothing was sent.
func (l *FileWriter) Discard() { l.unwanted = true }

// Offer passes a conversation that a request has generated to the writer, with the body of its first turn. It never waits. A nil writer ignores it.
// Conversations started by other sessions are ignored too: they follow all drawn ones in the file.
func (l *FileWriter) Offer(i int, c *conversation.Conversation, first *endpoint.Request) {
	if l == nil || i >= dataset.FirstStarted {
		return
	}
	d := draftConversation{i, c, first}
	if l.held.Add(d.size()) > maxHeldBytes {
		l.held.Add(-d.size())
		return
	}
	select {
	case l.given <- d:
	default:
		l.held.Add(-d.size())
	}
}

// size returns the approximate number of bytes of the draft.
func (d draftConversation) size() int64 { return int64(d.first.Body.Len()) }

func (l *FileWriter) run() {
	defer close(l.idle)
	for {
		select {
		case d := <-l.given:
			l.passGap(d.index)
			if _, known := l.early[d.index]; known || d.index < l.next || len(l.early) == maxEarly {
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

// passGap generates the next conversations if their offers were lost, so that the ones behind them need not be generated again at the end. An offer is
// lost when the writer is not given time for a moment. Many conversations wait then, and all are close to each other, up to last, the newest one. In
// random order they are far apart.
func (l *FileWriter) passGap(last int) {
	if last-l.next > 2*maxEarly {
		return
	}
	for len(l.early) == maxEarly && l.err == nil {
		l.write(l.make())
	}
}

// known reports whether the next conversation is available: offered here, or prepared for coming requests. It looks at prepared ones only before last,
// so that the file keeps pace with the requests and does not run ahead of them.
func (l *FileWriter) known(last int) bool {
	if _, ok := l.early[l.next]; ok {
		return true
	}
	return l.next < last && l.data.holds(l.next)
}

// write appends the next conversation to the file.
func (l *FileWriter) write(d draftConversation) {
	payloads := make([][]byte, 0, len(d.conversation.Turns))
	for k := range d.conversation.Turns {
		if d.conversation.Turns[k].Silent {
			continue
		}
		if k == 0 && d.first != nil {
			payloads = append(payloads, d.first.Listed())
			continue
		}
		req, err := EncodeAlone(l.codec, d.conversation, k)
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

// finish generates the conversations that no request has generated and completes the file. After the context has ended it generates at most maxLate
// more; missing is the number of conversations that the file lacks. On an error there is no file.
func (l *FileWriter) finish(ctx context.Context) (missing int, err error) {
	close(l.over)
	<-l.idle
	if a, ok := l.data.data.(dataset.PartiallyRead); ok && !a.Abridge() {
		l.warn(fmt.Sprintf("%s lists only the %s that were read; the dataset has more", l.path, terminal.Plural(l.data.data.Len(), "conversation")))
	}
	l.drawn = l.data.data.Len()
	n, late := dataset.All(l.data.data), 0
	last := time.Now()
	for l.next < n && l.err == nil && late < maxLate {
		if l.Progress != nil {
			l.Progress(l.next, n)
		}
		if l.Tell != nil && time.Since(last) >= tellInterval {
			last = time.Now()
			l.Tell(l.next, n)
		}
		if ctx.Err() != nil {
			late++
		}
		l.write(l.make())
	}
	if l.Progress != nil {
		l.Progress(n, n) // the file gets no further conversations
	}
	missing = n - l.next
	if l.err != nil {
		_ = l.file.Drop() // the first error is reported
		return missing, l.err
	}
	return missing, l.file.Close()
}

// make returns the next conversation: the one that a request has offered, or a new one.
func (l *FileWriter) make() draftConversation {
	if d, ok := l.early[l.next]; ok {
		return d
	}
	c := l.data.Get(dataset.Nth(l.next, l.drawn))
	return draftConversation{index: l.next, conversation: c.Conversation, first: c.First}
}
