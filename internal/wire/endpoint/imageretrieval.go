package endpoint

import (
	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// imageRetrievalType implements NIM's image retrieval: it sends images and receives detections (endpoints, section 9.14). Images are sent as data
// URLs; those given as addresses are fetched before the run (Endpoint.InlineMedia).
var imageRetrievalType = jsonType{encode: encodeImageRetrieval, input: imageRetrievalInput, member: detectionsMember}

func encodeImageRetrieval(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "image_retrieval"); err != nil {
		return err
	}
	a, some := len(b.buf), false
	b.buf = append(b.buf, '[')
	for i := range t.Parts {
		p := &t.Parts[i]
		if p.Kind != conversation.Image || p.Blob == nil {
			continue
		}
		if some {
			b.buf = append(b.buf, ',')
		}
		some = true
		b.buf = append(b.buf, `{"type":"image_url","url":`...)
		if err := b.mediaURL(t, p.Blob); err != nil {
			return err
		}
		b.buf = append(b.buf, '}')
	}
	if !some {
		return invalid(t, "endpoint type image_retrieval needs an image")
	}
	b.buf = append(b.buf, ']')
	b.end("input", a)
	return nil
}

func imageRetrievalRemarks(t *conversation.Turn) []string {
	if len(t.Contents()) > 0 {
		return []string{"endpoint type image_retrieval sends no texts: they are skipped"}
	}
	return nil
}

// imageRetrievalInput counts the images.
func imageRetrievalInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "input" {
		return false
	}
	elements(s, func() {
		if s.Kind() == '{' {
			x.images++
		}
		s.Skip()
	})
	return true
}

// detectionsMember counts the results of an answer, one for each image.
func detectionsMember(d *jsonAnswer, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "data" {
		return false
	}
	d.chunk.kind, d.chunk.items = record.Other, 0
	elements(s, func() {
		if s.Kind() == '{' {
			d.chunk.items++
		}
		s.Skip()
	})
	return true
}
