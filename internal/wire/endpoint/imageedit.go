package endpoint

import (
	"strings"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/workload/conversation"
)

// imageEditType implements OpenAI's image edits (endpoints, section 9.12): a form with a prompt and one image, as a file or as an address.
var imageEditType = formType{fields: imageEditFields, input: imageEditInput, reserved: imageEditReserved,
	newAnswer: func(_ *formCodec, remember bool) Answer { return imageGenerationType.newAnswer(remember) }}

var imageEditReserved = []string{"prompt", "image", "url", "mask"}

func imageEditFields(f *form, t *conversation.Turn, _ *History) error {
	text, err := onePrompt(t, "image_edit")
	if err != nil {
		return err
	}
	f.text("prompt", text)
	f.text("model", f.set.model(t))
	f.text("response_format", "b64_json")
	f.put("n", []byte("1"))
	image := firstMedia(t, conversation.Image)
	switch {
	case image == nil:
		return invalid(t, "endpoint type image_edit needs an image")
	case !image.Inline() && isHTTP(image.Address()):
		f.text("url", image.Address())
		return nil
	case !image.Inline():
		return invalid(t, "image %.40q: must be an http or https URL, a base64 data URL or a file", image.Address())
	}
	media, err := imageMedia(t, image)
	if err != nil {
		return err
	}
	return f.media(t, "image", "image."+imageEnding(media), media, image)
}

// firstMedia returns the first content of a kind; nil = the turn has none.
func firstMedia(t *conversation.Turn, kind conversation.Kind) *conversation.Blob {
	for i := range t.Parts {
		if p := &t.Parts[i]; p.Kind == kind && p.Blob != nil {
			return p.Blob
		}
	}
	return nil
}

func isHTTP(address string) bool {
	return strings.HasPrefix(address, "http://") || strings.HasPrefix(address, "https://")
}

// imageHeads are the first characters of image formats in base64.
var imageHeads = []struct{ head, media string }{
	{"iVBORw0KGgo", "image/png"}, {"/9j/", "image/jpeg"}, {"R0lGODlh", "image/gif"}, {"R0lGODdh", "image/gif"}, {"UklGR", "image/webp"}, {"Qk", "image/bmp"},
}

// imageMedia returns the media type of an image: that of its data URL, or the type detected from its content.
func imageMedia(t *conversation.Turn, b *conversation.Blob) (string, error) {
	if media := b.MediaType(); media != "" {
		if !strings.HasPrefix(media, "image/") {
			return "", invalid(t, "image with the media type %s: must be image/…", media)
		}
		return media, nil
	}
	content, err := b.Base64()
	if err != nil {
		return "", invalid(t, "%v", err)
	}
	for _, h := range imageHeads {
		if strings.HasPrefix(string(content[:min(len(content), 16)]), h.head) {
			return h.media, nil
		}
	}
	return "", invalid(t, "image %.40q: unknown format; without a media type it must be PNG, JPEG, GIF, WebP or BMP", content)
}

func imageEnding(media string) string {
	if media == "image/jpeg" {
		return "jpg"
	}
	return strings.TrimPrefix(media, "image/")
}

func imageEditRemarks(t *conversation.Turn) []string {
	list := onePromptRemarks(t)
	images := 0
	for i := range t.Parts {
		if t.Parts[i].Kind == conversation.Image {
			images++
		}
	}
	if images > 1 {
		list = append(list, "only the first image is sent; the others are skipped")
	}
	return list
}

// imageEditInput reads the prompt and counts the image.
func imageEditInput(x *inputTexts, s *jsontext.Scanner, key []byte) bool {
	if k := string(key); k == "image" || k == "url" {
		x.images++
		return false
	}
	return promptInput(x, s, key)
}
