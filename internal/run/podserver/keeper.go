package podserver

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"aiperf/internal/report/ui/livefile"
)

// Options of a keeper.
type Options struct {
	Command []string      // the program of the run and its arguments
	Environ []string      // more variables for it, "NAME=value"
	Dir     string        // folder of the files of the run
	Keep    time.Duration // after the end of the run, if nobody fetches the files
	Out     io.Writer     // also receives the output of the run
	Uploads Uploads       // data files that must be here before the run starts
}

// Keeper runs a benchmark in a separate process and answers questions about it, also after its end.
type Keeper struct {
	opts   Options
	output *output
	files  files
	pods   podLog
	data   *uploads
	fetch  chan struct{} // closed when the files are not needed any more
	asked  chan struct{} // gets a value when somebody asks for a file
	once   sync.Once

	mu    sync.Mutex
	state State
	until time.Time   // to which a finished run is kept
	child *os.Process // nil = the run does not run
}

// State is the state of a run.
type State struct {
	Phase  string `json:"state"`       // one of the Phases
	Status int    `json:"exit_status"` // of the run; valid when it is finished
	Reason string `json:"reason"`      // why the run could not be started or was killed; "" = none
	Output int64  `json:"output_bytes"`
	Left   int64  `json:"kept_s"` // for how long a finished run is still kept, s
	// Fetched says that somebody has all files of the finished run.
	Fetched bool `json:"fetched"`
}

// The phases of a run.
const (
	Starting = "starting"
	Running  = "running"
	Finished = "finished"
)

// New returns a keeper of a run that has not started.
func New(o Options) *Keeper {
	return &Keeper{opts: o, output: newOutput(o.Out), files: files{dir: o.Dir, digests: map[string]digest{}}, pods: podLog{path: filepath.Join(o.Dir, PodLogFile)}, data: newUploads(o.Uploads), fetch: make(chan struct{}), asked: make(chan struct{}, 1), state: State{Phase: Starting}}
}

// Run executes the run, and returns its exit status as soon as its files were fetched or the time to keep them is over. The end of the context interrupts
// the run, and ends the waiting.
func (k *Keeper) Run(ctx context.Context) (status int, err error) {
	if err := k.data.wait(ctx); err != nil {
		return 1, err
	}
	cmd := exec.Command(k.opts.Command[0], k.opts.Command[1:]...)
	cmd.Stdout, cmd.Stderr = k.output, k.output
	cmd.Env = append(append(os.Environ(), k.opts.Environ...), PodLogVariable+"="+k.pods.path)
	if err := cmd.Start(); err != nil {
		return 1, err
	}
	k.mu.Lock()
	k.child, k.state.Phase = cmd.Process, Running
	k.mu.Unlock()
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		k.interrupt()
		err = <-ended
	}
	status = k.finish(cmd, err)
	k.wait(ctx)
	return status, nil
}

// wait waits until the files are not needed any more. The time to keep them begins again whenever somebody asks for one.
func (k *Keeper) wait(ctx context.Context) {
	for {
		over := time.NewTimer(k.opts.Keep)
		select {
		case <-k.asked:
			over.Stop()
			continue
		case <-k.fetch:
		case <-ctx.Done():
		case <-over.C:
		}
		over.Stop()
		return
	}
}

// serveFile sends a file and prolongs the time for which files are kept.
func (k *Keeper) serveFile(w http.ResponseWriter, r *http.Request) {
	k.files.serve(w, r)
	select {
	case k.asked <- struct{}{}:
	default: // the last one has not been noticed yet
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.until = time.Now().Add(k.opts.Keep)
}

// finish stores how the run ended and returns its exit status.
func (k *Keeper) finish(cmd *exec.Cmd, err error) int {
	status, reason := cmd.ProcessState.ExitCode(), ""
	var exit *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &exit):
		status, reason = 1, err.Error()
	case status < 0:
		status, reason = 1, "the process of the run was killed: "+err.Error()
	}
	if reason != "" {
		fmt.Fprintln(k.output, "error: "+reason)
	}
	k.mu.Lock()
	k.child = nil
	k.state = State{Phase: Finished, Status: status, Reason: reason}
	k.until = time.Now().Add(k.opts.Keep)
	k.mu.Unlock()
	k.output.close()
	return status
}

