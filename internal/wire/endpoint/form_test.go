package endpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"strings"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// parts reads a form the way a server does: "name[/filename] (type) text" a part.
func parts(t *testing.T, r Request) (list []string) {
	t.Helper()
	kind, params, err := mime.ParseMediaType(r.ContentType)
	if err != nil || kind != "multipart/form-data" {
		t.Fatalf("content type %q: %v", r.ContentType, err)
	}
	for in := multipart.NewReader(bytes.NewReader(r.Body.Bytes()), params["boundary"]); ; {
		p, err := in.NextRawPart()
		if errors.Is(err, io.EOF) {
			return list
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(p)
		if err != nil {
			t.Fatal(err)
		}
		name := p.FormName()
		if p.FileName() != "" {
			name += "/" + p.FileName()
		}
		list = append(list, fmt.Sprintf("%s (%s) %s", name, p.Header.Get("Content-Type"), content))
	}
}

func clip(text string) conversation.Part {
	return conversation.Part{Kind: conversation.Audio, Blob: conversation.Authored(conversation.Audio, text)}
}

// TestForms: fields, their order and their types, as read by another parser.
func TestForms(t *testing.T) {
	const plain = "(text/plain; charset=utf-8) "
	b64 := func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }
	large := strings.Repeat("pixel", shareFrom)
	said := conversation.Texts("", "p \"q\"", "other")
	extras := func(list ...string) (s Settings) {
		s.Model = "m"
		for i := 0; i < len(list); i += 2 {
			s.Extras = append(s.Extras, Member{list[i], json.RawMessage(list[i+1])})
		}
		return s
	}
	edit := []string{`prompt ` + plain + `p "q"`, "model " + plain + "m", "response_format " + plain + "b64_json", "n " + plain + "1"}
	for _, c := range []struct {
		endpoint string
		set      Settings
		turn     conversation.Turn
		want     []string // of parts; one that begins with "!" is a failure
		listing  string
	}{
		{"image_edit", extras("size", `"1x1"`, "n", "2", "url", `"x"`), conversation.Turn{Parts: append(said, picture("data:image/jpeg;base64,"+b64(large)))},
			append(append([]string{}, edit[:3]...), "n "+plain+"2", "image/image.jpg (image/jpeg) "+large, "size "+plain+"1x1"),
			`{"prompt":"p \"q\"","model":"m","response_format":"b64_json","n":2,"image":{"b64_data":"` + b64(large) + `","filename":"image.jpg","content_type":"image/jpeg"},"size":"1x1"}`},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("http://h/a.png")), ExtraBody: json.RawMessage(`{"mask":1,"deep":{"a":[1,2.50]},"list":["x",3,true],"none":null}`)},
			append(append([]string{}, edit...), "url "+plain+"http://h/a.png", `deep `+plain+`{"a":[1,2.5]}`, "list "+plain+"x", "list "+plain+"3", "list "+plain+"true", "none "+plain+"null"),
			`{"prompt":"p \"q\"","model":"m","response_format":"b64_json","n":1,"url":"http://h/a.png","deep":{"a":[1,2.5]},"list":["x",3,true],"none":null}`},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:;base64,"+b64("GIF89a.....")))}, append(append([]string{}, edit...), "image/image.gif (image/gif) GIF89a....."), ""},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:;base64,"+b64("RIFF....WEBP")))}, append(append([]string{}, edit...), "image/image.webp (image/webp) RIFF....WEBP"), ""},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:;base64,"+b64("BM......")))}, append(append([]string{}, edit...), "image/image.bmp (image/bmp) BM......"), ""},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:;base64,"+b64("what")))}, []string{"!unknown format; without a media type"}, ""},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:text/plain;base64,AAAA"))}, []string{"!image with the media type text/plain"}, ""},
		{"image_edit", extras(), conversation.Turn{Parts: append(said, picture("data:image/png;base64,A=A"))}, []string{"!not base64"}, ""},
		{"image_edit", extras(), conversation.Turn{Parts: said}, []string{"!needs an image"}, ""},
		{"image_edit", extras(), conversation.Turn{Origin: "f:7", Parts: []conversation.Part{picture("http://h/a.png")}}, []string{"!f:7: endpoint type image_edit needs a text"}, ""},
		{"audio_transcription", extras("file", `"no"`, "language", `"en"`), conversation.Turn{Parts: []conversation.Part{clip("mp3," + b64("sound"))}, ExtraBody: json.RawMessage(`{"temperature":0.50}`)},
			[]string{"file/audio.mp3 (audio/mpeg) sound", "model " + plain + "m", "language " + plain + "en", "temperature " + plain + "0.5"},
			`{"file":{"b64_data":"` + b64("sound") + `","filename":"audio.mp3","content_type":"audio/mpeg"},"model":"m","language":"en","temperature":0.5}`},
		{"audio_transcription", extras(), conversation.Turn{Parts: []conversation.Part{clip("data:audio/m4a;base64," + b64("s"))}}, []string{"file/audio.m4a (audio/mp4) s", "model " + plain + "m"}, ""},
		{"audio_transcription", extras(), conversation.Turn{Parts: []conversation.Part{clip("data:audio/flac;base64," + b64("s"))}}, []string{"file/audio.flac (audio/flac) s", "model " + plain + "m"}, ""},
		{"audio_transcription", extras(), conversation.Turn{Parts: []conversation.Part{clip("https://h/a.wav")}}, []string{"!must be a file"}, ""},
		{"audio_transcription", extras(), conversation.Turn{Parts: said}, []string{"!needs audio"}, ""},
		{"video_generation", extras("seconds", "4"), conversation.Turn{Model: "v", Parts: said}, []string{`prompt ` + plain + `p "q"`, "model " + plain + "v", "seconds " + plain + "4"},
			`{"prompt":"p \"q\"","model":"v","seconds":4}`},
		{"video_generation", extras(), conversation.Turn{}, []string{"!needs a text"}, ""},
	} {
		spoken := codec(t, c.endpoint, c.set)
		r, err := spoken.Encode(&c.turn, &History{Past: []PastTurn{{Turn: &conversation.Turn{}}}})
		if text, fails := strings.CutPrefix(c.want[0], "!"); fails {
			if err == nil || !strings.Contains(err.Error(), text) {
				t.Errorf("%s: %v, want %q", c.endpoint, err, text)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.endpoint, err)
			continue
		}
		if got, want := strings.Join(parts(t, r), "\n"), strings.Join(c.want, "\n"); got != want {
			t.Errorf("%s:\n got %.900s\nwant %.900s", c.endpoint, got, want)
		}
		if c.listing == "" {
			continue
		}
		if got := string(r.Listed()); got != c.listing {
			t.Errorf("%s is listed as\n%.500s, want\n%.500s", c.endpoint, got, c.listing)
		}
		for _, payload := range [][]byte{r.Body.Bytes(), r.Listed()} {
			in := spoken.Input(payload)
			if want := map[string]int{"image_edit": 1}[c.endpoint]; in.Images != want || (c.endpoint != "audio_transcription") != (strings.Join(in.Texts, "|") == `p "q"`) {
				t.Errorf("%s: input %+v", c.endpoint, in)
			}
		}
	}
}

