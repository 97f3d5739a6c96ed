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
}

// userSpawn is a future user.
type userSpawn struct {
	at   float64 // s after the start of the phase
	user *user   // nil: a successor, whose id and conversation are chosen when it starts
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
		heap.Push(&u.spawns, userSpawn{at: float64(s.order) * stagger, user: &user{id: s.id, drawn: d, turns: turns}})
	}
	u.nextID = u.users + 2
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

// peek drops due successors if there are too many users.
func (u *userStarts) peek(by int64) (int64, bool) {
	for len(u.spawns) > u.users && u.spawns[0].user == nil && ns(u.spawns[0].at) <= by {
		heap.Pop(&u.spawns)
	}
	if len(u.spawns) == 0 {
		return 0, false
	}
	return ns(u.spawns[0].at), true
}

func (u *userStarts) pop(t0 int64) *ticket {
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
	heap.Push(&u.spawns, userSpawn{at: s.at + float64(who.turns)*u.gap})
	return u.p.newSession(who.drawn, strconv.Itoa(who.id), who.turns, t0+ns(s.at))
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