// interrupt stops the run as Ctrl-C does; it still writes its report.
func (k *Keeper) interrupt() bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.child != nil && k.child.Signal(os.Interrupt) == nil
}

// current returns the state of the run.
func (k *Keeper) current() State {
	k.mu.Lock()
	defer k.mu.Unlock()
	s := k.state
	s.Output = k.output.size()
	if s.Phase == Finished {
		s.Left = max(int64(time.Until(k.until).Seconds()), 0)
	}
	return s
}

// Ready reports whether the run runs, or waits for its data.
func (k *Keeper) Ready() bool {
	phase := k.current().Phase
	return phase == Running || phase == Starting && len(k.data.missing()) > 0
}

// longestWait limits how long a reader of the output may wait for more.
const longestWait = 20 * time.Second

// Names of the headers of an answer with output.
const (
	FirstHeader = "Aiperf-First" // number of the first byte
	PhaseHeader = "Aiperf-State" // phase of the run when all that follows is known
)

// Handler returns the handler of all requests. Whoever may send them is not its matter.
func (k *Keeper) Handler() http.Handler {
	mux := http.NewServeMux()
	health := Health(k.Ready)
	mux.Handle("/healthz", health)
	mux.Handle("/readyz", health)
	mux.HandleFunc("GET /api/state", func(w http.ResponseWriter, _ *http.Request) { document(w, k.current()) })
	mux.HandleFunc("GET /api/output", k.serveOutput)
	mux.HandleFunc("GET /api/live", k.serveLive)
	mux.HandleFunc("GET /api/results/list", func(w http.ResponseWriter, _ *http.Request) {
		list, err := k.files.list()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		document(w, map[string]any{"files": list})
	})
	mux.HandleFunc("GET /api/results/files/{name...}", k.serveFile)
	mux.HandleFunc("PUT /api/data/{name}", k.data.serve)
	mux.HandleFunc("POST /api/server-pods", k.pods.serve)
	mux.HandleFunc("POST /api/cancel", func(w http.ResponseWriter, _ *http.Request) { document(w, map[string]bool{"cancelled": k.interrupt()}) })
	mux.HandleFunc("POST /api/fetched", k.serveFetched)
	mux.HandleFunc("POST /api/shutdown", k.serveShutdown)
	return mux
}

// serveOutput answers with the output from a byte on.
func (k *Keeper) serveOutput(w http.ResponseWriter, r *http.Request) {
	from, err := strconv.ParseInt(r.URL.Query().Get("from"), 10, 64)
	if err != nil || from < 0 {
		http.Error(w, "from is not a number of bytes", http.StatusBadRequest)
		return
	}
	text, first := k.output.read(r.Context(), from, longestWait)
	s := k.current()
	if s.Phase == Finished && s.Output > first+int64(len(text)) {
		s.Phase = Running // there is more
	}
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set(FirstHeader, strconv.FormatInt(first, 10))
	w.Header().Set(PhaseHeader, s.Phase)
	_, _ = w.Write(text) // the client may be gone
}

// serveLive sends what the run publishes for viewers; status 404 while it publishes nothing.
func (k *Keeper) serveLive(w http.ResponseWriter, _ *http.Request) {
	dir := livefile.Find(k.opts.Dir, time.Now())
	text, err := os.ReadFile(filepath.Join(dir, livefile.Name))
	if dir == "" || err != nil {
		http.Error(w, "the run publishes nothing now", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	_, _ = w.Write(text) // the client may be gone
}

// serveFetched notes that somebody has all files.
func (k *Keeper) serveFetched(w http.ResponseWriter, _ *http.Request) {
	k.mu.Lock()
	k.state.Fetched = k.state.Phase == Finished
	k.mu.Unlock()
	document(w, k.current())
}

// serveShutdown ends the waiting for somebody who fetches the files. A run that has not finished continues.
func (k *Keeper) serveShutdown(w http.ResponseWriter, _ *http.Request) {
	if k.current().Phase != Finished {
		http.Error(w, "the run has not finished; cancel it first", http.StatusConflict)
		return
	}
	k.once.Do(func() { close(k.fetch) })
	document(w, map[string]bool{"shutdown": true})
}

// document answers with JSON.
func document(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(v) // the client may be gone
}
