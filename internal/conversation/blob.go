package conversation

import (
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"
	"weak"
)

// Blob is an image, a clip or a film: an address, or content that is read or made when a request first needs it. Requests share it and
// its encoded form; nobody changes either. Its methods may be called from several goroutines.
type Blob struct {
	address string // http(s) URL, or text that is none of the forms of content
	media   string // media type, "" = unknown
	encoded string // base64 as the author wrote it
	size    int64  // bytes of the content, -1 = not known yet
	open    func() ([]byte, error)
	keep    *Store

	mu      sync.Mutex
	timed   bool    // seconds was looked for
	seconds float64 // of a clip
	base64  held
	bytes   held
}

// held is content that was made: kept by the store, or as long as some request uses it.
type held struct {
	strong []byte
	weak   weak.Pointer[byte] // the first of n bytes
	n      int
}

// value is the content, nil when nobody holds it.
func (h *held) value() []byte {
	if h.strong != nil {
		return h.strong
	}
	if p := h.weak.Value(); p != nil {
		return unsafe.Slice(p, h.n)
	}
	return nil
}

// Store bounds how much content blobs keep once it was made, in bytes. What does not fit lives as long as a request uses it and is made
// again, equal, when it is needed again. A nil Store keeps nothing.
type Store struct {
	limit int64
	used  atomic.Int64
}

// NewStore makes a store for so many bytes.
func NewStore(limit int64) *Store { return &Store{limit: limit} }

// take tells whether n more bytes may be kept.
func (s *Store) take(n int) bool {
	if s == nil {
		return false
	}
	if s.used.Add(int64(n)) > s.limit {
		s.used.Add(-int64(n))
		return false
	}
	return true
}

// Authored is media as an author writes it: an http(s) URL, a data URL, or "FORMAT,BASE64" (audio). What is none of these is an address.
func Authored(kind Kind, text string) *Blob {
	b := &Blob{address: text, size: -1}
	head, data, comma := strings.Cut(text, ",")
	media, isData := strings.CutPrefix(head, "data:")
	media, _, marked := strings.Cut(media, ";")
	switch {
	case !comma || !base64Only(data):
		return b
	case isData && (marked || kind == Audio):
		b.media = media
	case !isData && kind == Audio && !strings.Contains(head, "://"):
		b.media, b.address = "audio/"+head, ""
	default:
		return b
	}
	b.encoded, b.size = data, decodedSize(data)
	return b
}

// base64Only tells whether a text holds characters of base64 alone, so that it stands as it is in any body.
func base64Only(s string) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '+', c == '/', c == '=', c == '-', c == '_':
		default:
			return false
		}
	}
	return s != ""
}

func decodedSize(data string) int64 {
	n := len(data) / 4 * 3
	return int64(n - strings.Count(data[max(0, len(data)-2):], "="))
}

// File is the content of a file, read when it is first needed; store may keep it.
func File(path, media string, store *Store) *Blob {
	b := &Blob{media: media, size: -1, keep: store, open: func() ([]byte, error) { return os.ReadFile(path) }}
	if info, err := os.Stat(path); err == nil {
		b.size = info.Size()
	}
	return b
}

// Made is content that create gives, the same bytes every time; size -1 = not known before. store may keep it.
func Made(media string, size int64, store *Store, create func() ([]byte, error)) *Blob {
	return &Blob{media: media, size: size, keep: store, open: create}
}

// Clip is sound of a known length in s that create gives, the same bytes every time.
func Clip(media string, seconds float64, create func() ([]byte, error)) *Blob {
	return &Blob{media: media, size: -1, open: create, timed: true, seconds: seconds}
}

// Fill makes an address the content that was found there, so many bytes that open gives. It must not be called once requests use the blob.
func (b *Blob) Fill(media string, store *Store, size int64, open func() ([]byte, error)) {
	b.address, b.media, b.size, b.keep, b.open = "", media, size, store, open
}

// Address is the URL or the text as it was authored; "" = there is only content.
func (b *Blob) Address() string { return b.address }

// MediaType is the type of the content ("image/png"); "" = unknown.
func (b *Blob) MediaType() string { return b.media }

// Size is the number of bytes of the content; -1 = not known before it was read.
func (b *Blob) Size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// Inline tells whether the blob has content of its own, so that Base64 and Bytes work.
func (b *Blob) Inline() bool { return b.encoded != "" || b.open != nil }

// Base64 is the content in base64. The bytes are shared: they must not be changed.
func (b *Blob) Base64() ([]byte, error) {
	if b.encoded != "" {
		return unsafe.Slice(unsafe.StringData(b.encoded), len(b.encoded)), nil // nobody writes to it: a copy of an image would be waste
	}
	return b.get(&b.base64, func() ([]byte, error) {
		raw, err := b.raw()
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.AppendEncode(nil, raw), nil
	})
}

// Bytes is the content itself. The bytes are shared: they must not be changed.
func (b *Blob) Bytes() ([]byte, error) { return b.get(&b.bytes, b.content) }

// raw is the content that somebody holds already, else a new one.
func (b *Blob) raw() ([]byte, error) {
	if held := b.bytes.value(); held != nil {
		return held, nil
	}
	return b.content()
}

// content reads, makes or decodes the content.
func (b *Blob) content() ([]byte, error) {
	if b.open == nil {
		raw, err := base64.StdEncoding.Strict().DecodeString(b.encoded)
		if err != nil {
			return nil, fmt.Errorf("media %.40q: not base64: %w", b.encoded, err)
		}
		return raw, nil
	}
	raw, err := b.open()
	if err == nil {
		b.size = int64(len(raw))
	}
	return raw, err
}

// get gives one form of the content, making it if nobody holds it.
func (b *Blob) get(h *held, create func() ([]byte, error)) ([]byte, error) {
	if !b.Inline() {
		return nil, fmt.Errorf("media %.80q: no content, only an address", b.address)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if there := h.value(); there != nil {
		return there, nil
	}
	made, err := create()
	if err != nil || len(made) == 0 {
		return made, err
	}
	if b.keep.take(len(made)) {
		h.strong = made
	} else {
		h.weak, h.n = weak.Make(&made[0]), len(made)
	}
	return made, nil
}
