package custom

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"strings"

	"aiperf/internal/base/boundedfile"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/synth"
	"aiperf/internal/workload/dataset/weka"
)

// Agents collects recorded agents. Every trace becomes a conversation. It starts the conversations of the sub-agents that its main agent started.
type Agents struct {
	l        *Loader
	options  weka.Options
	set      *agentSet
	seen     map[[2]uint64]int64 // offsets in places, by two hashes of the trace id
	seeds    [2]maphash.Seed
	places   boundedfile.SpooledBytes // where the traces were read ("path:line"), one line each
	scanned  int
	tooLong  int                               // traces above the limit of the context length
	smallest int                               // peak tokens (prompt and answer) of the shortest trace
	empty    int                               // requests skipped because their input has no token
	dropped  int                               // agents skipped because no request starts them
	silent   int                               // traces skipped because their main agent has no request
	sink     func(*weka.Trace, []weka.Session) // receives every trace with its sessions instead of the dataset; nil = the dataset is built
	next     func() (enough bool)              // called after each trace, to stop early; nil = all traces are read at once
}

// Agents returns a collector for the traces of the source.
func (l *loader) Agents() *Agents {
	a := &Agents{l: l, options: l.Options.Agents, seen: map[[2]uint64]int64{}, seeds: [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}}
	a.set = &agentSet{ratio: l.DelayRatio, longest: l.DelayCap}
	a.places.Name, a.set.packedSessions.Name = "the recording", "the recording"
	a.options.MaxOut, a.options.Models, a.options.BlockTokens = l.Limits.MaxOSL, l.Assignment.Models, l.BlockSize
	a.options.Take = func(ms float64, in int) bool {
		switch {
		case !l.Limits.Inside(&ms):
			l.set.info.OutsideWindow++
		case l.Limits.MaxISL > 0 && in > l.Limits.MaxISL:
			l.set.info.TooLong++
		default:
			return true
		}
		return false
	}
	return a
}

// AddJSON adds a trace in Weka's schema. It returns true when there are as many traces as the user asked for.
func (a *Agents) AddJSON(where string, text []byte) (enough bool) {
	if r := rows.Parse(where, text, &a.l.faults); r != nil {
		if t := weka.Read(r); t != nil {
			return a.add(t, where)
		}
	}
	return a.enough()
}

// add adds a trace. It returns true when no more are wanted.
func (a *Agents) add(t *weka.Trace, where string) bool {
	a.addTrace(t, where)
	return a.enough()
}

func (a *Agents) enough() bool {
	return a.next != nil && a.next() || a.l.Entries > 0 && a.set.roots.Len() >= a.l.Entries
}

// addTrace adds a trace, unless it is longer than the context of the model.
func (a *Agents) addTrace(t *weka.Trace, where string) {
	l := a.l
	if first, again := a.first(t.ID, where); again {
		l.faults.Add(where, "id", "%q is used twice, first in %s", t.ID, first)
		return
	}
	peak := t.Peak(l.Limits.MaxOSL)
	if a.scanned++; a.scanned == 1 || peak < a.smallest {
		a.smallest = peak
	}
	if l.Reading != nil && a.scanned%tracesPerReport == 0 {
		l.Reading(a.scanned)
	}
	if l.MaxContext > 0 && peak > l.MaxContext {
		a.tooLong++
		return
	}
	list, dropped := t.Sessions(a.options, &l.faults)
	if a.sink != nil {
		a.sink(t, list)
		return
	}
	a.empty += t.Empty()
	a.dropped += dropped
	switch {
	case len(list) == 0:
		a.silent++
	case l.faults.Count() == 0: // with errors nothing will be sent
		a.set.put(list)
	}
}

// tracesPerReport is the number of traces between two calls of Reading.
const tracesPerReport = 64

// first reports whether a trace with this id was read before, and where.
func (a *Agents) first(id, where string) (place string, again bool) {
	key := [2]uint64{maphash.String(a.seeds[0], id), maphash.String(a.seeds[1], id)}
	if at, known := a.seen[key]; known {
		text := make([]byte, min(a.places.Size()-at, maxPosition))
		_, err := a.places.ReadAt(text, at)
		place, _, _ = strings.Cut(string(text), "\n")
		return place, err == nil
	}
	a.seen[key] = a.places.Size()
	if a.set.fault == nil {
		_, a.set.fault = io.WriteString(&a.places, where+"\n")
	}
	return "", false
}

// maxPosition is the maximum length of a shown position, in bytes.
const maxPosition = 8 << 10

// Done builds the conversations of all traces. name is the source, for messages.
func (a *Agents) Done(name string) error {
	if err := a.warnSkipped(name); err != nil || a.l.faults.Count() > 0 || a.set.roots.Len() == 0 {
		return err
	}
	a.set.packedSessions.Name, a.set.packed = name, nil
	a.l.set.source = a.set
	a.set.fillInfo(&a.l.set.info)
	var err error
	a.l.set.fill, err = a.filler()
	return err
}

// filler returns a function that generates the messages of a conversation.
func (a *Agents) filler() (func(i int, c *conversation.Conversation), error) {
	texts, err := a.l.sequence()
	if err != nil {
		return nil, err
	}
	return func(i int, c *conversation.Conversation) { a.set.fill(i, c, texts.Corpus(), a.l.Root) }, nil
}

