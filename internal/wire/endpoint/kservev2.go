package endpoint

import (
	"bytes"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
	"aiperf/internal/workload/conversation"
)

// tensorKind describes the tensors of a kind of model behind the Open Inference Protocol, if no Triton backend is given (endpoints, section 11.5).
// Extras set other tensor names.
type tensorKind struct {
	name     string
	produces record.Kind
	output   string // usual name of the output
	many     bool   // accepts several texts in one request
	pictures bool   // accepts images in addition to the text
	ranks    bool   // accepts a query and passages instead of a text
}

// The kinds.
var (
	textTensors      = tensorKind{name: "kserve_v2_infer", output: textOutput}
	embeddingTensors = tensorKind{name: "kserve_v2_embeddings", produces: record.Embeddings, output: "embedding", many: true}
	rankingTensors   = tensorKind{name: "kserve_v2_rankings", produces: record.Rankings, output: "scores", ranks: true}
	visionTensors    = tensorKind{name: "kserve_v2_vlm", output: textOutput, pictures: true}
	imageTensors     = tensorKind{name: "kserve_v2_images", produces: record.Images, output: "image"}
)

// Extras that name the tensors other than those of the text.
const (
	imageExtra    = "v2_image_name"
	queryExtra    = "v2_query_name"
	passagesExtra = "v2_passages_name"
)

// tensorExtras lists the extras that choose the version of a model and its tensors.
var tensorExtras = []string{versionExtra, inputExtra, outputExtra, imageExtra, queryExtra, passagesExtra}

// open makes the codec of a run.
func (k *tensorKind) open(s Settings) (Codec, error) {
	names := map[string]string{imageExtra: "image", queryExtra: "query", passagesExtra: "passages"}
	for extra := range names {
		given, err := consume(&s, extra)
		if err != nil {
			return nil, err
		}
		if given != "" {
			names[extra] = given
		}
	}
	return newTensorCodec(s, k, names)
}

// kindInputs writes the inputs of a turn for a model of a kind.
func (w *tensorBody) kindInputs(t *conversation.Turn, h *History) error {
	k, names := w.codec.kind, w.codec.names
	texts := t.Contents()
	switch {
	case k.ranks:
		query, passages, err := ranking(t, h, k.name)
		if err != nil {
			return err
		}
		w.texts(names[queryExtra], []string{query})
		w.texts(names[passagesExtra], passages)
	case len(texts) == 0 || len(texts) > 1 && !k.many:
		return invalid(t, "endpoint type %s sends one prompt per request, but this turn has %d", k.name, len(texts))
	default:
		w.texts(w.promptName(), texts)
	}
	if pictures := images(t); k.pictures && len(pictures) > 0 {
		if err := w.pictures(names[imageExtra], t, pictures); err != nil {
			return err
		}
	}
	if k.produces == record.Text && w.codec.set.Streaming && w.described != nil && w.hasInput("stream") {
		w.tensor("stream", "BOOL", []byte("true"), 1)
	}
	if t.MaxTokens != nil && k.produces == record.Text {
		w.parameters.setInt("max_tokens", *t.MaxTokens)
	}
	return nil
}

// pictures appends an input of images: their addresses, or their content in base64, which is shared with other requests.
func (w *tensorBody) pictures(name string, t *conversation.Turn, list []*conversation.Blob) error {
	w.open(name, "BYTES", len(list))
	for i, m := range list {
		if i > 0 {
			w.out.buf = append(w.out.buf, ',')
		}
		if !m.Inline() {
			w.out.buf = jsontext.AppendString(w.out.buf, m.Address())
			continue
		}
		content, err := m.Base64()
		if err != nil {
			return invalid(t, "%v", err)
		}
		w.out.buf = append(w.out.buf, '"')
		w.out.share(content)
		w.out.buf = append(w.out.buf, '"')
	}
	w.close()
	return nil
}

// texts appends an input of texts.
func (w *tensorBody) texts(name string, list []string) {
	var data []byte
	for i, text := range list {
		if i > 0 {
			data = append(data, ',')
		}
		data = jsontext.AppendString(data, text)
	}
	w.tensor(name, "BYTES", data, len(list))
}

// kindAnswer converts an answer that is not text to content: the elements of the tensor that the user named, of the usual name, or of the first
// tensor.
func (c *kserveCodec) kindAnswer(d *jsonAnswer) {
	doc := d.state.(*tensorDoc)
	at := doc.find(c.outputName())
	if at < 0 && len(doc.outputs) > 0 {
		at = 0
	}
	if at < 0 {
		return
	}
	n := 1
	if c.kind.produces != record.Embeddings { // the shape of vectors differs from model to model: all elements count as one content
		n = bytes.Count(doc.outputs[at].data, []byte{','}) + 1
	}
	if s := (jsontext.Scanner{Doc: doc.outputs[at].data}); s.Open('[') && s.Kind() != ']' {
		d.chunk.kind, d.chunk.items = c.kind.produces, n
	}
}
