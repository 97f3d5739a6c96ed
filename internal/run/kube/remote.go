package kube

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"aiperf/internal/report/ui/livefile"
	"aiperf/internal/run/podserver"
)

// Remote is the controller of a run in its pod.
type Remote struct {
	cluster Cluster
	run     string
	pod     string
	token   string
	client  *http.Client
}

// NewRemote returns the controller of a run. The token of its API is in the Secret of the run.
func NewRemote(ctx context.Context, c Cluster, run *Run) (*Remote, error) {
	pod := run.ControllerPod()
	if pod == nil || text(pod, "status", "phase") != "Running" {
		return nil, fmt.Errorf("run %s: %w", run.Name, ErrNoPod)
	}
	secret, err := c.Get(ctx, "Secret", run.Name)
	if err != nil {
		return nil, err
	}
	token, err := decoded(secret, TokenKey)
	if err != nil {
		return nil, err
	}
	r := &Remote{cluster: c, run: run.Name, pod: text(pod, "metadata", "name"), token: token}
	r.client = &http.Client{Transport: &http.Transport{
		DialContext:         func(ctx context.Context, _, _ string) (net.Conn, error) { return c.Dial(ctx, r.pod, APIPort) },
		MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, ResponseHeaderTimeout: time.Minute,
	}}
	return r, nil
}

// Close closes the connections to the pod.
func (r *Remote) Close() { r.client.CloseIdleConnections() }

// refusedError is an answer of the controller other than success.
type refusedError struct {
	status int
	reason string
}

func (e *refusedError) Error() string { return e.reason }

// ask sends a request. The caller closes the body.
func (r *Remote) ask(ctx context.Context, method, path string, header http.Header) (*http.Response, error) {
	return r.send(ctx, method, path, header, nil)
}

// send sends a request with a body. The caller closes the body of the answer.
func (r *Remote) send(ctx context.Context, method, path string, header http.Header, body io.Reader) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, method, "http://127.0.0.1"+path, body)
	if err != nil {
		return nil, err
	}
	for name, values := range header {
		req.Header[name] = values
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	resp, err := r.client.Do(req)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode >= http.StatusBadRequest {
		defer resp.Body.Close()
		reason, _ := io.ReadAll(io.LimitReader(resp.Body, 4096)) // the status says enough without it
		return nil, &refusedError{resp.StatusCode, string(bytes.TrimSpace(reason))}
	}
	return resp, nil
}

// document asks for a JSON document. v may be nil.
func (r *Remote) document(ctx context.Context, method, path string, v any) error {
	resp, err := r.ask(ctx, method, path, nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if v == nil {
		return nil
	}
	return json.NewDecoder(resp.Body).Decode(v)
}

// State returns the state of the run.
func (r *Remote) State(ctx context.Context) (s podserver.State, err error) {
	return s, r.document(ctx, http.MethodGet, "/api/state", &s)
}

// mostLive limits the size of a live state, bytes.
const mostLive = 64 << 20

// Live returns what the run publishes for viewers. If it publishes nothing now, the error is fs.ErrNotExist.
func (r *Remote) Live(ctx context.Context) (*livefile.LiveState, error) {
	resp, err := r.ask(ctx, http.MethodGet, "/api/live", nil)
	var refused *refusedError
	if errors.As(err, &refused) && refused.status == http.StatusNotFound {
		return nil, fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(io.LimitReader(resp.Body, mostLive))
	if err != nil {
		return nil, err
	}
	return livefile.Parse(text)
}

// SendServerPods tells the run the state of the pods of its server.
func (r *Remote) SendServerPods(ctx context.Context, pods []podserver.ServerPod) error {
	text, err := json.Marshal(pods)
	if err != nil {
		return err
	}
	resp, err := r.send(ctx, http.MethodPost, "/api/server-pods", nil, bytes.NewReader(text))
	if err != nil {
		return err
	}
	return resp.Body.Close()
}

// Cancel stops the run as Ctrl-C does; it still writes its report.
func (r *Remote) Cancel(ctx context.Context) error {
	return r.document(ctx, http.MethodPost, "/api/cancel", nil)
}

// Fetched tells the controller that all files of the finished run are here.
func (r *Remote) Fetched(ctx context.Context) error {
	return r.document(ctx, http.MethodPost, "/api/fetched", nil)
}

// Shutdown ends the controller of a finished run. Its files are gone then.
func (r *Remote) Shutdown(ctx context.Context) error {
	return r.document(ctx, http.MethodPost, "/api/shutdown", nil)
}

// Files lists the files of the run.
func (r *Remote) Files(ctx context.Context) ([]podserver.File, error) {
	var answer struct{ Files []podserver.File }
	err := r.document(ctx, http.MethodGet, "/api/results/list", &answer)
	return answer.Files, err
}

// File returns a file from a byte on. The caller closes it.
func (r *Remote) File(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	header := http.Header{}
	if from > 0 {
		header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	resp, err := r.ask(ctx, http.MethodGet, "/api/results/files/"+(&url.URL{Path: name}).EscapedPath(), header)
	if err != nil {
		return nil, err
	}
	if from > 0 && resp.StatusCode != http.StatusPartialContent {
		resp.Body.Close()
		return nil, errors.New("the controller does not send parts of files")
	}
	return resp.Body, nil
}

// output returns what the run has written from a byte on, waiting for it if there is nothing yet; finished means that no more will come.
func (r *Remote) output(ctx context.Context, from int64) (text []byte, next int64, finished bool, err error) {
	resp, err := r.ask(ctx, http.MethodGet, "/api/output?from="+strconv.FormatInt(from, 10), nil)
	if err != nil {
		return nil, from, false, err
	}
	defer resp.Body.Close()
	first, err := strconv.ParseInt(resp.Header.Get(podserver.FirstHeader), 10, 64)
	if err != nil {
		return nil, from, false, err
	}
	text, err = io.ReadAll(resp.Body)
	if err != nil {
		return nil, from, false, err
	}
	return text, first + int64(len(text)), resp.Header.Get(podserver.PhaseHeader) == podserver.Finished, nil
}
