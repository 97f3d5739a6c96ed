package custom

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aiperf/internal/workload/conversation"
)

// folder writes a directory of media files next to a file of rows and returns the path of that file.
func folder(t *testing.T, rows string) string {
	t.Helper()
	dir := t.TempDir()
	var p, j bytes.Buffer
	picture := image.NewRGBA(image.Rect(0, 0, 2, 2))
	if err := png.Encode(&p, picture); err != nil {
		t.Fatal(err)
	}
	if err := jpeg.Encode(&j, picture, nil); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"a.png": p.String(), "really.png": j.String(), "cut.png": p.String()[:20], "a.gif": "GIF89a.", "a.webp": "RIFF1234WEBP", "no.jpg": "plain text",
		"a.wav": "RIFF", "a.MP3": "ID3", "a.ogg": "OggS", "a.mp4": "ftyp", "a.webm": "w", "a.avi": "a", "empty.wav": "", "in.jsonl": rows,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return filepath.Join(dir, "in.jsonl")
}

// TestMedia checks every form of a media value under every key, as specified by the contract.
func TestMedia(t *testing.T) {
	for _, c := range []struct {
		row                  string
		kind                 conversation.Kind
		address, media, name string
	}{
		{`{"image":"a.png"}`, conversation.Image, "", "image/png", ""},
		{`{"images":["really.png"]}`, conversation.Image, "", "image/jpeg", ""},
		{`{"images":[{"name":"n","contents":["a.png"]}]}`, conversation.Image, "", "image/png", "n"},
		{`{"image":"https://h/x.gif"}`, conversation.Image, "https://h/x.gif", "", ""},
		{`{"image":"data:image/png;base64,AAAA"}`, conversation.Image, "data:image/png;base64,AAAA", "image/png", ""},
		{`{"image":"data:image/svg+xml,<svg/>"}`, conversation.Image, "data:image/svg+xml,<svg/>", "", ""},
		{`{"audio":"a.wav"}`, conversation.Audio, "", "audio/wav", ""},
		{`{"audio":"a.MP3"}`, conversation.Audio, "", "audio/mp3", ""},
		{`{"audio":"wav,AAAA"}`, conversation.Audio, "", "audio/wav", ""},
		{`{"audio":"data:audio/flac;base64,AAAA"}`, conversation.Audio, "data:audio/flac;base64,AAAA", "audio/flac", ""},
		{`{"video":"a.mp4"}`, conversation.Video, "", "video/mp4", ""},
		{`{"videos":["a.webm"]}`, conversation.Video, "", "video/webm", ""},
	} {
		s, err := Open(folder(t, c.row), base("single_turn"))
		if err != nil {
			t.Errorf("%s: %v", c.row, err)
			continue
		}
		p := s.Conversation(0).Turns[0].Parts[0]
		if p.Kind != c.kind || p.Blob.Address() != c.address || p.Blob.MediaType() != c.media || p.Name != c.name {
			t.Errorf("%s: kind %d, address %q, type %q, name %q", c.row, p.Kind, p.Blob.Address(), p.Blob.MediaType(), p.Name)
		}
	}
}