// warnSkipped warns of skipped traces, agents and requests after all traces were read. It returns an error if no trace is left or the traces could not be
// stored.
func (a *Agents) warnSkipped(name string) error {
	l := a.l
	if err := errors.Join(a.set.fault, a.places.Close()); err != nil || l.faults.Count() > 0 {
		return err
	}
	if a.set.roots.Len() == 0 && a.tooLong > 0 {
		return dataset.Empty("%s: none of the %d traces fits into %s %d (tokens); the shortest needs %d", name, a.tooLong, l.Spell.As("datasets.main.max_context_length"), l.MaxContext, a.smallest)
	}
	for _, note := range []struct {
		n    int
		what string
	}{
		{a.tooLong, l.Spell.Text("traces skipped: they are longer than {datasets.main.max_context_length}")},
		{a.silent, "traces skipped: their main agent has no request that can be sent"},
		{a.dropped, "agents skipped: they start before the first request of their main agent"},
		{a.empty, "requests skipped: their input has no tokens"},
	} {
		if note.n > 0 {
			l.Warn("%s: %d %s", name, note.n, note.what)
		}
	}
	return nil
}

// traceTexts generates texts from hash ids. An id stands for the same text everywhere in a trace.
type traceTexts struct {
	corpus *synth.Corpus
	blocks *synth.Blocks
	block  int
	tokens []int32
}

// Text returns the text of the blocks, followed by tail tokens. The tail is cut from the corpus at a position derived from seed.
func (t *traceTexts) Text(ids []int64, tail int, seed string) string {
	t.tokens = t.blocks.Append(t.tokens[:0], ids, len(ids)*t.block)
	if tail > 0 {
		sum := sha256.Sum256([]byte(seed))
		at := binary.BigEndian.Uint64(sum[:]) % uint64(max(1, t.corpus.Size()-tail))
		t.tokens = t.corpus.Append(t.tokens, int(at), tail)
	}
	return t.corpus.Text(t.tokens)
}

// traces lists the files of recorded agents: the file itself, or all .json files of a folder.
func traces(path string) ([]string, error) {
	if !isFolder(path) {
		return []string{path}, nil
	}
	return members(path, ".json", false)
}

// readWeka reads recorded agents from files with one trace each or one trace per line.
func readWeka(l *loader, path string) error {
	a := l.Agents()
	l.set.info.FirstHasTime = !l.Options.Agents.Instant
	if err := a.read(path); err != nil {
		return err
	}
	return a.Done(path)
}

// read adds the traces of all files of path.
func (a *Agents) read(path string) error {
	files, err := traces(path)
	if err != nil {
		return err
	}
	for _, file := range files {
		enough, err := eachValue(file, &a.l.faults, a.AddJSON)
		if err != nil {
			return err
		}
		if enough {
			break
		}
	}
	return nil
}

// maxTrace is the maximum size of a file with one trace, in bytes. The same limit applies to a line of a file with several traces.
const maxTrace = 256 << 20

// eachValue calls f for the JSON value of a file, or for the value of every line, until f returns true.
func eachValue(path string, faults *dataset.Faults, f func(where string, text []byte) bool) (ended bool, err error) {
	lined := false
	if err := rows.Read(path, func(l rows.Line) bool { lined = json.Valid(l.Text); return false }); err != nil {
		return false, err
	}
	if lined {
		err := rows.Read(path, func(l rows.Line) bool { ended = f(l.Where(), l.Text); return !ended })
		return ended, err
	}
	file, err := rows.Open(path, io.Discard)
	if err != nil {
		return false, err
	}
	defer file.Close()
	limit := &io.LimitedReader{R: file, N: maxTrace}
	r := newInputs(path, limit)
	var raw json.RawMessage
	if err := r.Decode(&raw); err != nil {
		if limit.N == 0 && errors.Is(err, io.ErrUnexpectedEOF) {
			return false, fmt.Errorf("%s: the trace is longer than %d MiB", path, maxTrace>>20)
		}
		return false, r.broken(path, "", err)
	}
	ended = f(path, raw)
	if t, err := r.Token(); !errors.Is(err, io.EOF) {
		faults.Add(path, "", "must be one JSON object, but %s follows it in line %d", token(t), lineOf(path, r.offset(), false))
	}
	return ended, nil
}

// isWeka reports whether a file is one trace of recorded agents: an object with requests and with the block size or the scope of their hash ids. It
// reads no further than needed.
func isWeka(path string) bool {
	o, err := openOutline(path)
	if err != nil {
		return false
	}
	defer o.Close()
	if !o.enter('{') {
		return false
	}
	blocks, list := false, false
	for !blocks || !list {
		key, ok := o.key()
		if !ok {
			return false
		}
		switch key {
		case "hash_id_scope", "block_size":
			blocks = true
		case "requests":
			list = true
			if blocks {
				return o.enter('[')
			}
		}
		if o.skip() != nil {
			return false
		}
	}
	return true
}

// glanceWeka only checks that the file exists. Errors in its traces are reported when they are read.
func glanceWeka(l *FileSample, path string) error {
	files, err := traces(path)
	if err != nil {
		return err
	}
	l.First, l.Timed, l.Records = path, true, len(files)
	return nil
}

// Rescaled returns the error that this recording cannot be rescaled.
func (o Options) Rescaled() error {
	return errors.New(o.Spell.As("datasets.main.synthesis") + ": this format is sent as recorded and cannot be rescaled; only mooncake_trace, bailian_trace and burst_gpt_trace can")
}
