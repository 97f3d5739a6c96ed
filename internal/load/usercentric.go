package load

import (
	"container/heap"
	"context"
	"math"
	"strconv"
)

// userStarts spawns users (6.5): a staged population that looks like the steady state from the first second, then one successor for each
// user when its conversation would be over, whatever the server does.
//
//	gap     = users / rate      between two turns of one user
//	stagger = 1 / rate          between neighbouring users
type userStarts struct {
	p      *phase
	gap    float64 // s
	users  int     // who share the rate, see setUsers
	nextID int
	spawns spawns // one for each user, himself or his successor
}

// spawn is a user to come.
type spawn struct {
	at   float64 // s after the start of the phase
	user *user   // nil: a successor, whose id and conversation are chosen at its turn
}

// user is one whose conversation is known.
type user struct {
	id    int
	drawn sample
	turns int
}

// staged is a place in the first population.
type staged struct {
	id    int // 1..n; n+1 is the fresh user
	order int // in units of the stagger
	left  int // turns; 0 = all
}

// stage lays out the first population for a mean of so many turns per conversation. Orders 0..users-1 are each used once.
func stage(users, turns int) []staged {
	life := max(1, turns-1)
	shared := gcd(users, life) > 1
	step := spacing(users)
	var list []staged
	for i := range users {
		age := (users - i) * life
		left := life - age/users
		if left <= 0 {
			continue // the user's id is used up
		}
		slot := age % users
		if shared {
			slot = (i * step) % users
		}
		list = append(list, staged{id: i + 1, order: users - slot, left: left})
	}
	return append(list, staged{id: users + 1})
}

// spacing is the smallest step above 1 that visits all places, 1 for one or two users.
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
		heap.Push(&u.spawns, spawn{at: float64(s.order) * stagger, user: &user{id: s.id, drawn: d, turns: turns}})
	}
	u.nextID = u.users + 2
	return nil
}

// meanTurns is the average number of turns of the data's conversations.
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

// peek drops the successors that are due of users of whom there are too many.
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
	heap.Push(&u.spawns, spawn{at: s.at + float64(who.turns)*u.gap})
	return u.p.newSession(who.drawn, strconv.Itoa(who.id), who.turns, t0+ns(s.at))
}

// due keeps the user's gap; a late answer moves its later turns. The schedule's clock keeps the instant that was asked for all the same:
// it is the user who waits.
func (u *userStarts) due(t, next *ticket, now int64) int64 {
	at := t.due + ns(u.gap)
	if at < now {
		next.asked = at
		return now
	}
	return at
}

// spawns is a heap by time; users known beforehand come before successors of the same instant.
type spawns []spawn

func (s spawns) Len() int { return len(s) }
func (s spawns) Less(i, j int) bool {
	if s[i].at != s[j].at {
		return s[i].at < s[j].at
	}
	return s[i].user != nil && s[j].user == nil
}
func (s spawns) Swap(i, j int) { s[i], s[j] = s[j], s[i] }
func (s *spawns) Push(x any)   { *s = append(*s, x.(spawn)) }
func (s *spawns) Pop() any {
	old := *s
	v := old[len(old)-1]
	*s = old[:len(old)-1]
	return v
}
