package bus

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"sync"

	"github.com/nats-io/nats-server/v2/server"
)

// controllerName is the user of the controller's own connections. No worker can have it, because it has a dot.
const controllerName = "controller."

// sessionLength is the number of characters of a session.
const sessionLength = 32

// session belongs to a name: the first worker that takes a name proves with it that later connections are its own.
type session struct {
	digest [sha256.Size]byte
	conns  []uint64 // connections of the engine, oldest first
}

// authenticator decides who may connect, and what a connection may send and receive.
type authenticator struct {
	token string
	own   string // password of the controller's own connections
	drops *drops

	mu       sync.Mutex
	sessions map[string]session
}

// Check implements server.Authentication.
func (a *authenticator) Check(c server.ClientAuthentication) bool {
	opts := c.GetOpts()
	if c.Kind() != server.CLIENT {
		a.drops.add(DroppedToken)
		return false
	}
	if opts.Username == controllerName && equal(opts.Password, a.own) {
		c.RegisterUser(&server.User{Username: controllerName})
		return true
	}
	token, key, _ := strings.Cut(opts.Password, ":")
	if !equal(token, a.token) || len(key) != sessionLength {
		a.drops.add(DroppedToken)
		return false
	}
	if CheckName(opts.Username) != nil || !a.enter(opts.Username, key, c.GetID()) {
		a.drops.add(DroppedName)
		return false
	}
	up, inbox := upSubject(opts.Username, ">"), inboxSubject(opts.Username, ">")
	c.RegisterUser(&server.User{Username: opts.Username, Permissions: &server.Permissions{
		Publish: &server.SubjectPermission{Allow: []string{up}}, Subscribe: &server.SubjectPermission{Allow: []string{inbox}},
	}})
	return true
}

// equal compares secrets in a time that does not depend on where they differ.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// enter binds a name to a session, or checks that it is bound to this one.
func (a *authenticator) enter(name, key string, conn uint64) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	digest := sha256.Sum256([]byte(key))
	s, taken := a.sessions[name]
	if taken && subtle.ConstantTimeCompare(s.digest[:], digest[:]) != 1 || !taken && len(a.sessions) == maxMembers {
		return false
	}
	s.digest = digest
	s.conns = append(s.conns, conn)
	a.sessions[name] = s
	return true
}

// known reports whether a worker with this name has connected.
func (a *authenticator) known(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, known := a.sessions[name]
	return known
}

// present returns the names with at least one open connection, and forgets closed ones.
func (a *authenticator) present(open func(conn uint64) bool) map[string]bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	names := make(map[string]bool, len(a.sessions))
	for name, s := range a.sessions {
		s.conns = slices.DeleteFunc(s.conns, func(c uint64) bool { return !open(c) })
		a.sessions[name] = s
		names[name] = len(s.conns) > 0
	}
	return names
}
