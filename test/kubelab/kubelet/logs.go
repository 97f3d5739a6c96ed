package kubelet

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"
)

// serveLogs answers "kubectl logs".
func (k *Kubelet) serveLogs(w http.ResponseWriter, r *http.Request) {
	_, c := k.requested(w, r)
	if c == nil {
		return
	}
	query := r.URL.Query()
	o, err := parseLogOptions(query, time.Now())
	if err != nil {
		http.Error(w, err.Error(), http.StatusUnprocessableEntity)
		return
	}
	f, err := c.openLog(query.Get("previous") == "true")
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	defer f.Close()
	follow := query.Get("follow") == "true"
	for first := true; ; first = false {
		over := c.live() == nil
		if err := sendLines(w, f, o, over); err != nil || !follow || over || r.Context().Err() != nil {
			return
		}
		if first {
			o.tail = -1 // the last lines count from now on
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// openLog opens the log of the present run or of the one before.
func (c *container) openLog(previous bool) (*os.File, error) {
	s := c.snapshot()
	number := s.restarts
	if previous {
		number--
	}
	f, err := os.Open(c.logPath(number))
	if os.IsNotExist(err) && !previous && number > 0 {
		f, err = os.Open(c.logPath(number - 1)) // waiting for its restart
	}
	switch {
	case err != nil && previous:
		return nil, fmt.Errorf("previous terminated container %q in pod %q not found", c.spec.Name, c.pod.object.Name)
	case err != nil:
		reason := "ContainerCreating"
		if s.now.Waiting != nil {
			reason = s.now.Waiting.Reason
		}
		return nil, fmt.Errorf("container %q in pod %q is waiting to start: %s", c.spec.Name, c.pod.object.Name, reason)
	}
	return f, nil
}

// sendLines sends the complete lines after the file's position, and what is left of a line if the container has ended.
func sendLines(w http.ResponseWriter, f *os.File, o logOptions, over bool) error {
	b, err := io.ReadAll(f)
	if err != nil {
		return err
	}
	if end := bytes.LastIndexByte(b, '\n') + 1; !over && end < len(b) {
		if _, err := f.Seek(int64(end-len(b)), io.SeekCurrent); err != nil {
			return err
		}
		b = b[:end]
	}
	w.Header().Set("Content-Type", "text/plain")
	if _, err := io.WriteString(w, o.lines(string(b))); err != nil { //nolint:gosec // plain text
		return err
	}
	return http.NewResponseController(w).Flush()
}

// parseLogOptions reads the query of a request for logs.
func parseLogOptions(q url.Values, now time.Time) (logOptions, error) {
	o := logOptions{tail: -1, timestamps: q.Get("timestamps") == "true"}
	var err error
	if text := q.Get("tailLines"); text != "" {
		if o.tail, err = strconv.Atoi(text); err != nil {
			return o, fmt.Errorf("tailLines: %w", err)
		}
	}
	if text := q.Get("sinceTime"); text != "" {
		if o.since, err = time.Parse(time.RFC3339Nano, text); err != nil {
			return o, fmt.Errorf("sinceTime: %w", err)
		}
	}
	if text := q.Get("sinceSeconds"); text != "" {
		seconds, err := strconv.Atoi(text)
		if err != nil {
			return o, fmt.Errorf("sinceSeconds: %w", err)
		}
		o.since = now.Add(-time.Duration(seconds) * time.Second)
	}
	return o, nil
}
