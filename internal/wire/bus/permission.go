package bus

import (
	"crypto/sha256"
	"crypto/subtle"
	"strings"
	"sync"

	"aiperf/internal/base/binenc"
)

// greeting is the first field of a hello. It changes with the messages of the bus, but for its first words.
const (
	greeting      = greetingWords + "2"
	greetingWords = "aiperf bus "
)

// sessionLength is the number of characters of a session.
const sessionLength = 32

// hello is the first message of a worker on each of its connections.
type hello struct {
	Greeting string
	Token    string
	Name     string
	Session  string // the first worker that takes a name proves with it that later connections are its own
	Bulk     bool   // the connection is the one for pieces
}

func (m *hello) visit(c *binenc.Coder) {
	c.String(&m.Greeting)
	c.String(&m.Token)
	c.String(&m.Name)
	c.String(&m.Session)
	c.Bool(&m.Bulk)
}

// authenticator decides who may connect.
type authenticator struct {
	token string

	mu       sync.Mutex
	sessions map[string][sha256.Size]byte // digests, by name
}

// refusal returns why a worker may not connect, one of the reasons for a drop, or "". damaged is the error of reading its hello: other versions may have
// other fields after the greeting.
func (a *authenticator) refusal(h *hello, damaged error) string {
	switch {
	case h.Greeting != greeting && strings.HasPrefix(h.Greeting, greetingWords):
		return DroppedVersion
	case damaged != nil || h.Greeting != greeting:
		return DroppedDamaged
	case !equal(h.Token, a.token) || len(h.Session) != sessionLength:
		return DroppedToken
	case CheckName(h.Name) != nil || !a.enter(h.Name, h.Session):
		return DroppedName
	}
	return ""
}

// equal compares secrets in a time that does not depend on where they differ.
func equal(a, b string) bool {
	x, y := sha256.Sum256([]byte(a)), sha256.Sum256([]byte(b))
	return subtle.ConstantTimeCompare(x[:], y[:]) == 1
}

// enter binds a name to a session, or checks that it is bound to this one.
func (a *authenticator) enter(name, key string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	digest := sha256.Sum256([]byte(key))
	s, taken := a.sessions[name]
	if taken && subtle.ConstantTimeCompare(s[:], digest[:]) != 1 || !taken && len(a.sessions) == maxMembers {
		return false
	}
	a.sessions[name] = digest
	return true
}