// TestFormsShareFiles: the bytes of a file are in the body as they are held, not as a copy.
func TestFormsShareFiles(t *testing.T) {
	image := picture("data:image/png;base64," + base64.StdEncoding.EncodeToString([]byte("large")))
	held, err := image.Blob.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	blob := conversation.Made("image/png", -1, conversation.NewStore(1<<20), func() ([]byte, error) { return held, nil })
	r, err := codec(t, "image_edit", Settings{Model: "m"}).Encode(&conversation.Turn{Parts: append(conversation.Texts("", "p"), conversation.Part{Kind: conversation.Image, Blob: blob})}, &History{})
	if err != nil {
		t.Fatal(err)
	}
	shared := false
	for _, piece := range r.Body.Ranges() {
		shared = shared || len(piece) > 0 && &piece[0] == &held[0]
	}
	if !shared {
		t.Errorf("%d ranges, none is the file's", len(r.Body.Ranges()))
	}
}

// TestVideoAsJSON: the body is the same fields when the user asks for JSON.
func TestVideoAsJSON(t *testing.T) {
	c := bodyTest{endpoint: "video_generation", set: Settings{ContentType: "application/json", Extras: []Member{{"n", json.RawMessage("1")}}},
		turn: conversation.Turn{Parts: conversation.Texts("", "p"), ExtraBody: json.RawMessage(`{"n":2,"size":"1x1"}`)}, body: `{"prompt":"p","model":"m","n":2,"size":"1x1"}`}
	c.check(t)
}

// TestFormJSON: what a server got, as exports show it; anything but a form is left alone.
func TestFormJSON(t *testing.T) {
	turn := conversation.Turn{Parts: []conversation.Part{clip("wav,AAEC")}}
	r, err := codec(t, "audio_transcription", Settings{Model: "m", Extras: []Member{{"temperature", json.RawMessage("0.5")}}}).Encode(&turn, &History{})
	if err != nil {
		t.Fatal(err)
	}
	got, ok := FormJSON(r.Body.Bytes())
	if want := `{"file":{"b64_data":"AAEC","filename":"audio.wav","content_type":"audio/wav"},"model":"m","temperature":"0.5"}`; !ok || string(got) != want {
		t.Errorf("%v %s", ok, got)
	}
	for _, payload := range []string{"", "--", "--\r\n", "{}", "--x\r\nno form", "--x--\r\n\r\nend"} {
		if got, ok := FormJSON([]byte(payload)); ok && string(got) != "{}" {
			t.Errorf("%q: %s", payload, got)
		}
	}
}

