package load

import (
	"container/heap"
	"context"
	"math"
	"strconv"
)

// userStarts creates users (6.5). The first population is staged so that it looks like the steady state from the first second. Then each user gets a
// successor when its conversation is planned to end, whatever the server does.
//
//	gap     = users / rate      between two turns of one user
//	stagger = 1 / rate          between neighbouring users
type userStarts struct {
	p      *phase
	gap    float64 // s
	users  int     // number of users who share the rate, see setUsers
	nextID int
	spawns spawns // one entry per user: the user or its successor
	places int    // number of places that users and their successors hold
	left   int64  // with several machines, number of sessions that all of them together may still start; negative = any number
}

// userSpawn is a future user.
type userSpawn struct {
	at   float64 // s after the start of the phase
	user *user   // nil: a successor, whose id and conversation are chosen when it starts

	place int64 // a successor has that of its predecessor; all of them are on one machine
}

// user is a user whose conversation is known.
type user struct {
	id    int
	drawn sample
	turns int
}

// stagedUser is a member of the first population.
type stagedUser struct {
	id    int // 1..n; n+1 is an additional new user
	order int // in units of the stagger
	left  int // number of turns; 0 = all
}

// stage lays out the first population for the given mean number of turns per conversation. The orders 0..users-1 are each used once.
func stage(users, turns int) []stagedUser {
	life := max(1, turns-1)
	shared := gcd(users, life) > 1
	step := spacing(users)
	var list []stagedUser
	for i := range users {
		age := (users - i) * life
		left := life - age/users
		if left <= 0 {
			continue // the user's id is consumed anyway
		}
		slot := age % users
		if shared {
			slot = (i * step) % users
		}
		list = append(list, stagedUser{id: i + 1, order: users - slot, left: left})
	}
	return append(list, stagedUser{id: users + 1})
}

// spacing returns the smallest step above 1 that visits all places; 1 for one or two users.
func spacing(users int) int {
	for step := 2; step < users; step++ {
		if gcd(users, step) == 1 {
			return step
		}
	}
	return 1
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

func (u *userStarts) build(ctx context.Context) error {
	g := u.p.g
	u.users = u.p.Users
	if u.p.Moving.Quantity == UserCount {
		u.users = int(u.p.Moving.From)
	}
	u.gap = float64(u.users) / u.p.Rate
	stagger := 1 / u.p.Rate
	mean, err := meanTurns(ctx, g.opts.Source)
	if err != nil {
		return err
	}
	list := stage(u.users, int(math.RoundToEven(mean)))
	g.prefetcher.deepen(len(list))
	for _, s := range list {
		d, err := g.await(ctx, g.prefetcher)
		if err != nil {
			return err
		}
		turns := len(d.shape.Turns)
		if s.left > 0 {
			turns = min(turns, s.left)
		}
		heap.Push(&u.spawns, userSpawn{at: float64(s.order) * stagger, user: &user{id: s.id, drawn: d, turns: turns}, place: int64(s.order)})
	}
	u.nextID, u.places = u.users+2, u.users
	if u.left = -1; !g.scenario.Share.whole() && u.p.Sessions > 0 {
		u.left, u.p.Sessions = u.p.Sessions, 0
	}
	return nil
}

// meanTurns returns the average number of turns of the data's conversations.
func meanTurns(ctx context.Context, source Source) (float64, error) {
	sum := 0
	for i := range source.Len() {
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		shape, err := source.Shape(i)
		if err != nil {
			return 0, err
		}
		sum += len(shape.Turns)
	}
	return float64(sum) / float64(source.Len()), nil
}

// peek drops due successors if there are too many users, and follows the users of other machines.
func (u *userStarts) peek(by int64) (int64, bool) {
	for len(u.spawns) > 0 && u.left != 0 && ns(u.spawns[0].at) <= by {
		switch next := u.spawns[0]; {
		case len(u.spawns) > u.users && next.user == nil:
			heap.Pop(&u.spawns)
			continue
		case !u.own(next):
			if who := u.spawn(); who != nil {
				u.p.g.pass(&who.drawn)
				u.p.g.url(&who.drawn)
				continue
			}
		}
		break
	}
	if len(u.spawns) == 0 || u.left == 0 {
		return 0, false
	}
	return ns(u.spawns[0].at), true
}

func (u *userStarts) own(s userSpawn) bool { return u.p.g.scenario.Share.owns(s.place) }

func (u *userStarts) pop(t0 int64) *ticket {
	next := u.spawns[0]
	if !u.own(next) { // peek could not follow it yet
		return nil
	}
	who := u.spawn()
	if who == nil {
		return nil
	}
	return u.p.newSession(who.drawn, strconv.Itoa(who.id), who.turns, t0+ns(next.at))
}

func (u *userStarts) unstarted(within int64) (turns float64, limited bool) {
	for _, next := range u.spawns {
		if at := ns(next.at); u.own(next) && at < within {
			turns += 1 + math.Floor(float64(within-at)/float64(ns(u.gap)))
		}
	}
	return turns, !u.p.mayStart() || u.left == 0
}

// spawn replaces the next user by its successor and returns it; nil = its data are not available yet.
func (u *userStarts) spawn() *user {
	s := u.spawns[0]
	who := s.user
	if who == nil {
		d, ok := u.p.nextSample(u.p.g.prefetcher)
		if !ok {
			return nil
		}
		who = &user{id: u.nextID, drawn: d, turns: len(d.shape.Turns)}
		u.nextID++
	}
	heap.Pop(&u.spawns)
	if u.left > 0 {
		u.left--
	}
	heap.Push(&u.spawns, userSpawn{at: s.at + float64(who.turns)*u.gap, place: s.place})
	return who
}

// due keeps the user's gap. A late answer delays the user's later turns. The schedule still records the originally planned instant, because the user
// had to wait.
func (u *userStarts) due(t, next *ticket, now int64) int64 {
	at := t.due + ns(u.gap)
	if at < now {
		next.scheduled = at
		return now
	}
	return at
}

// spawns is a heap by time; at the same instant, users known in advance come before successors.
type spawns []userSpawn

func (s spawns) Len() int { return len(s) }
func (s spawns) Less(i, j int) bool {
	if s[i].at != s[j].at {
		return s[i].at < s[j].at
	}
	return s[i].user != nil && s[j].user == nil
}
func (s spawns) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *spawns) Push(x any)   { *s = append(*s, x.(userSpawn)) }
func (s *spawns) Pop() any {
	old := *s
	v := old[len(old)-1]
	*s = old[:len(old)-1]
	return v
}
