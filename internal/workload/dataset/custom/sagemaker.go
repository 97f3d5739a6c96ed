package custom

import (
	"cmp"
	"encoding/base64"
	"math"
	"slices"
	"time"

	"aiperf/internal/base/sorting"
	"aiperf/internal/workload/conversation"
	"aiperf/internal/workload/dataset"
	"aiperf/internal/workload/dataset/rows"
	"aiperf/internal/workload/dataset/rowstore"
	"aiperf/internal/workload/dataset/trace"
)

// captureKeys are the keys of a row of captured data.
var captureKeys = []string{"captureData", "eventMetadata", "eventVersion", "type"}

// ownOfRun are the members of a captured body that the run sets itself, or that have their own field.
var ownOfRun = []string{"messages", "tools", "max_tokens", "max_completion_tokens", "model", "stream", "stream_options"}

// captureFiles lists the files of a capture: the file itself, or all .jsonl files below a folder.
func captureFiles(path string) ([]string, error) {
	if !isFolder(path) {
		return []string{path}, nil
	}
	return members(path, ".jsonl", true)
}

// readSageMaker reads chat requests captured by a SageMaker endpoint. Each is a conversation. Times count from the earliest one.
func readSageMaker(l *loader, path string) error {
	files, err := captureFiles(path)
	if err != nil {
		return err
	}
	var all []trace.Record
	for _, file := range files {
		err := l.rows(file, captureKeys, func(r *rows.Row) {
			if rec, ok := capture(r, &l.faults); ok {
				all = append(all, rec)
			}
		})
		if err != nil {
			return err
		}
	}
	if l.faults.Count() > 0 {
		return nil
	}
	zero := math.Inf(1)
	for i := range all {
		zero = min(zero, *all[i].Timestamp)
	}
	sorting.Stable(all, func(a, b trace.Record) int {
		switch d := *a.Timestamp - *b.Timestamp; {
		case d < 0:
			return -1
		case d > 0:
			return 1
		}
		return 0
	})
	taken := all[:0]
	for i := range all {
		rec := all[i]
		*rec.Timestamp -= zero
		if l.Limits.Take(&rec, &l.set.info) {
			rec.InputLength = 0 // for information only: the messages are given
			taken = append(taken, rec)
		}
	}
	return l.replay(taken, MooncakeBlock)
}

var captureLayout = layout{supply: openLines, keys: captureKeys, entry: captureEntry, files: captureFiles, gather: func() grouper { return &instantOrder{} }}

// captureEntry reads one captured request, with its wall clock time.
func captureEntry(l *loader, r *rows.Row) entry {
	rec, ok := capture(r, &l.faults)
	if !ok {
		return entry{skipped: true}
	}
	e := entry{long: l.Limits.MaxISL > 0 && rec.InputLength > l.Limits.MaxISL}
	rec.InputLength = 0 // for information only: the messages are given
	e.prompt = rec
	one := []trace.Record{rec}
	var info dataset.Info // dropped: it is not known yet whether the row is used
	if !l.rescales() {
		l.Limits.Cap(one, &info)
	}
	e.capped = info.Capped > 0
	e.Turns = []conversation.Turn{l.recorded(&one[0])}
	e.Mode = (trace.Session{Records: one}).Mode()
	return e
}

// instantOrder sorts captured requests by time. Times then count from the earliest.
type instantOrder struct {
	long, capped rowstore.Column[bool]
}

func (g *instantOrder) note(_ *loader, _ int, e *entry) {
	g.long.Add(e.long)
	g.capped.Add(e.capped)
}

func (g *instantOrder) done(x *indexed, l *loader) *rowstore.Grouping {
	at := func(row uint32) float64 { ms, _ := x.index.Times.At(int(row)); return ms }
	order := make([]uint32, g.long.Len())
	for row := range order {
		order[row] = uint32(row)
	}
	slices.SortStableFunc(order, func(a, b uint32) int { return cmp.Compare(at(a), at(b)) })
	if len(order) > 0 {
		x.index.Shift = at(order[0])
	}
	order = slices.DeleteFunc(order, func(row uint32) bool {
		ms := at(row) - x.index.Shift
		if l.outside(&ms) {
			return true
		}
		long, _ := g.long.At(int(row))
		capped, _ := g.capped.At(int(row))
		switch {
		case long:
			l.set.info.TooLong++
		case capped:
			l.set.info.Capped++
		}
		return long
	})
	return rowstore.EachRow(order)
}

