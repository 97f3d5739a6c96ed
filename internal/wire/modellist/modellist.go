// Package modellist asks a server for its list of models: GET /v1/models, as defined by OpenAI and implemented by vLLM, SGLang, TGI, llama.cpp,
// Ollama and others.
package modellist

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"

	"aiperf/internal/base/redact"
)

// Path is the path of the list below the base URL of a server.
const Path = "/v1/models"

const (
	patience = 5 * time.Second // time limit for the whole answer
	maxBody  = 4 << 20         // bytes of the answer that are read; a list of 10,000 models is smaller
	maxName  = 256             // longest name of a model, bytes
	maxNames = 10_000
)

// ErrSilent reports that a server did not answer in time.
var ErrSilent = fmt.Errorf("no answer within %v", patience)

// Options are the settings of a query.
type Options struct {
	Headers http.Header       // headers of the request, including credentials
	Through http.RoundTripper // transport to the server; nil = a plain one
}

// List is the list of models of a server.
type List struct {
	Names     []string // in the server's order, without duplicates
	Simulated bool     // the server is a simulated one of this program
}

// owner is the owner that our simulated server reports for its model.
const owner = "aiperf"

// Get requests the list at its full URL. It follows no redirect, because the answer must come from the server that the run would measure. The error
// describes the cause in a few words, without the URL. The target of a redirect is part of them, without its secrets.
func Get(ctx context.Context, address string, o Options) (List, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return List{}, errors.New("invalid URL")
	}
	for name, values := range o.Headers {
		req.Header[name] = values
	}
	req.Header.Set("Accept", "application/json")
	through := o.Through
	if through == nil {
		through = &http.Transport{DisableKeepAlives: true}
	}
	client := &http.Client{Transport: through, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		return List{}, plain(ctx, err)
	}
	defer resp.Body.Close()
	if target := resp.Header.Get("Location"); resp.StatusCode/100 == 3 && target != "" {
		return List{}, fmt.Errorf("%d %s: the redirect to %s is not followed", resp.StatusCode, http.StatusText(resp.StatusCode), redact.URL(target))
	}
	if resp.StatusCode != http.StatusOK {
		return List{}, fmt.Errorf("%d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	switch {
	case err != nil:
		return List{}, plain(ctx, err)
	case len(body) > maxBody:
		return List{}, fmt.Errorf("the answer is longer than %d bytes", maxBody)
	}
	return Parse(body)
}

// plain returns the cause of a failure without the URL. The caller knows the URL and shows it without secrets.
func plain(ctx context.Context, err error) error {
	if ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded) {
		return ErrSilent
	}
	var wrapped *url.Error
	if errors.As(err, &wrapped) {
		err = wrapped.Err
	}
	return err
}

// Parse parses an answer: {"data": [{"id": …}]}, or the older {"models": [{"name": …}]}.
func Parse(body []byte) (List, error) {
	type entry struct {
		ID    string `json:"id"`
		Name  string `json:"name"`
		Owner string `json:"owned_by"`
	}
	var answer struct{ Data, Models []entry }
	if err := json.Unmarshal(body, &answer); err != nil {
		return List{}, errors.New("the answer is not a list of models")
	}
	entries := answer.Data
	if len(entries) == 0 {
		entries = answer.Models
	}
	if len(entries) > maxNames {
		return List{}, fmt.Errorf("the answer lists more than %d models", maxNames)
	}
	list := List{Simulated: len(entries) > 0}
	for _, e := range entries {
		name := e.ID
		if name == "" {
			name = e.Name
		}
		if !usable(name) || slices.Contains(list.Names, name) {
			continue
		}
		list.Names = append(list.Names, name)
		list.Simulated = list.Simulated && e.Owner == owner
	}
	return list, nil
}

// usable reports whether a name can be displayed and sent: it has no control or formatting characters and a length of at most maxName.
func usable(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
}
