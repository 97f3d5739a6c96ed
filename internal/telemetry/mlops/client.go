// Package mlops uploads the results of a finished run to experiment trackers over their REST APIs.
package mlops

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"aiperf/internal/base/redact"
	"aiperf/internal/telemetry"
)

// Report is the data of a run to upload.
type Report struct {
	Name       string // of the run
	Start, End time.Time
	Failed     bool // no request was valid
	Cancelled  bool // the user interrupted the run
	Metrics    []Metric
	Params     []Param
	Files      []File
}

// Metric is one figure.
type Metric struct {
	Key   string
	Value float64
}

// Param is one setting. Value is its text.
type Param struct {
	Key, Value string
	JSON       json.RawMessage // the same as a number, boolean or null; nil = it is a text
}

// File is a file to upload; Name is its path in the tracker, with slashes.
type File struct{ Path, Name string }

// maxAnswer limits how much of an answer is read, in bytes.
const maxAnswer = 1 << 20

// client calls a tracker.
type client struct {
	http  *http.Client
	base  string // without a slash at the end
	auth  func(*http.Request)
	agent string
}

func newClient(base, agent string, auth func(*http.Request)) *client {
	return &client{http: &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}, base: base, auth: auth, agent: agent}
}

// statusError is an answer with an error status.
type statusError struct {
	method, url string
	status      int
	text        string
}

func (e *statusError) Error() string {
	return fmt.Sprintf("%s %s: status %d: %.200s", e.method, e.url, e.status, e.text)
}

// json sends a request with a JSON body (nil = none) and decodes the answer into out (nil = ignored).
func (c *client) json(ctx context.Context, method, path string, body, out any) error {
	var text []byte
	if body != nil {
		var err error
		if text, err = json.Marshal(body); err != nil {
			return err
		}
	}
	answer, err := c.do(ctx, method, c.base+path, "application/json", bytes.NewReader(text), int64(len(text)))
	if err != nil || out == nil {
		return err
	}
	if err := json.Unmarshal(answer, out); err != nil {
		return fmt.Errorf("%s %s: unexpected answer: %w", method, telemetry.Shown(c.base+path), err)
	}
	return nil
}

// put uploads a file.
func (c *client) put(ctx context.Context, address, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	_, err = c.do(ctx, http.MethodPut, address, "application/octet-stream", f, info.Size())
	return err
}

func (c *client) do(ctx context.Context, method, address, kind string, body io.Reader, size int64) ([]byte, error) {
	if size == 0 {
		body = http.NoBody
	}
	req, err := http.NewRequestWithContext(ctx, method, address, io.NopCloser(body))
	if err != nil {
		return nil, err
	}
	req.ContentLength = size
	req.Header.Set("Content-Type", kind)
	req.Header.Set("User-Agent", c.agent)
	if c.auth != nil {
		c.auth(req)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if u := (*url.Error)(nil); errors.As(err, &u) { // the message contains the whole URL
			err = u.Err
		}
		return nil, fmt.Errorf("%s %s: %w", method, place(address), err)
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer))
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		return text, &statusError{method, place(address), resp.StatusCode, credentials(req).Text(string(text))} // the message is shortened later
	}
	return text, err
}

// credentials returns the secrets of a request. A server may repeat them in its answer.
func credentials(req *http.Request) *redact.Secrets {
	found := redact.URLSecrets(req.URL.String())
	for name := range req.Header {
		found = append(found, redact.HeaderSecrets(name, req.Header.Get(name))...)
	}
	return redact.NewSecrets(found...)
}

// place returns a URL for messages, without its query: upload addresses contain signatures there.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "the tracker"
	}
	u.User, u.RawQuery = nil, ""
	return u.String()
}

// Files returns the files of a directory that match one of the patterns: paths below it as in path.Match, ** for any number of directories. Only
// regular files count; those of the directory itself are sorted by name.
func Files(dir string, patterns []string) (list []File, err error) {
	err = filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(rel)
		for _, p := range patterns {
			if ok, err := match(p, name); err != nil {
				return fmt.Errorf("%q: %w", p, err)
			} else if ok {
				list = append(list, File{path, name})
				break
			}
		}
		return nil
	})
	return list, err
}