// FuzzFormJSON: any payload is a JSON object or no form.
func FuzzFormJSON(f *testing.F) {
	f.Add([]byte("--b\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nx\r\n--b\r\nContent-Disposition: form-data; name=\"f\"; filename=\"g\"\r\nContent-Type: a/b\r\n\r\n\x00\r\n--b--\r\n"))
	f.Add([]byte("--b\r\n\r\n--b--"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		object, ok := FormJSON(payload)
		if ok != json.Valid(object) {
			t.Errorf("%v %q", ok, object)
		}
		codecInput := imageEditType
		_ = (&formCodec{formType: &codecInput}).Input(payload)
	})
}

// TestVideoJob: every message of a service leads to the follow-up next to it in the table.
func TestVideoJob(t *testing.T) {
	type step struct{ says, asks string }

	for name, c := range map[string]struct {
		download bool
		steps    []step
		fails    string
		contents []int
	}{
		"plain":    {false, []step{{`{"id":"v/1","status":"queued"}`, "GET ./v%2F1 200ms keep"}, {`{"status":"in_progress"}`, "GET ./v%2F1 200ms forget"}, {`{"status":"completed","inference_time_s":7.5,"peak_memory_mb":"9000","seconds":"4"}`, ""}}, "", []int{0, 1}},
		"at once":  {false, []step{{`{"id":"v/1","status":"completed"}`, "GET ./v%2F1 0s keep"}, {`{"status":"completed","inference_time_s":7.5,"peak_memory_mb":9000}`, ""}}, "", []int{0, 1}},
		"unknown":  {false, []step{{`{"id":7}`, "GET ./7 200ms keep"}, {`{"status":"odd"}`, "GET ./7 200ms forget"}, {`{"status":"completed","inference_time_s":7.5,"peak_memory_mb":9000}`, ""}}, "", []int{0, 1}},
		"download": {true, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`{"status":"completed","inference_time_s":7.5,"peak_memory_mb":9000}`, "GET ./a/content 0s keep"}, {"", ""}}, "", []int{0, 1, 2}},
		"url":      {true, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`{"status":"completed","url":"http://o/f","inference_time_s":7.5,"peak_memory_mb":9000}`, "GET http://o/f 0s keep"}, {"", ""}}, "", []int{0, 1, 2}},
		"failed":   {false, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`{"status":"failed","error":{"message":"no room"}}`, ""}}, "500 VideoGenerationError Video generation failed: no room", nil},
		"string":   {false, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`{"status":"failed","error":"boom"}`, ""}}, "500 VideoGenerationError Video generation failed: boom", nil},
		"null":     {false, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`{"status":"failed","error":null}`, ""}}, "500 VideoGenerationError Video generation failed: unknown error", nil},
		"no id":    {false, []step{{`{"status":"queued"}`, ""}}, "500 VideoGenerationError No id in video submit response: {\"status\":\"queued\"}", nil},
		"text":     {false, []step{{`hello`, ""}}, "500 VideoGenerationError Invalid JSON in video submit response: hello", nil},
		"bad poll": {false, []step{{`{"id":"a"}`, "GET ./a 200ms keep"}, {`x`, ""}}, "500 VideoGenerationError Invalid JSON in video poll response: x", nil},
	} {
		spoken := codec(t, "video_generation", Settings{Model: "m", Download: c.download, PollInterval: 2 * defaultPoll, Timeout: 2e9})
		reading, rec := NewReading(spoken, false), &record.Record{End: 99}
		for i, s := range c.steps {
			rec.Messages = append(rec.Messages, record.Message{At: int64(i + 1), Body: true, Raw: []byte(s.says)})
			got := ""
			if f := reading.Next(rec.Messages); f != nil {
				got = fmt.Sprint(f.Method, " ", f.Path, " ", f.After, " ", map[bool]string{true: "forget", false: "keep"}[f.Forget])
				if f.Forget {
					rec.Messages = rec.Messages[:len(rec.Messages)-1]
				}
				if f.Late.Code != 504 || f.Late.Type != "TimeoutError" || f.Late.Message != "Video generation timed out after 2.0s" {
					t.Errorf("%s: late %+v", name, f.Late)
				}
				if fetch := strings.Contains(got, "content") || strings.Contains(got, "http"); fetch != (f.Class == "VideoDownloadError") {
					t.Errorf("%s: %s has class %q", name, got, f.Class)
				}
			}
			if got != s.asks {
				t.Errorf("%s: after %q it asks %q, want %q", name, s.says, got, s.asks)
			}
		}
		reply, failure := reading.Finish(rec)
		if c.fails != "" {
			if failure == nil || fmt.Sprint(failure.Code, " ", failure.Type, " ", failure.Message) != c.fails {
				t.Errorf("%s: %+v, want %s", name, failure, c.fails)
			}
			continue
		}
		var at []int
		for _, content := range reply.Contents {
			at = append(at, content.Message)
		}
		if failure != nil || fmt.Sprint(at) != fmt.Sprint(c.contents) || reply.Job == nil || reply.Job.InferenceSeconds != 7.5 || reply.Job.PeakMemoryMB != 9000 {
			t.Errorf("%s: %+v, contents %v, job %+v", name, failure, at, reply.Job)
		}
	}
}

