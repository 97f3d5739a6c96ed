package endpoint

import (
	"bytes"
	"slices"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// Embeddings of texts and images: NIM's (endpoints, section 9.6), and NV-CLIP's, in which texts and images are separate entries (section 2.2).
var (
	nimEmbeddingsType = jsonType{encode: encodeNIMEmbeddings, input: nimInput, member: embeddingsMember}
	nvclipType        = jsonType{encode: encodeNVCLIP, input: nvclipInput, member: embeddingsMember}
)

// images returns the images of a turn that have content.
func images(t *conversation.Turn) (list []*conversation.Blob) {
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Kind == conversation.Image && p.Blob != nil && (p.Blob.Inline() || p.Blob.Address() != "") {
			list = append(list, p.Blob)
		}
	}
	return list
}

// encodeNIMEmbeddings writes texts, or images, or pairs: the text, a space, the image's URL.
func encodeNIMEmbeddings(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "nim_embeddings"); err != nil {
		return err
	}
	texts, pictures := t.Contents(), images(t)
	if len(texts) > 0 && len(pictures) > 0 && len(texts) != len(pictures) {
		return invalid(t, "endpoint type nim_embeddings pairs texts with images, but the turn has %d texts and %d images; give equal numbers, or only one kind",
			len(texts), len(pictures))
	}
	b.setString("model", b.set.model(t))
	a := len(b.buf)
	b.buf = append(b.buf, '[')
	for i := range max(len(texts), len(pictures)) {
		if i > 0 {
			b.buf = append(b.buf, ',')
		}
		if len(pictures) == 0 {
			b.buf = jsontext.AppendString(b.buf, texts[i])
			continue
		}
		b.buf = append(b.buf, '"')
		if len(texts) > 0 {
			b.inner(texts[i] + " ")
		}
		if err := b.mediaText(t, pictures[i]); err != nil {
			return err
		}
		b.buf = append(b.buf, '"')
	}
	b.buf = append(b.buf, ']')
	b.end("input", a)
	return nil
}

// encodeNVCLIP writes the texts and then the images.
func encodeNVCLIP(b *body, t *conversation.Turn, h *History) error {
	if err := rejectHistory(t, h, "nvclip"); err != nil {
		return err
	}
	b.setString("model", b.set.model(t))
	a := len(b.buf)
	b.strings(t.Contents())
	b.buf = b.buf[:len(b.buf)-1]
	for _, m := range images(t) {
		if b.buf[len(b.buf)-1] != '[' {
			b.buf = append(b.buf, ',')
		}
		if err := b.mediaURL(t, m); err != nil {
			return err
		}
	}
	b.buf = append(b.buf, ']')
	b.end("input", a)
	return nil
}

// nvclipInput reads the texts to embed and counts the images among them, which are the entries that are URLs.
func nvclipInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "input" {
		return false
	}
	elements(s, func() {
		if t := s.Text(); isURL(t.Raw) {
			x.images++
		} else {
			x.add(t)
		}
	})
	return true
}

// nimInput reads the texts to embed and counts the images: entries that are URLs or end with the URL of an image.
func nimInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if string(key) != "input" {
		return false
	}
	if s.Kind() != '[' {
		x.prompt(s)
		return true
	}
	elements(s, func() {
		if s.Kind() != '"' {
			x.prompt(s)
			return
		}
		t := s.Text()
		if isURL(t.Raw) && bytes.IndexByte(t.Raw, ' ') < 0 {
			x.images++
			return
		}
		if at := bytes.LastIndexByte(t.Raw, ' '); at >= 0 && isPicture(t.Raw[at+1:]) {
			x.images++
			t.Raw = t.Raw[:at]
		}
		x.add(t)
	})
	return true
}

// isPicture reports whether a word is certainly the URL of an image: a text may end with some other address.
func isPicture(word []byte) bool {
	if bytes.HasPrefix(word, []byte("data:image/")) {
		return true
	}
	path, _, _ := bytes.Cut(bytes.ToLower(word), []byte{'?'})
	return isURL(word) && slices.ContainsFunc([]string{".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp"}, func(end string) bool { return bytes.HasSuffix(path, []byte(end)) })
}

// isURL reports whether a text is the address of an image or a data URL.
func isURL(raw []byte) bool {
	for _, scheme := range []string{"data:image/", "http://", "https://"} {
		if len(raw) > len(scheme) && string(raw[:len(scheme)]) == scheme {
			return true
		}
	}
	return false
}
