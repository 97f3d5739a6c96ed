package pipeline

import "aiperf/internal/text/tokenizer/model"

// Decoder converts ids to bytes, which may be invalid UTF-8.
type Decoder interface {
	Decode(ids []int32) string
	Known(id int32) bool // whether id is a token
}

// Decode returns the text of ids.
func (p *Pipeline) Decode(ids []int32) string { return p.Decoder.Decode(ids) }

// BytesDecoder joins the bytes of tokens.
type BytesDecoder struct {
	Vocab *model.Vocab
	Shift int32            // id = index in Vocab + Shift
	Added map[int32]string // texts of ids that are not in Vocab or have another text
}

var _ Decoder = BytesDecoder{}

// Decode implements Decoder.
func (d BytesDecoder) Decode(ids []int32) string {
	var short [512]byte
	out := short[:0]
	if n := 5 * len(ids); n > len(short) {
		out = make([]byte, 0, n)
	}
	for _, id := range ids {
		if s, ok := d.Added[id]; ok {
			out = append(out, s...)
			continue
		}
		out = append(out, d.Vocab.Text(id-d.Shift)...)
	}
	return string(out)
}

// Known implements Decoder.
func (d BytesDecoder) Known(id int32) bool { return known(d.Vocab, d.Added, id, d.Shift) }

func known(v *model.Vocab, added map[int32]string, id, shift int32) bool {
	_, ok := added[id]
	return ok || v.Text(id-shift) != nil
}
