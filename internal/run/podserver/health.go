// Package podserver is what the containers of a run answer over HTTP: probes of Kubernetes, and, in the pod of the controller, the state, the output and
// the files of the run. It keeps the files until somebody has fetched them, or for a limited time.
package podserver

import (
	"io"
	"net/http"
)

// Health returns the handler of the probes (spec: extensibility, section 5.2). ready reports whether the process does its work.
func Health(ready func() bool) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { plain(w, http.StatusOK, "ok") })
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, _ *http.Request) {
		if ready() {
			plain(w, http.StatusOK, "ok")
		} else {
			plain(w, http.StatusServiceUnavailable, "not ready")
		}
	})
	return mux
}

// plain answers with a text.
func plain(w http.ResponseWriter, status int, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("Connection", "close")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, text) // the client may be gone
}
