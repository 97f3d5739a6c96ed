package endpoint

import (
	"bytes"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"github.com/valyala/fastjson"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// videoType implements OpenAI's video generation (endpoints, section 9.13). A job is created and polled until it has ended; then its video is
// downloaded if the run asks for that. The request is a form, or a JSON object with --request-content-type application/json.
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

// maxRedirects is how many redirects a download may follow.
const maxRedirects = 5

// videoAnswer is the answer to one request: the states of the job, message by message.
type videoAnswer struct {
	set         *Settings
	jobMessages int // number of messages about the job
	id          string
	ready       bool // the job was complete when it was created
	ended       bool
	address     string // address of the video, "" = below that of the job
	fetching    bool   // the download was requested
	fetched     bool
	contents    []record.Content
	usage       []byte
	job         record.Job
	failure     *record.Error
}

// videoErrorType is the type of the error of a failed video.
const videoErrorType = "VideoGenerationError"

func videoError(format string, args ...any) *record.Error {
	return &record.Error{Code: 500, Type: videoErrorType, Message: fmt.Sprintf(format, args...)}
}

// Add implements Answer.
func (a *videoAnswer) Add(m *record.Message, index int) (bool, *record.Error) {
	if a.ended { // messages after the end of the job hold the video
		a.fetched = true
		a.content(m, index)
		return true, nil
	}
	step := "submit"
	if a.jobMessages++; a.jobMessages > 1 {
		step = "poll"
	}
	if a.failure = a.read(m, step); a.failure != nil {
		return false, a.failure
	}
	if a.jobMessages == 1 || a.ended {
		a.content(m, index)
	}
	return true, nil
}

func (a *videoAnswer) content(m *record.Message, index int) {
	a.contents = append(a.contents, record.Content{At: m.At, Message: index, Kind: record.Video})
}

// read reads a message about the job.
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
		a.ended = step == "poll"
	}
	if a.ended {
		a.address = string(v.GetStringBytes("url"))
		a.job = record.Job{InferenceSeconds: figure(v.Get("inference_time_s")), PeakMemoryMB: figure(v.Get("peak_memory_mb")), Seconds: figure(v.Get("seconds"))}
		if u := v.Get("usage"); u != nil && u.Type() == fastjson.TypeObject {
			a.usage = u.MarshalTo(nil)
		}
	}
	return nil
}

// wordOf returns a string, or a number as text; "" = neither.
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

// figure returns a number, which may be written as text; -1 = neither.
func figure(v *fastjson.Value) float64 {
	f, err := strconv.ParseFloat(wordOf(v), 64)
	if err != nil || f < 0 {
		return -1
	}
	return f
}

// jobError returns the text of a job's error.
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

// Next implements Answer: it polls until the job has ended and then downloads the video.
func (a *videoAnswer) Next() *FollowUp {
	switch {
	case a.failure != nil || a.jobMessages == 0 || a.fetching || a.ended && !a.set.Download:
		return nil
	case a.ended:
		a.fetching = true
		return &FollowUp{Request: Request{Method: "GET", Path: a.videoAddress()}, Late: a.timeoutError(), Class: "VideoDownloadError", Redirects: maxRedirects}
	}
	poll := &FollowUp{Request: Request{Method: "GET", Path: "./" + url.PathEscape(a.id)}, After: a.set.PollInterval, Forget: a.jobMessages > 1, Late: a.timeoutError()}
	if a.ready && a.jobMessages == 1 {
		poll.After = 0 // poll once anyway: the answer has the figures
	}
	return poll
}

// videoAddress returns the address of the video.
func (a *videoAnswer) videoAddress() string {
	if isHTTP(a.address) {
		return a.address
	}
	return "./" + url.PathEscape(a.id) + "/content"
}

func (a *videoAnswer) timeoutError() *record.Error {
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
	case a.jobMessages == 0:
		return Result{Reply: r, Failure: &record.Error{Type: invalidResult, Message: "Invalid inference result: No responses were received"}}
	case !a.ended:
		return Result{Reply: r, Failure: videoError("Video generation did not end")}
	}
	r.Job = &a.job
	return Result{Reply: r}
}

// defaultPoll is the default interval between two polls of a job.
const defaultPoll = 100 * time.Millisecond

// openVideo makes the codec of a run.
func openVideo(s Settings) (Codec, error) {
	if s.PollInterval <= 0 {
		s.PollInterval = defaultPoll
	}
	return videoType.open(s)
}
