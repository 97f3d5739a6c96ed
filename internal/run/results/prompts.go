package results

import (
	"bytes"
	"slices"

	"aiperf/internal/measure/metric"
	"aiperf/internal/measure/record"
)

// prompt passes the texts of a request to Prefixes.
func (a *Assembly) prompt(rec *record.Record, reply *record.Reply, counts record.Counts, row *metric.Row) {
	if !a.Prefixes.Wanted() {
		return
	}
	payload := rec.Payload.Bytes()
	q := metric.Prompt{Counted: row.Class == metric.Valid && !rec.Warmup, Client: counts.Input, Tokens: -1, Cached: -1}
	ids, images := 0, 0
	if reply != nil {
		q.Texts, ids, images = reply.InputTexts, reply.InputTokens, reply.Images
		q.Answers = []string{reply.Output, reply.Reasoning}
		if u := reply.Usage; u != nil {
			q.Tokens, q.Cached = int(u.Prompt), int(u.CacheRead)
		}
	}
	if len(q.Texts) == 0 { // they were not decoded: the server counts the tokens, or the request failed
		in := a.Codec.Input(payload)
		q.Texts, ids, images = in.Texts, in.Tokens, in.Images
	}
	q.Whole = len(q.Texts) == 0 || ids > 0 || images > 0 || rec.AudioSeconds > 0 || hasMedia(payload)
	a.Prefixes.Add(&q)
}

// mediaParts lists the types of prompt parts that are not text, in the APIs of OpenAI, Anthropic and compatible servers. It must be sorted.
var mediaParts = []string{"audio", "audio_url", "document", "file", "image", "image_url", "input_audio", "input_file", "input_image", "input_video", "video", "video_url"}

// hasMedia reports whether a JSON body has a part that is not text, or refers to earlier turns that the server stores.
func hasMedia(payload []byte) bool {
	if bytes.Contains(payload, []byte(`"previous_response_id"`)) {
		return true
	}
	key := []byte(`"type"`)
	for {
		_, rest, found := bytes.Cut(payload, key)
		if !found {
			return false
		}
		payload = bytes.TrimLeft(rest, ": \t\r\n")
		if len(payload) > 0 && payload[0] == '"' {
			value, _, _ := bytes.Cut(payload[1:], []byte{'"'})
			if _, media := slices.BinarySearch(mediaParts, string(value)); media {
				return true
			}
		}
	}
}
