package endpoint

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/conversation"
	"aiperf/internal/jsontext"
	"aiperf/internal/record"
)

// videoType is OpenAI's video generation (endpoints, section 9.13): a job is created, looked at until it is over, and its film is fetched
// where the run asks for that. The request is a form, or a JSON object with --request-content-type application/json.
var videoType = formType{fields: videoFields, input: promptInput,
	newAnswer: func(c *formCodec, _ bool) Answer { return &videoAnswer{set: &c.set} }}

func videoFields(f *form, t *conversation.Turn, _ *History) error {
	text, err := onePrompt(t, "video_generation")
	if err != nil {
		return err
	}
	f.text("prompt", text)
	f.text("model", f.set.model(t))
	return nil
}

// maxRedirects is how often a download may be sent on.
const maxRedirects = 5

// videoAnswer is the answer to one request: what the service said of the job, message by message.
type videoAnswer struct {
	set      *Settings
	said     int // messages that spoke of the job
	id       string
	ready    bool // the job was over when it was created
	over     bool
	address  string // of the film, "" = below the job
	fetching bool   // the film was asked for
	fetched  bool
	contents []record.Content
	usage    []byte
	job      record.Job
	failure  *record.Error
}

func videoError(format string, args ...any) *record.Error {
	return &record.Error{Code: 500, Type: "VideoGenerationError", Message: fmt.Sprintf(format, args...)}
}

// Add implements Answer.
func (a *videoAnswer) Add(m *record.Message, index int) (bool, *record.Error) {
	if a.over { // what comes after the end is the film
		a.fetched = true
		a.content(m, index)
		return true, nil
	}
	step := "submit"
	if a.said++; a.said > 1 {
		step = "poll"
	}
	if a.failure = a.read(m, step); a.failure != nil {
		return false, a.failure
	}
	if a.said == 1 || a.over {
		a.content(m, index)
	}
	return true, nil
}

func (a *videoAnswer) content(m *record.Message, index int) {
	a.contents = append(a.contents, record.Content{At: m.At, Message: index, Kind: record.Video})
}

// read reads what is said of the job.
func (a *videoAnswer) read(m *record.Message, step string) *record.Error {
	p := parsers.Get()
	defer parsers.Put(p)
	v, err := p.ParseBytes(bytes.TrimSpace(m.Raw))
	if err != nil || v.Type() != fastjson.TypeObject {
		return videoError("Invalid JSON in video %s response: %.200s", step, m.Raw)
	}
	if step == "submit" {
		if a.id = wordOf(v.Get("id")); a.id == "" {
			return videoError("No id in video submit response: %.200s", m.Raw)
		}
		a.ready = string(v.GetStringBytes("status")) == "completed"
	}
	switch string(v.GetStringBytes("status")) {
	case "failed":
		return videoError("Video generation failed: %s", jobError(v.Get("error")))
	case "completed":
		a.over = step == "poll"
	}
	if a.over {
		a.address = string(v.GetStringBytes("url"))
		a.job = record.Job{InferenceSeconds: figure(v.Get("inference_time_s")), PeakMemoryMB: figure(v.Get("peak_memory_mb")), Seconds: figure(v.Get("seconds"))}
		if u := v.Get("usage"); u != nil && u.Type() == fastjson.TypeObject {
			a.usage = u.MarshalTo(nil)
		}
	}
	return nil
}

// wordOf is a string, or a number as text; "" = neither.
func wordOf(v *fastjson.Value) string {
	if v == nil {
		return ""
	}
	switch v.Type() {
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeNumber:
		return v.String()
	}
	return ""
}

// figure is a number, also one that was written as text; -1 = neither.
func figure(v *fastjson.Value) float64 {
	f, err := strconv.ParseFloat(wordOf(v), 64)
	if err != nil || f < 0 {
		return -1
	}
	return f
}

// jobError words the error of a job.
func jobError(v *fastjson.Value) string {
	if v == nil {
		return "unknown error"
	}
	switch v.Type() {
	case fastjson.TypeNull:
		return "unknown error"
	case fastjson.TypeString:
		return string(v.GetStringBytes())
	case fastjson.TypeObject:
		if m := wordOf(v.Get("message")); m != "" {
			return m
		}
	}
	return v.String()
}

// Next implements Answer: a look at the job until it is over, then the film.
func (a *videoAnswer) Next() *FollowUp {
	switch {
	case a.failure != nil || a.said == 0 || a.fetching || a.over && !a.set.Download:
		return nil
	case a.over:
		a.fetching = true
		return &FollowUp{Request: Request{Method: "GET", Path: a.film()}, Late: a.late(), Class: "VideoDownloadError", Redirects: maxRedirects}
	}
	poll := &FollowUp{Request: Request{Method: "GET", Path: "./" + url.PathEscape(a.id)}, After: a.set.PollInterval, Forget: a.said > 1, Late: a.late()}
	if a.ready && a.said == 1 {
		poll.After = 0 // one look all the same: its answer has the figures
	}
	return poll
}

// film is where the film is.
func (a *videoAnswer) film() string {
	if isHTTP(a.address) {
		return a.address
	}
	return "./" + url.PathEscape(a.id) + "/content"
}

func (a *videoAnswer) late() *record.Error {
	return &record.Error{Code: 504, Type: "TimeoutError", Message: "Video generation timed out after " + string(jsontext.AppendFloat(nil, a.set.Timeout.Seconds())) + "s"}
}

// Result implements Answer.
func (a *videoAnswer) Result() Result {
	r := &record.Reply{Contents: a.contents, PerChunkTokens: -1}
	if len(a.usage) > 0 {
		r.Usage = parseUsage(a.usage)
	}
	switch {
	case a.failure != nil:
		return Result{Reply: r, Failure: a.failure}
	case a.said == 0:
		return Result{Reply: r, Failure: &record.Error{Type: invalidResult, Message: "Invalid inference result: No responses were received"}}
	case !a.over:
		return Result{Reply: r, Failure: videoError("Video generation did not end")}
	}
	r.Job = &a.job
	return Result{Reply: r}
}

// defaultPoll is the time between two looks at a job where nobody said another.
const defaultPoll = 100 * time.Millisecond

// openVideo makes the codec of a run.
func openVideo(s Settings) (Codec, error) {
	if s.PollInterval <= 0 {
		s.PollInterval = defaultPoll
	}
	return videoType.open(s)
}