func TestMediaBodies(t *testing.T) {
	said := func(texts ...string) []conversation.Part { return conversation.Texts("", texts...) }
	for _, c := range []bodyTest{
		{endpoint: "image_generation", turn: conversation.Turn{Parts: said("", "a", "b"), ExtraBody: json.RawMessage(`{"n":2,"size":"1x1"}`)}, body: `{"prompt":"a","model":"m","response_format":"b64_json","n":2,"size":"1x1"}`},
		{endpoint: "image_generation", set: Settings{Streaming: true}, history: History{Past: []PastTurn{{}}}, turn: conversation.Turn{Parts: said("a")}, body: `{"prompt":"a","model":"m","response_format":"b64_json","n":1,"stream":true}`},
		{endpoint: "image_generation", turn: conversation.Turn{Origin: "f:3"}, failure: "f:3: endpoint type image_generation needs a text"},
		{endpoint: "image_retrieval", set: Settings{Extras: []Member{{"merge", json.RawMessage("true")}}}, turn: conversation.Turn{Parts: append(said("t"), picture("data:image/png;base64,AAAA"), picture("data:image/png;base64,BBBB"))},
			body: `{"input":[{"type":"image_url","url":"data:image/png;base64,AAAA"},{"type":"image_url","url":"data:image/png;base64,BBBB"}],"merge":true}`},
		{endpoint: "image_retrieval", turn: conversation.Turn{Parts: said("t")}, failure: "needs an image"},
		{endpoint: "image_retrieval", history: History{Past: []PastTurn{{}}}, turn: conversation.Turn{Parts: []conversation.Part{picture("data:,")}}, failure: "only one turn per conversation"},
	} {
		c.check(t)
	}
	for _, c := range []struct {
		endpoint, payload, texts string
		images                   int
	}{
		{"image_generation", `{"prompt":"a","n":1}`, "a", 0},
		{"image_retrieval", `{"input":[{"type":"image_url","url":"data:"},{"type":"image_url","url":"data:"}],"merge":true}`, "", 2},
	} {
		if in := codec(t, c.endpoint, Settings{}).Input([]byte(c.payload)); strings.Join(in.Texts, "|") != c.texts || in.Images != c.images {
			t.Errorf("%s: %+v", c.endpoint, in)
		}
	}
}

// TestRemarksOfMedia: content that a body omits gives a remark.
func TestRemarksOfMedia(t *testing.T) {
	said := conversation.Texts("", "a", "b")
	for _, c := range []struct {
		endpoint string
		turn     conversation.Turn
		want     []string
	}{
		{"image_generation", conversation.Turn{Parts: said[:1]}, nil},
		{"image_generation", conversation.Turn{Parts: append(said, picture("http://h/a"))}, []string{"only the first text is sent", "sends no images"}},
		{"image_edit", conversation.Turn{Parts: append(said[:1:1], picture("http://h/a"), picture("http://h/a")), ExtraBody: json.RawMessage(`{"n":{"url":1},"mask":"m"}`)}, []string{"only the first image is sent", "extra mask is not sent"}},
		{"audio_transcription", conversation.Turn{Parts: append(said[:1:1], clip("wav,AAAA"), clip("wav,AAAA"))}, []string{"only the first audio", "sends no texts"}},
		{"image_retrieval", conversation.Turn{Parts: append(said[:1:1], picture("data:,"))}, []string{"sends no texts"}},
	} {
		e, _, err := Lookup(c.endpoint)
		if err != nil {
			t.Fatal(err)
		}
		got := e.RemarksOn(&c.turn)
		if len(got) != len(c.want) {
			t.Errorf("%s: %q", c.endpoint, got)
			continue
		}
		for i, want := range c.want {
			if !strings.Contains(got[i], want) {
				t.Errorf("%s: %q, want %q", c.endpoint, got[i], want)
			}
		}
	}
}
