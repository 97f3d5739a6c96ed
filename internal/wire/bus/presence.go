package bus

import (
	"maps"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/clock"
	"aiperf/internal/base/sorting"
)

// EventKind is what happened to a worker.
type EventKind int

// Kinds of events.
const (
	Joined       EventKind = iota // first sign of life
	Disconnected                  // its connections have ended
	Silent                        // no sign of life for a while
	Back                          // a sign of life after Disconnected or Silent
)

// Event is a change of a worker's presence.
type Event struct {
	Member string
	Kind   EventKind
	At     int64         // when the controller noticed, on its clock
	Unseen time.Duration // time since the last sign of life; with Back, the length of the absence
}

// Member describes a worker as the controller sees it.
type Member struct {
	Name      string
	Connected bool
	LastSeen  int64 // instant of the last sign of life; 0 = none yet
	Beats     int64
	Pieces    int64 // pieces of the current epoch that are stored
}

// Members lists the workers that ever joined, by name.
func (s *Server) Members() []Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Member, 0, len(s.members))
	for _, w := range s.members {
		w.mu.Lock()
		m := Member{Name: w.name, Connected: w.connected, LastSeen: w.lastSeen, Beats: w.beats}
		if w.inbox.epoch == s.epoch {
			m.Pieces = w.stored
		}
		w.mu.Unlock()
		list = append(list, m)
	}
	sorting.Sort(list, func(a, b Member) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// watch looks after the workers until the server closes.
func (s *Server) watch() {
	tick := time.NewTicker(presencePause)
	defer tick.Stop()
	for {
		select {
		case <-s.ctx.Done():
			return
		case <-tick.C:
		}
		now := clock.Now()
		for _, m := range s.list() {
			if e, changed := m.presence(now, m.attached()); changed && s.opts.Presence != nil {
				s.opts.Presence(e)
			}
		}
	}
}

func (s *Server) list() []*member {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]*member, 0, len(s.members))
	for _, w := range s.members {
		list = append(list, w)
	}
	return list
}

// presence updates what is known of a worker, and returns the event if something changed.
func (w *member) presence(now int64, connected bool) (Event, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	unseen := time.Duration(max(0, now-w.lastSeen))
	e := Event{Member: w.name, At: now, Unseen: unseen}
	if w.lastSeen == 0 {
		return e, false
	}
	silent := unseen > silentAfter
	was, wasSilent, first := w.connected, w.silent, w.absentFrom == 0 && !w.joined
	w.connected, w.silent, w.joined = connected, silent, true
	switch {
	case first && connected && !silent:
		e.Kind = Joined
	case (was || first) && !connected:
		e.Kind = Disconnected
		w.leave(unseen, now)
	case !wasSilent && silent && connected:
		e.Kind = Silent
		w.leave(unseen, now)
	case w.absentFrom != 0 && connected && !silent:
		e.Kind, e.Unseen = Back, time.Duration(w.lastSeen-w.absentFrom)
		w.absentFrom = 0
	default:
		return e, false
	}
	return e, true
}

// leave notes since when a worker is absent.
func (w *member) leave(unseen time.Duration, now int64) {
	if w.absentFrom == 0 {
		w.absentFrom = now - int64(unseen)
	}
}

// Reasons why a message or a connection was dropped.
const (
	DroppedToken   = "wrong token"
	DroppedName    = "name not valid or taken"
	DroppedVersion = "another version of aiperf"
	DroppedKind    = "message not allowed"
	DroppedSize    = "message too large"
	DroppedDamaged = "message damaged"
	DroppedEpoch   = "piece of another run"
	DroppedPiece   = "piece differs from the one before"
	DroppedSlow    = "connection too slow"
)

// drops counts what was dropped.
type drops struct {
	mu    sync.Mutex
	count map[string]int
}

func newDrops() *drops { return &drops{count: map[string]int{}} }

func (d *drops) add(reason string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count[reason]++
}

func (d *drops) counts() map[string]int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return maps.Clone(d.count)
}