// glanceSageMaker counts captured requests.
func glanceSageMaker(l *FileSample, path string) error {
	files, err := captureFiles(path)
	if err != nil {
		return err
	}
	return glanceEach(l, files, rowSample{1, true})
}

// capture reads one captured request. Its time is wall clock time in ms.
func capture(r *rows.Row, faults *dataset.Faults) (trace.Record, bool) {
	before := faults.Count()
	rec := trace.Record{Where: r.Where}
	meta, data := r.Child("eventMetadata"), r.Child("captureData")
	if meta == nil || data == nil {
		return rec, false
	}
	where := r.Where
	if id := meta.String("eventId"); id != nil {
		where += ": event " + *id
		meta.Where, data.Where = where, where
	}
	rec.Timestamp = inferenceTime(meta)
	body := endpointSide(data, "endpointInput", true, faults)
	if body == nil {
		return rec, false
	}
	if !body.Has("messages") {
		body.Fault("messages", "missing; only captured chat requests can be sent")
		return rec, false
	}
	rec.Messages = trace.Messages(body)
	if body.Has("tools") && len(body.List("tools")) > 0 {
		rec.Tools = rows.Compact(body.Raw("tools"))
	}
	if rec.OutputLength = body.Int("max_tokens", 1); rec.OutputLength == nil {
		rec.OutputLength = body.Int("max_completion_tokens", 1)
	}
	rec.Extra = body.Without(ownOfRun...)
	if answer := endpointSide(data, "endpointOutput", false, faults); answer != nil && answer.Has("usage") {
		if usage := answer.Child("usage"); usage != nil && usage.Has("prompt_tokens") {
			if n := usage.Int("prompt_tokens", 0); n != nil {
				rec.InputLength = *n
			}
		}
	}
	return rec, faults.Count() == before
}

// inferenceTime returns when the request was made, in ms since 1970.
func inferenceTime(meta *rows.Row) *float64 {
	text := meta.String("inferenceTime")
	if text == nil {
		if !meta.Has("inferenceTime") {
			meta.Fault("inferenceTime", "missing")
		}
		return nil
	}
	at, err := time.Parse(time.RFC3339Nano, *text)
	if err != nil {
		meta.Fault("inferenceTime", "must be an ISO 8601 time with a zone (2025-03-01T10:00:00Z, …+01:00), got %q", *text)
		return nil
	}
	ms := float64(at.UnixNano()) / 1e6
	return &ms
}

// endpointSide reads the captured data of one side of the endpoint: JSON text, plain or in base64. needed = it must be present and valid. Otherwise it may be
// absent or invalid, and nil is returned.
func endpointSide(data *rows.Row, name string, needed bool, faults *dataset.Faults) *rows.Row {
	if !needed {
		faults = &dataset.Faults{}
	}
	if !data.Has(name) {
		if needed {
			data.Fault(name, "missing")
		}
		return nil
	}
	part := data.Child(name)
	if part == nil {
		return nil
	}
	encoding, text := "BASE64", part.String("data")
	if e := part.String("encoding"); e != nil {
		encoding = *e
	}
	if text == nil {
		if needed && !part.Has("data") {
			part.Fault("data", "missing")
		}
		return nil
	}
	content := []byte(*text)
	switch encoding {
	case "JSON":
	case "BASE64":
		raw, err := base64.StdEncoding.DecodeString(*text)
		if err != nil {
			if needed {
				part.Fault("data", "not base64: %v", err)
			}
			return nil
		}
		content = raw
	default:
		if needed {
			part.Fault("encoding", "must be JSON or BASE64, got %q", encoding)
		}
		return nil
	}
	return rows.ParseItem(part.Where, "captureData."+name+".data", content, faults)
}
