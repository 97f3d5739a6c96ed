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

// Blob is an image, a clip or a video: either an address, or content that is read or made when a request first needs it. Requests share the content
// and its encoded form, which must not be changed. Its methods may be called from several goroutines.
type Blob struct {
	address string // http(s) URL, or text in none of the content formats
	media   string // media type, "" = unknown
	encoded string // base64 as the author wrote it
	size    int64  // bytes of the content, -1 = unknown so far
	open    func() ([]byte, error)
	store   *Store

	mu      sync.Mutex
	timed   bool    // seconds has been determined
	seconds float64 // length of a clip
	base64  cachedContent
	bytes   cachedContent
}

// cachedContent is content that was made. It lives in the store, or as long as a request uses it.
type cachedContent struct {
	strong []byte
	weak   weak.Pointer[byte] // the first of n bytes
	n      int
}

// value returns the content; nil = it is no longer in memory.
func (h *cachedContent) value() []byte {
	if h.strong != nil {
		return h.strong
	}
	if p := h.weak.Value(); p != nil {
		return unsafe.Slice(p, h.n)
	}
	return nil
}

// Store limits how many bytes of content blobs keep in memory. Content that does not fit lives as long as a request uses it, and is made again,
// identically, when it is needed again. A nil Store keeps nothing.
type Store struct {
	limit int64
	used  atomic.Int64
}

// NewStore makes a store for limit bytes.
func NewStore(limit int64) *Store { return &Store{limit: limit} }

// reserve reports whether n more bytes may be kept, and reserves them.
func (s *Store) reserve(n int) bool {
	if s == nil {
		return false
	}
	if s.used.Add(int64(n)) > s.limit {
		s.used.Add(-int64(n))
		return false
	}
	return true
}

// Authored makes a blob from an author's text: an http(s) URL, a data URL, or "FORMAT,BASE64" (audio). Any other text is treated as an address.
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

// base64Only reports whether a text holds only base64 characters, so that it can be copied into any body.
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

// File makes a blob from a file, which is read when it is first needed. store may keep the content.
func File(path, media string, store *Store) *Blob {
	b := &Blob{media: media, size: -1, store: store, open: func() ([]byte, error) { return os.ReadFile(path) }}
	if info, err := os.Stat(path); err == nil {
		b.size = info.Size()
	}
	return b
}

// Made makes a blob from content that create returns, the same bytes every time; size -1 = unknown in advance. store may keep the content.
func Made(media string, size int64, store *Store, create func() ([]byte, error)) *Blob {
	return &Blob{media: media, size: size, store: store, open: create}
}

// Clip makes a blob of sound with a known length in s. create returns the same bytes every time.
func Clip(media string, seconds float64, create func() ([]byte, error)) *Blob {
	return &Blob{media: media, size: -1, open: create, timed: true, seconds: seconds}
}

// Fill replaces an address by the content that was downloaded from it: size bytes, which open returns. It must not be called once requests use the
// blob.
func (b *Blob) Fill(media string, store *Store, size int64, open func() ([]byte, error)) {
	b.address, b.media, b.size, b.store, b.open = "", media, size, store, open
}

// Address returns the URL or the text as authored; "" = there is only content.
func (b *Blob) Address() string { return b.address }

// MediaType returns the type of the content ("image/png"); "" = unknown.
func (b *Blob) MediaType() string { return b.media }

// Size returns the number of bytes of the content; -1 = unknown until it is read.
func (b *Blob) Size() int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.size
}

// Inline reports whether the blob has its own content, so that Base64 and Bytes work.
func (b *Blob) Inline() bool { return b.encoded != "" || b.open != nil }

// Base64 returns the content in base64. The bytes are shared and must not be changed.
func (b *Blob) Base64() ([]byte, error) {
	if b.encoded != "" {
		return unsafe.Slice(unsafe.StringData(b.encoded), len(b.encoded)), nil // nobody writes to these bytes, so no copy is needed
	}
	return b.get(&b.base64, func() ([]byte, error) {
		raw, err := b.raw()
		if err != nil {
			return nil, err
		}
		return base64.StdEncoding.AppendEncode(nil, raw), nil
	})
}

// Bytes returns the content. The bytes are shared and must not be changed.
func (b *Blob) Bytes() ([]byte, error) { return b.get(&b.bytes, b.content) }

// raw returns the content that is still in memory, otherwise makes it.
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

// get returns one form of the content; it makes it if it is not in memory.
func (b *Blob) get(h *cachedContent, create func() ([]byte, error)) ([]byte, error) {
	if !b.Inline() {
		return nil, fmt.Errorf("media %.80q: only a URL is known, not the content", b.address)
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
	if b.store.reserve(len(made)) {
		h.strong = made
	} else {
		h.weak, h.n = weak.Make(&made[0]), len(made)
	}
	return made, nil
}