func TestMediaFaults(t *testing.T) {
	path := folder(t, "")
	t.Chdir(filepath.Dir(path))
	for row, want := range map[string]string{
		`{"image":"nope.png"}`:                                         "image: file not found: nope.png",
		`{"images":["a.png","nope"]}`:                                  "images[1]: file not found: nope",
		`{"images":[{"contents":["nope"]}]}`:                           "images[0].contents[0]: file not found: nope",
		`{"image":"a.gif"}`:                                            "image: a.gif: must be PNG or JPEG, got GIF",
		`{"image":"a.webp"}`:                                           "must be PNG or JPEG, got WebP",
		`{"image":"no.jpg"}`:                                           "must be PNG or JPEG, got an unknown format",
		`{"image":"cut.png"}`:                                          "begins like PNG but cannot be read",
		`{"image":"."}`:                                                "not a file: .",
		`{"image":"http:x.png"}`:                                       "needs both a scheme and a host",
		`{"image":"//h/x.png"}`:                                        "needs both a scheme and a host",
		`{"audio":"a.ogg"}`:                                            `must be a .wav or .mp3 file, got ".ogg"`,
		`{"audio":"empty.wav"}`:                                        "file is empty: empty.wav",
		`{"audio":"wav,#"}`:                                            "not base64",
		`{"audio":"flac,AAAA"}`:                                        "audio: file not found: flac,AAAA",
		`{"image":"data:image/png;base64,@@@"}`:                        "image: \"data:image/png;base64,@@@\": the text after the comma is not base64",
		`{"video":"data:video/mp4"}`:                                   "the text after the comma",
		`{"audio":"data:audio/wav,x y"}`:                               "must be data:audio/FORMAT;base64,BASE64",
		`{"video":"a.avi"}`:                                            `must be a .mp4 or .webm file, got ".avi"`,
		`{"image":5}`:                                                  "image: must be a string, got a number",
		`{"image":"a.png","images":["a.png"]}`:                         "image and images cannot be set together",
		`{"image":"a.png","image_uuids":["u"]}`:                        "image_uuids: needs the list images",
		`{"images":[{"contents":["a.png"]}],"image_uuids":["u"]}`:      "image_uuids: needs images as a list of strings",
		`{"images":["a.png"],"image_uuids":["u","v"]}`:                 "image_uuids: 2 ids for 1 images",
		`{"text":"a","image_uuids":[""]}`:                              "image_uuids: must be non-empty strings",
		`{"image":"` + strings.Repeat("x", 300) + `","text":"a name"}`: "image: ",
	} {
		for _, c := range []struct{ format, row, key string }{
			{"single_turn", row, ""}, {"random_pool", row, ""}, {"multi_turn", `{"turns":[{"text":"a"},` + row + "]}", "turns[1]"},
		} {
			if err := os.WriteFile(path, []byte("\n"+c.row), 0o600); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path, base(c.format))
			if err == nil || !strings.HasPrefix(err.Error(), path+":2: "+c.key) || !strings.Contains(err.Error(), want) {
				t.Errorf("%s %.80s: %v, want %q", c.format, row, err, want)
			}
		}
		o := base("single_turn")
		o.Records = []Pool{{Rows: raws(`{"text":"a"}`, row)}}
		if _, err := Open("", o); err == nil || !strings.HasPrefix(err.Error(), "records[1]") || !strings.Contains(strings.Replace(err.Error(), "records[1].", "records[1]: ", 1), want) {
			t.Errorf("in a configuration %.80s: %v, want %q", row, err, want)
		}
	}
	_, err := Open(folder(t, strings.Repeat(`{"image":"nope.png"}`+"\n", 13)), base("single_turn"))
	if err == nil || strings.Count(err.Error(), "\n") != 10 || !strings.HasSuffix(err.Error(), "and 3 more") {
		t.Errorf("13 faults: %v", err)
	}
}

// TestMediaIsShared checks that rows naming the same file share one blob.
func TestMediaIsShared(t *testing.T) {
	s, err := Open(folder(t, `{"turns":[{"role":"system","image":"a.png","text":"s"},{"texts":["b"],"images":["a.png","a.png"],"image_uuids":["u","v"]},{"image_uuids":["w"]}]}`), base("multi_turn"))
	if err != nil {
		t.Fatal(err)
	}
	c := s.Conversation(0)
	if len(c.Turns) != 3 {
		t.Fatalf("%d turns: a system turn with an image is no system message", len(c.Turns))
	}
	first, second, third := c.Turns[0].Parts, c.Turns[1].Parts, c.Turns[2].Parts
	if first[1].Blob != second[1].Blob || second[1].Blob != second[2].Blob {
		t.Error("equal values are different blobs")
	}
	if second[1].ID != "u" || second[2].ID != "v" || third[0].ID != "w" || third[0].Blob != nil {
		t.Errorf("ids %q %q %q", second[1].ID, second[2].ID, third[0].ID)
	}
}

func TestStripKnown(t *testing.T) {
	o := base("single_turn")
	o.StripKnown = true
	s, err := Open(folder(t, `{"session_id":"s","images":["a.png","a.png"],"image_uuids":["u","u"]}
{"session_id":"s","images":["a.png","a.png"],"image_uuids":["u","v"]}
{"session_id":"t","images":["a.png"],"image_uuids":["u"]}`), o)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range s.Len() {
		for _, turn := range s.Conversation(i).Turns {
			text := ""
			for _, p := range turn.Parts {
				text += p.ID + map[bool]string{true: "+", false: "-"}[p.Blob != nil]
			}
			got = append(got, text)
		}
	}
	if want := "u+u+ u-v+ u+"; strings.Join(got, " ") != want {
		t.Errorf("%q, want %q", got, want)
	}
	if _, err := Open(folder(t, `{"turns":[{"text":"a"}]}`), func() Options { o := base("multi_turn"); o.StripKnown = true; return o }()); err == nil || !strings.Contains(err.Error(), "endpoint.uuid_and_strip") {
		t.Errorf("multi_turn: %v", err)
	}
}
