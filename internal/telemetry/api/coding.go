package api

import (
	"compress/gzip"
	"io"
	"net/http"
	"strconv"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// accepted selects a content coding that the client accepts (RFC 9110, section 12.5.3): zstd before gzip, "" = none.
func accepted(header string) string {
	wanted := map[string]bool{}
	for item := range strings.SplitSeq(header, ",") {
		name, params, _ := strings.Cut(item, ";")
		wanted[strings.ToLower(strings.TrimSpace(name))] = weight(params) > 0
	}
	for _, name := range []string{"zstd", "gzip"} {
		if yes, said := wanted[name]; yes || !said && wanted["*"] {
			return name
		}
	}
	return ""
}

// weight returns the q value of a coding, 1 if it has none that can be parsed.
func weight(params string) float64 {
	key, value, _ := strings.Cut(strings.TrimSpace(params), "=")
	if q, err := strconv.ParseFloat(strings.TrimSpace(value), 64); err == nil && strings.EqualFold(strings.TrimSpace(key), "q") {
		return q
	}
	return 1
}

// stream sends a body while reading it. Errors are ignored, because the client may be gone.
func stream(w http.ResponseWriter, r *http.Request, status int, coding string, body io.Reader) {
	w.Header().Add("Vary", "Accept-Encoding")
	if coding != "" {
		w.Header().Set("Content-Encoding", coding)
	}
	w.WriteHeader(status)
	if r.Method == http.MethodHead {
		return
	}
	out := io.WriteCloser(plainWriter{w})
	switch coding {
	case "gzip":
		out = gzip.NewWriter(w)
	case "zstd":
		if z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1)); err == nil { // the options are valid, so there is no error
			out = z
		}
	}
	if _, err := io.Copy(out, body); err == nil {
		_ = out.Close()
	}
}

// plainWriter writes without compression.
type plainWriter struct{ io.Writer }

// Close implements io.Closer.
func (plainWriter) Close() error { return nil }
