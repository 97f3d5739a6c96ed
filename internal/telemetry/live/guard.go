package live

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
)

// Guard lets those in who know a token, and those who ask for the server by its own name. A page of another site can make a browser ask for any
// address, but only by a name of that site (DNS rebinding).
type Guard struct {
	Token string
	Host  string                 // where the server listens, without the port
	Open  func(path string) bool // paths that need no token; nil = none
}

// cookieName begins the name of the cookie that stands for the token. The port follows: browsers send the cookies of a host to all its ports.
const cookieName = "aiperf-"

// Wrap returns a handler that asks another one only what the guard permits.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := g.knows(r)
		switch {
		case !g.ownName(r.Host) && !(known && !loopback(g.Host)):
			refuse(w, http.StatusForbidden, "this server does not answer for that Host; use its address, or localhost")
			return
		case !known && r.Method != http.MethodOptions && (g.Open == nil || !g.Open(r.URL.Path)):
			w.Header().Set("WWW-Authenticate", "Bearer")
			refuse(w, http.StatusUnauthorized, "the token is missing; use the URL that aiperf printed, or send Authorization: Bearer TOKEN")
			return
		}
		if r.URL.Query().Has("token") && known {
			http.SetCookie(w, &http.Cookie{Name: cookieOf(r), Value: g.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode})
		}
		next.ServeHTTP(w, r)
	})
}

// Address is a URL of the server with the token.
func (g *Guard) Address(address string) string { return address + "?token=" + url.QueryEscape(g.Token) }

// knows reports whether a request has the token: in a header, in its URL, or by the cookie of an earlier request.
func (g *Guard) knows(r *http.Request) bool {
	scheme, bearer, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		bearer = ""
	}
	cookie := ""
	if c, err := r.Cookie(cookieOf(r)); err == nil {
		cookie = c.Value
	}
	return same(strings.TrimSpace(bearer), g.Token) || same(r.URL.Query().Get("token"), g.Token) || same(cookie, g.cookie())
}

// same compares in a time that tells nothing. An empty text is no token.
func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// cookie stands for the token and does not show it.
func (g *Guard) cookie() string {
	sum := sha256.Sum256([]byte("aiperf " + g.Token))
	return hex.EncodeToString(sum[:])
}

func cookieOf(r *http.Request) string {
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	return cookieName + port
}

// ownName reports whether a Host names this machine: an address, localhost, the name that the server listens at, or that of the machine.
func (g *Guard) ownName(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	host = strings.ToLower(strings.TrimSuffix(strings.Trim(host, "[]"), "."))
	if net.ParseIP(host) != nil || host == "localhost" || host == strings.ToLower(g.Host) && host != "" {
		return true
	}
	machine, err := os.Hostname()
	machine = strings.ToLower(machine)
	return err == nil && !loopback(g.Host) && machine != "" && (host == machine || strings.HasPrefix(host, machine+"."))
}

// loopback reports whether an address is reached from this machine alone.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// refuse answers with a reason, as the API does.
func refuse(w http.ResponseWriter, status int, why string) {
	text, err := json.Marshal(map[string]string{"detail": why})
	if err != nil { // a text always has a JSON form
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // whoever asked may be gone
}
