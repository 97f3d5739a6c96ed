// Package hfhub finds files of Hugging Face repositories of models and datasets. It uses the cache on disk that it shares with the Python tools,
// otherwise the network.
package hfhub

import (
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Content is the kind of repository. The hub and the cache keep the kinds separate.
type Content string

// The kinds of repositories.
const (
	Models   Content = "models"
	Datasets Content = "datasets"
)

// noun returns the word for one such item in messages.
func (c Content) noun() string {
	if c == Datasets {
		return "dataset"
	}
	return "tokenizer"
}

// Config sets where repositories are searched for.
type Config struct {
	Content  Content // kind of the repositories; "" = Models
	Endpoint string  // base URL, without a trailing slash
	Token    string  // bearer token, "" = none
	Cache    string  // hub cache directory
	Offline  string  // name of the environment variable that disables the network, "" = the network is allowed

	// Dir is a directory with a copy of the requested repository. Then nothing else is read or downloaded. "" = none.
	Dir string

	// Notice receives messages for the user: pauses that a hub requests, repaired damage. nil = none.
	Notice func(text string)
	// Free returns the free space on the disk of a directory, in bytes; nil = ask the system.
	Free func(dir string) (int64, bool)

	// Progress receives the number of downloaded bytes of a file; total is -1 if the size is unknown. It may be called concurrently. nil = none.
	Progress func(file string, done, total int64)

	HTTP    *http.Client  // nil = a client with the limits below and the proxy of the environment
	Backoff time.Duration // pause before the second attempt, doubled afterwards; 0 = half a second
	Probe   time.Duration // maximum time until the hub's first answer, including retries; 0 = 9 s
	Stall   time.Duration // maximum time without data in a download; 0 = 30 s
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

// on reports whether a switch is set: 1, true, yes or on, in any case.
func on(v string) bool {
	switch strings.ToLower(strings.TrimSpace(v)) {
	case "1", "true", "yes", "on":
		return true
	}
	return false
}

// Limits of one attempt.
const (
	dialTimeout   = 2500 * time.Millisecond
	headerTimeout = 8 * time.Second
)

// client returns the HTTP client. It does not follow redirects, so that the token is never sent to another host than the hub.
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

// Size formats a number of bytes, for example 12.3 MB.
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
