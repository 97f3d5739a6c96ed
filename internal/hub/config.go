// Package hub finds files of Hugging Face repositories, models' and datasets': in the cache on disk that it shares with the Python tools,
// else over the network.
package hub

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Content is what repositories hold; the hub and the cache keep each sort apart.
type Content string

// The sorts of repositories.
const (
	Models   Content = "models"
	Datasets Content = "datasets"
)

// noun is one such thing, as messages say it.
func (c Content) noun() string {
	if c == Datasets {
		return "dataset"
	}
	return "tokenizer"
}

// Config says where repositories are looked for.
type Config struct {
	Content  Content // sort of the repositories; "" = Models
	Endpoint string  // base URL, without a slash at the end
	Token    string  // bearer token, "" = none
	Cache    string  // hub cache directory
	Offline  string  // the environment variable that forbids the network, "" = the network is allowed

	// Dir is a directory with a copy of the repository that is asked for: nothing else is read, and nothing fetched. "" = none.
	Dir string

	// Notice is told what the user may want to know of: pauses that a hub asks for, damage that was mended. nil = nobody listens.
	Notice func(text string)
	// Free is the room on the disk of a directory, in bytes; nil = as the system says.
	Free func(dir string) (int64, bool)

	// Progress is told how many bytes of a file have come; total is -1 where the size is not known. It may be called from several
	// goroutines at once. nil = nobody listens.
	Progress func(file string, done, total int64)

	HTTP    *http.Client  // nil = one with the limits below and the proxy of the environment
	Backoff time.Duration // pause before the second attempt, doubled after it; 0 = half a second
	Probe   time.Duration // how long the first answer of the hub may take, with retries; 0 = 9 s
	Stall   time.Duration // how long a download may bring nothing; 0 = 30 s
}

// FromEnv reads the configuration from environment variables.
func FromEnv(getenv func(string) string) Config {
	c := Config{Endpoint: strings.TrimRight(getenv("HF_ENDPOINT"), "/"), Token: first(getenv, "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN")}
	if c.Endpoint == "" {
		c.Endpoint = "https://huggingface.co"
	}
	home := getenv("HF_HOME")
	if home == "" {
		base := getenv("XDG_CACHE_HOME")
		if base == "" {
			base = filepath.Join(getenv("HOME"), ".cache")
		}
		home = filepath.Join(base, "huggingface")
	}
	if c.Cache = first(getenv, "HF_HUB_CACHE", "HUGGINGFACE_HUB_CACHE"); c.Cache == "" {
		c.Cache = filepath.Join(home, "hub")
	}
	if c.Token == "" {
		path := getenv("HF_TOKEN_PATH")
		if path == "" {
			path = filepath.Join(home, "token")
		}
		if b, err := os.ReadFile(path); err == nil {
			c.Token = strings.TrimSpace(string(b))
		}
	}
	for _, name := range []string{"HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE"} {
		if c.Offline == "" && on(getenv(name)) {
			c.Offline = name
		}
	}
	return c
}

func first(getenv func(string) string, names ...string) string {
	for _, n := range names {
		if v := strings.TrimSpace(getenv(n)); v != "" {
			return v
		}
	}
	return ""
}

// on tells whether a switch is set: 1, true, yes or on, in any case.
func on(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Limits of single attempts.
const (
	dialTimeout   = 2500 * time.Millisecond
	headerTimeout = 8 * time.Second
)

// client is the HTTP client: redirects are followed by hand, so that the token never leaves the hub's host.
func (c Config) client() *http.Client {
	h := &http.Client{Transport: &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: dialTimeout}).DialContext,
		TLSHandshakeTimeout:   dialTimeout,
		ResponseHeaderTimeout: headerTimeout,
		DisableCompression:    true,
		ForceAttemptHTTP2:     true,
	}}
	if c.HTTP != nil {
		copied := *c.HTTP
		h = &copied
	}
	h.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return h
}

func (c Config) notice(format string, args ...any) {
	if c.Notice != nil {
		c.Notice(fmt.Sprintf(format, args...))
	}
}

// Size is a number of bytes in words, as 12.3 MB.
func Size(n int64) string {
	switch {
	case n < 0:
		return "an unknown size"
	case n < 1000:
		return fmt.Sprintf("%d B", n)
	}
	v, unit := float64(n), ""
	for _, unit = range []string{"kB", "MB", "GB", "TB"} {
		if v /= 1000; v < 999.95 {
			break
		}
	}
	return fmt.Sprintf("%.1f %s", v, unit)
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d <= 0 {
		return otherwise
	}
	return d
}
