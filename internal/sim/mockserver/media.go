package mockserver

import (
	"bytes"
	"errors"
	"io"
	"mime/multipart"
	"strconv"
	"strings"
	"time"
)

// Paths of the endpoint types that receive or return media.
const (
	imagesPath     = "/v1/images/generations"
	editsPath      = "/v1/images/edits"
	retrievalPath  = "/v1/infer"
	transcriptPath = "/v1/audio/transcriptions"
	videosPath     = "/v1/videos"
)

// pictures reports whether a path answers with images.
func pictures(path string) bool { return path == imagesPath || path == editsPath }

// media builds the whole body of an answer for such a path; false = another path. Images and detections are ready at the time of the first event, a
// transcript at that of its last word.
func (st *stream) media(path, id string, body *[]byte) bool {
	switch path {
	case imagesPath, editsPath:
		*body = st.images()
	case retrievalPath:
		*body = st.detections()
	case transcriptPath:
		*body = st.transcript()
		st.next += int64(st.wait() - st.script.first)
	case videosPath:
		*body = st.job(id)
	default:
		return false
	}
	return true
}

// picture is a PNG of one pixel, in base64.
const picture = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="

func (st *stream) images() []byte {
	b := []byte(`{"created":0,"data":[`)
	for i := range st.ask.images {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"b64_json":"`+picture+`"}`...)
	}
	st.truth.Images = st.ask.images
	b = append(b, `],"output_format":"png"`...)
	return append(st.imageUsage(b), '}')
}

func (st *stream) imageUsage(b []byte) []byte {
	if !st.opts.Usage {
		return b
	}
	b = append(b, `,"usage":{"input_tokens":`...)
	b = strconv.AppendInt(b, int64(st.prompt), 10)
	return append(b, '}')
}

// imageEvent appends an event with an image: a preview, or finally the finished image.
func (st *stream) imageEvent() {
	at := st.open()
	st.truth.Images++
	st.tokensLeft--
	name := "image_generation.partial_image"
	if st.tokensLeft == 0 {
		name = "image_generation.completed"
	}
	st.buf = append(st.buf, "event: "+name+"\ndata: {\"type\":\""+name+`","b64_json":"`+picture+`"`...)
	if st.tokensLeft > 0 {
		st.buf = append(st.buf, `,"partial_image_index":`...)
		st.buf = strconv.AppendInt(st.buf, int64(st.events), 10)
	} else {
		st.buf = st.imageUsage(st.buf)
	}
	st.events++
	st.close(at, "}")
}

func (st *stream) detections() []byte {
	b := []byte(`{"data":[`)
	for i := range st.ask.items {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"index":`...)
		b = strconv.AppendInt(b, int64(i), 10)
		b = append(b, `,"bounding_boxes":{"table":[{"x_min":0.1,"y_min":0.1,"x_max":0.2,"y_max":0.2,"confidence":0.9}]}}`...)
	}
	st.truth.Images = st.ask.items
	return append(b, `],"usage":{"images_size_mb":0.1}}`...)
}

func (st *stream) transcript() []byte {
	b := append([]byte(`{"text":`), st.text(nil, st.script.tokens, &st.truth.Tokens)...)
	return append(b, '}')
}

// job creates a video job. The answer comes at once; the video is ready after the time to the first event. The id contains the whole state of a job,
// so that the server stores nothing.
func (st *stream) job(id string) []byte {
	arrival := st.truth.Arrival - st.offset
	ready, state := st.truth.Arrival+int64(st.script.first), "done"
	if st.script.kind == kindSSE {
		state, st.script.kind = "failed", ""
		st.failed = kindSSE
	}
	st.next = arrival
	return []byte(`{"id":"` + id + "_" + strconv.FormatInt(ready, 10) + "_" + strconv.FormatInt(int64(st.script.first), 10) + "_" + state +
		`","object":"video","status":"queued","progress":0}`)
}

// filmBytes is the size of every video.
const filmBytes = 64 << 10

// film answers a poll of a job and the download of its video.
func (c *conn) film(req *request) bool {
	_, wall := bothClocks()
	t := &Truth{Number: c.number.Add(1), RequestID: req.id, Correlation: req.correlation, Path: req.path, Arrival: wall, Outcome: outcomeOK, Status: 200}
	id, content := strings.CutSuffix(strings.TrimPrefix(req.path, videosPath+"/"), "/content")
	parts := append(strings.Split(id, "_"), "", "", "", "")
	ready, err := strconv.ParseInt(parts[1], 10, 64)
	took, err2 := strconv.ParseInt(parts[2], 10, 64)
	if err != nil || err2 != nil {
		return c.plain(req, 404, "application/json", `{"error":{"message":"no such video","type":"not_found","code":404}}`, false)
	}
	head := `{"id":"` + id + `","object":"video","status":"`
	body, kind := head+`in_progress","progress":50}`, "application/json"
	switch over := ready <= wall; {
	case content && !over:
		body, t.Status = `{"error":{"message":"the video is not ready","type":"conflict","code":409}}`, 409
	case content:
		body, kind = strings.Repeat("\x00", filmBytes), "video/mp4"
	case over && parts[3] == "failed":
		body = head + `failed","error":{"code":"simulated","message":"simulated failure"}}`
	case over:
		body = head + `completed","progress":100,"seconds":"4","size":"640x480","inference_time_s":` +
			strconv.FormatFloat(time.Duration(took).Seconds(), 'g', -1, 64) + `,"peak_memory_mb":1024}`
	}
	write := Write{Before: wallNow()}
	ok := c.plain(req, t.Status, kind, body, false)
	write.After = wallNow()
	t.Writes = []Write{write}
	c.Server.truth.write(t)
	return ok
}

// readFormAsk parses a form; nil = the body is not a form.
func readFormAsk(body []byte) *requestedWork {
	line, _, _ := bytes.Cut(body, []byte("\r\n"))
	boundary, ok := bytes.CutPrefix(line, []byte("--"))
	if !ok || len(boundary) == 0 {
		return nil
	}
	a := &requestedWork{items: 1, images: 1}
	for r := multipart.NewReader(bytes.NewReader(body), string(boundary)); ; {
		p, err := r.NextRawPart()
		if errors.Is(err, io.EOF) {
			return a
		}
		if err != nil {
			return nil
		}
		if p.FileName() != "" {
			continue
		}
		text, err := io.ReadAll(p)
		if err != nil {
			return nil
		}
		switch p.FormName() {
		case "prompt":
			a.text = string(text)
		case "model":
			a.model = string(text)
		case "n":
			if n, err := strconv.Atoi(string(text)); err == nil && n >= 1 && n <= 100 {
				a.images = n
			}
		}
	}
}
