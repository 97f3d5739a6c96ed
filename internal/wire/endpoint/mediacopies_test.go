package endpoint

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"testing"

	"aiperf/internal/measure/record"
	"aiperf/internal/wire/openinference"
	"aiperf/internal/workload/conversation"
)

// allocated is how many bytes a function takes from the heap.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestMediaAreNotCopied: no endpoint type that takes media copies them into a request. Over gRPC they are copied once, into the message.
func TestMediaAreNotCopied(t *testing.T) {
	const size = 4 << 20
	store := conversation.NewStore(8 * size)
	content := bytes.Repeat([]byte("pixels.."), size/8)
	made := func(kind conversation.Kind, media string) conversation.Part {
		return conversation.Part{Kind: kind, Blob: conversation.Made(media, -1, store, func() ([]byte, error) { return content, nil })}
	}
	picture, sound, film := made(conversation.Image, "image/png"), made(conversation.Audio, "audio/wav"), made(conversation.Video, "video/mp4")
	for name, parts := range map[string][]conversation.Part{
		"chat": {picture, sound, film}, "kserve_chat": {picture}, "chat_embeddings": {picture, sound}, "responses": {picture}, "messages": {picture},
		"nim_embeddings": {picture}, "nvclip": {picture}, "image_edit": {picture}, "image_retrieval": {picture}, "audio_transcription": {sound},
		"kserve_v2_vlm": {picture},
	} {
		turn := conversation.Turn{Parts: append(conversation.Texts("", "p"), parts...)}
		if name == "nim_embeddings" || name == "nvclip" { // one or the other
			turn.Parts = parts
		}
		for _, grpc := range []bool{false, true} {
			if grpc && name != "kserve_v2_vlm" {
				continue
			}
			c := codec(t, name, Settings{Model: "m", GRPC: grpc})
			var body record.Body
			encode := func() {
				r, err := c.Encode(&turn, &History{RequestID: "r"})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				body = r.Body
			}
			encode() // what is encoded is held from now on
			if n := allocated(encode); body.Len() < size || n > size/4 {
				t.Errorf("%s: a body of %d bytes took %d", name, body.Len(), n)
			}
			if !grpc {
				continue
			}
			var messages [][]byte
			var err error
			n := allocated(func() { messages, err = c.(RPC).Marshal(openinference.ModelInfer, body) })
			if err != nil || n > uint64(len(messages[0]))+size/4 {
				t.Errorf("a message of %d bytes took %d: %v", len(messages[0]), n, err)
			}
		}
	}
}

// TestPicturesOfTensors: shared content gives the same body and message as content that is written out.
func TestPicturesOfTensors(t *testing.T) {
	large := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("pixel"), shareFrom))
	small := base64.StdEncoding.EncodeToString([]byte("piece1"))
	turn := conversation.Turn{Parts: append(conversation.Texts("", "what is piece1, piece-3?"), picture("data:image/png;base64,"+large), picture("http://h/a.png"),
		picture("data:image/png;base64,"+small), picture("data:image/png;base64,"+large))}
	r, err := codec(t, "kserve_v2_vlm", Settings{Model: "m", GRPC: true}).Encode(&turn, &History{RequestID: "r"})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"model_name":"m","id":"r","parameters":{"triton_enable_empty_final_response":true},"inputs":[` +
		`{"name":"text_input","shape":[1,1],"datatype":"BYTES","data":["what is piece1, piece-3?"]},` +
		`{"name":"image","shape":[1,4],"datatype":"BYTES","data":["` + large + `","http://h/a.png","` + small + `","` + large + `"]}],"outputs":[{"name":"text_output"}]}`
	if got := string(r.Body.Bytes()); got != want || len(r.Body.Ranges()) != 5 {
		t.Errorf("%d ranges:\n%.400s\nwant\n%.400s", len(r.Body.Ranges()), got, want)
	}
	shared, err := openinference.ParseRequest(r.Body.Ranges()...)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := openinference.ParseRequest(r.Body.Bytes())
	if err != nil || !bytes.Equal(shared.Marshal(), whole.Marshal()) || len(whole.Inputs) != 2 {
		t.Errorf("%v: the messages differ", err)
	}
}
