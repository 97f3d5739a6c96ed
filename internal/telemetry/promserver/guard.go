package promserver

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

// AccessGuard accepts requests that have the token and address the server by its own name. A page of another site can make a browser request any
// address, but only by a name of that site (DNS rebinding).
type AccessGuard struct {
	Token string
	Host  string                 // host that the server listens on, without the port
	Open  func(path string) bool // reports paths that need no token; nil = none
}

// cookieName is the prefix of the name of the cookie that replaces the token. The port follows, because browsers send the cookies of a host to all its
// ports.
const cookieName = "aiperf-"

// Wrap returns a handler that passes only permitted requests to next.
func (g *AccessGuard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		known := g.hasToken(r)
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
			http.SetCookie(w, &http.Cookie{Name: cookieOf(r), Value: g.cookie(), Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode}) //nolint:gosec // Secure would hide it from this server, which has no TLS
		}
		next.ServeHTTP(w, r)
	})
}

// Address returns a URL of the server with the token.
func (g *AccessGuard) Address(address string) string {
	return address + "?token=" + url.QueryEscape(g.Token)
}

// hasToken reports whether a request has the token: in a header, in its URL, or through the cookie of an earlier request.
func (g *AccessGuard) hasToken(r *http.Request) bool {
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

// same compares in constant time. An empty text is never a token.
func same(given, want string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(given), []byte(want)) == 1
}

// cookie returns the cookie value; the token cannot be derived from it.
func (g *AccessGuard) cookie() string {
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

// ownName reports whether a Host header names this machine: an address, localhost, the name that the server listens on, or the host name.
func (g *AccessGuard) ownName(host string) bool {
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

// loopback reports whether an address can be reached only from this machine.
func loopback(host string) bool {
	ip := net.ParseIP(host)
	return strings.EqualFold(host, "localhost") || ip != nil && ip.IsLoopback()
}

// refuse answers with an error, in the format of the API.
func refuse(w http.ResponseWriter, status int, why string) {
	text, err := json.Marshal(map[string]string{"detail": why})
	if err != nil { // a string always has a JSON form
		text = []byte("{}")
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write(text) // the client may be gone
}
