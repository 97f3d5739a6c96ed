package endpoint

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"testing"

	"aiperf/internal/workload/conversation"
)

// TestMediaAreShared: the content of media is made and encoded once, and every request refers to the same bytes; the bodies are what they
// would be with the content written out.
func TestMediaAreShared(t *testing.T) {
	content := bytes.Repeat([]byte("pixel"), shareFrom)
	encoded := base64.StdEncoding.EncodeToString(content)
	made := 0
	picture := conversation.Made("image/png", -1, conversation.NewStore(1<<20), func() ([]byte, error) { made++; return content, nil })
	sound := conversation.Authored(conversation.Audio, "wav,"+encoded)
	link := conversation.Authored(conversation.Image, "data:image/jpeg;base64,"+encoded)
	turn := conversation.Turn{ExtraBody: json.RawMessage(`{"k":1}`), Parts: []conversation.Part{{Text: "t"}, {Kind: conversation.Image, Blob: picture},
		{Kind: conversation.Audio, Blob: sound}, {Kind: conversation.Image, Blob: link, ID: "id"}, {Kind: conversation.Image, ID: "only"}}}
	url := `{"type":"image_url","image_url":{"url":"`
	want := `{"messages":[{"role":"user","content":[{"type":"text","text":"t"},` + url + `data:image/png;base64,` + encoded + `"}},` +
		`{"type":"input_audio","input_audio":{"data":"` + encoded + `","format":"wav"}},` + url + `data:image/jpeg;base64,` + encoded + `"},"uuid":"id"},` +
		url + `"},"uuid":"only"}]}],"model":"m","stream":false,"k":1}`
	c := codec(t, "chat", Settings{Model: "m"})
	var first [][]byte
	for range 2 {
		r, err := c.Encode(&turn, &History{})
		if err != nil || string(r.Body.Bytes()) != want {
			t.Fatalf("%v\n got %.300s\nwant %.300s", err, r.Body.Bytes(), want)
		}
		ranges := r.Body.Ranges()
		if len(ranges) != 7 {
			t.Fatalf("%d ranges, want 7", len(ranges))
		}
		if first == nil {
			first = ranges
			continue
		}
		for i := 1; i < len(ranges); i += 2 {
			if &ranges[i][0] != &first[i][0] {
				t.Errorf("range %d was copied", i)
			}
		}
	}
	if made != 1 {
		t.Errorf("the picture was made %d times", made)
	}
	// Content that extras replace is omitted with it.
	set := Settings{Model: "m", Extras: []Member{{"messages", json.RawMessage("[]")}}}
	if r, err := codec(t, "chat", set).Encode(&turn, &History{}); err != nil || string(r.Body.Bytes()) != `{"messages":[],"model":"m","stream":false,"k":1}` {
		t.Errorf("%v %.200s", err, r.Body.Bytes())
	}
	broken := conversation.Made("image/png", -1, nil, func() ([]byte, error) { return nil, fmt.Errorf("no such file") })
	turn = conversation.Turn{Origin: "f:1", Parts: []conversation.Part{{Kind: conversation.Image, Blob: broken}}}
	if _, err := c.Encode(&turn, &History{}); err == nil || err.Error() != "f:1: no such file" {
		t.Error(err)
	}
}
