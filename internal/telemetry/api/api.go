// Package api serves the state of a running run over HTTP (spec: extensibility, section 6).
package api

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/base/jsontext"
)

// Source provides the state of the run. Many goroutines call its functions, which must not wait for the load.
type Source struct {
	Ready    func() bool     // requests are being sent, or are about to be
	Config   json.RawMessage // the settings, without secrets
	Run      any             // description of the run
	Page     func() []byte   // Prometheus page
	Metrics  func() any
	Progress func() any
	Workers  func() any
	Results  func() Results
	Dir      string // directory of the files
	Origins  []string
}

// Results is the result of a run.
type Results struct {
	Status  string `json:"status"`  // running, complete, cancelled
	Results any    `json:"results"` // nil while the run is running
}

// Handler returns the handler of all requests. None of them can change the run.
func (s *Source) Handler() http.Handler { return http.HandlerFunc(s.serve) }

// filesPath is the prefix of the addresses of files.
const filesPath = "/api/results/files/"

// serve finds the resource of a path. It does not normalise paths: one that leaves the directory is refused, not corrected.
func (s *Source) serve(w http.ResponseWriter, r *http.Request) {
	s.allow(w, r)
	switch {
	case r.Method == http.MethodOptions && r.Header.Get("Access-Control-Request-Method") != "":
		w.WriteHeader(http.StatusNoContent)
		return
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, r, http.StatusMethodNotAllowed, "Method Not Allowed")
		return
	}
	if name, ok := strings.CutPrefix(r.URL.Path, filesPath); ok {
		s.file(w, r, name)
		return
	}
	switch r.URL.Path {
	case "/healthz":
		answer(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
	case "/readyz":
		if s.Ready() {
			answer(w, r, http.StatusOK, "text/plain; charset=utf-8", []byte("ok"))
		} else {
			answer(w, r, http.StatusServiceUnavailable, "text/plain; charset=utf-8", []byte("not ready"))
		}
	case "/metrics":
		answer(w, r, http.StatusOK, "text/plain; version=0.0.4; charset=utf-8", s.Page())
	case "/api/config":
		document(w, r, s.Config)
	case "/api/run":
		document(w, r, s.Run)
	case "/api/metrics":
		document(w, r, s.Metrics())
	case "/api/progress":
		document(w, r, s.Progress())
	case "/api/workers":
		document(w, r, s.Workers())
	case "/api/results":
		document(w, r, s.Results())
	case "/api/results/list":
		s.list(w, r)
	default:
		refuse(w, r, http.StatusNotFound, "Not Found")
	}
}

// allow sets which foreign pages may read the answers in a browser; by default none.
func (s *Source) allow(w http.ResponseWriter, r *http.Request) {
	for _, origin := range s.Origins {
		if asked := r.Header.Get("Origin"); asked != "" && (origin == "*" || origin == asked) {
			w.Header().Set("Access-Control-Allow-Origin", origin)
			w.Header().Set("Access-Control-Allow-Methods", "GET, HEAD")
			w.Header().Set("Access-Control-Allow-Headers", "Authorization")
			w.Header().Add("Vary", "Origin")
			return
		}
	}
}

// document answers with JSON. Values that JSON cannot express become null.
func document(w http.ResponseWriter, r *http.Request, v any) {
	text, err := jsontext.Marshal(v)
	if err != nil {
		refuse(w, r, http.StatusInternalServerError, err.Error())
		return
	}
	answer(w, r, http.StatusOK, "application/json", text)
}

// refuse answers with an error message.
func refuse(w http.ResponseWriter, r *http.Request, status int, why string) {
	text, err := json.Marshal(map[string]string{"detail": why})
	if err != nil { // a string always has a JSON form
		text = []byte("{}")
	}
	answer(w, r, status, "application/json", text)
}

// answer sends a body, compressed if the client accepts that.
func answer(w http.ResponseWriter, r *http.Request, status int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	coding := accepted(r.Header.Get("Accept-Encoding"))
	if coding == "" {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	stream(w, r, status, coding, bytes.NewReader(body))
}
