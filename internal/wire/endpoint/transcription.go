package endpoint

import (
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// transcriptionType implements OpenAI's audio transcription (endpoints, section 9.15). It sends a form with one clip; the answer is a text, in JSON
// or plain.
var transcriptionType = formType{fields: transcriptionFields, reserved: transcriptionReserved,
	input:     func(*inputTexts, *jsontext.Scanner, []byte) bool { return false },
	newAnswer: func(_ *formCodec, remember bool) Answer { return transcriptType.newAnswer(remember) }}

var transcriptionReserved = []string{"file"}

// audioMedia maps formats to media types where the names differ.
var audioMedia = map[string]string{"mp3": "audio/mpeg", "mpga": "audio/mpeg", "mpeg": "audio/mpeg", "m4a": "audio/mp4", "mp4": "audio/mp4"}

func transcriptionFields(f *form, t *conversation.Turn, _ *History) error {
	clip := firstMedia(t, conversation.Audio)
	switch {
	case clip == nil:
		return invalid(t, "endpoint type audio_transcription needs audio")
	case !clip.Inline():
		return invalid(t, "audio %.40q: must be a file, FORMAT,BASE64 or data:audio/FORMAT;base64,BASE64", clip.Address())
	}
	format := strings.ToLower(strings.TrimPrefix(clip.MediaType(), "audio/"))
	if format == "" {
		format = "wav"
	}
	media := audioMedia[format]
	if media == "" {
		media = "audio/" + format
	}
	if err := f.media(t, "file", "audio."+format, media, clip); err != nil {
		return err
	}
	f.text("model", f.set.model(t))
	return nil
}

func transcriptionRemarks(t *conversation.Turn) []string {
	clips := 0
	for i := range t.Parts {
		if t.Parts[i].Kind == conversation.Audio {
			clips++
		}
	}
	var list []string
	if clips > 1 {
		list = append(list, "only the first audio is sent; the others are skipped")
	}
	if len(t.Contents()) > 0 {
		list = append(list, "endpoint type audio_transcription sends no texts: they are skipped")
	}
	return list
}

// transcriptType reads transcripts: the text of a JSON object, or any other body as plain text.
var transcriptType = jsonType{member: transcriptMember, plain: true}

func transcriptMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "text" {
		return false
	}
	d.chunk.delta.set, d.chunk.delta.content = true, s.Text()
	return true
}
