package custom

import (
	"bytes"
	"errors"
	"fmt"
	"image/jpeg"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"strings"

	"aiperf/internal/workload/conversation"
)

// maxMediaInMemory limits the media file contents that stay in memory, in bytes. Others are read again when a request needs them.
const maxMediaInMemory = 128 << 20

// library holds the media of a file of rows. Equal values share one blob, so that requests share its bytes.
type library struct {
	store *conversation.Store
	known map[mediaKey]*conversation.Blob
	// remote lists the images that have only a URL, in file order, until they are downloaded.
	remote  []remote
	fetched *downloads // nil = nothing was downloaded
}

type mediaKey struct {
	kind conversation.Kind
	text string
}

func newLibrary() *library {
	return &library{store: conversation.NewStore(maxMediaInMemory), known: map[mediaKey]*conversation.Blob{}}
}

// blob returns the media of a value in a row (spec: datasets, section 6): a data URL, FORMAT,BASE64 for audio, a URL, or a file path. where is the
// row, "path:line". A relative path is tried in the working directory, then in the directory of the row's file.
func (l *library) blob(where string, kind conversation.Kind, text string) (*conversation.Blob, error) {
	key := mediaKey{kind, text}
	if b := l.known[key]; b != nil {
		return b, nil
	}
	b, err := l.open(where, kind, text)
	if err == nil {
		l.known[key] = b
		if kind == conversation.Audio {
			b.Seconds() // decode now, so that it does not disturb the measurement later
		}
	}
	return b, err
}

func (l *library) open(where string, kind conversation.Kind, text string) (*conversation.Blob, error) {
	b := conversation.Authored(kind, text)
	scheme, host := address(text)
	format, _, comma := strings.Cut(text, ",")
	sound := kind == conversation.Audio && comma && (format == "wav" || format == "mp3")
	switch {
	case b.Inline() && (kind != conversation.Audio || sound || strings.EqualFold(scheme, "data")):
		return b, nil
	case strings.EqualFold(scheme, "data"):
		if kind == conversation.Audio {
			return nil, fmt.Errorf("%.40q: must be data:audio/FORMAT;base64,BASE64", text)
		}
		if !plausible(text) {
			return nil, fmt.Errorf("%.40q: the text after the comma is not base64", text)
		}
		return b, nil
	case sound:
		return nil, fmt.Errorf("%.40q: the text after the comma is not base64", text)
	case scheme != "" && host != "":
		if kind == conversation.Image && (l.fetched == nil || !l.fetched.fill(b, l.store)) {
			l.remote = append(l.remote, remote{where, b})
		}
		return b, nil
	case scheme != "" || host != "":
		return nil, fmt.Errorf("%.80q: a URL needs both a scheme and a host; to send a file, give its path", text)
	}
	return l.file(where, kind, text)
}

// plausible reports whether the content of a data URL that claims base64 may be base64. It accepts missing padding, the URL-safe alphabet and escapes.
func plausible(url string) bool {
	head, content, ok := strings.Cut(url, ",")
	if !ok {
		return false
	}
	return !strings.HasSuffix(strings.ToLower(head), ";base64") || strings.Trim(content, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_=%\r\n ") == ""
}

// address returns the scheme and host of a text that may be a URL; "" = none.
func address(text string) (scheme, host string) {
	if i := strings.IndexByte(text, ':'); i > 0 && isScheme(text[:i]) {
		scheme, text = text[:i], text[i+1:]
	}
	if rest, ok := strings.CutPrefix(text, "//"); ok {
		if i := strings.IndexAny(rest, "/?#"); i >= 0 {
			rest = rest[:i]
		}
		host = rest
	}
	return scheme, host
}

func isScheme(s string) bool {
	for i := range len(s) {
		c := s[i] | 0x20
		letter := 'a' <= c && c <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", rune(s[i]))) {
			return false
		}
	}
	return true
}

// file opens a file and checks its type. Its content is read when a request first needs it.
func (l *library) file(where string, kind conversation.Kind, path string) (*conversation.Blob, error) {
	f, err := find(where, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	media, err := mediaType(kind, f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return conversation.File(f.Name(), media, l.store), nil
}

// find opens a path of a row, relative to the working directory, else to the directory of the row's file.
func find(where, path string) (*os.File, error) {
	at := path
	info, err := os.Stat(at)
	if errors.Is(err, os.ErrNotExist) && !filepath.IsAbs(path) {
		at = filepath.Join(filepath.Dir(where), path)
		info, err = os.Stat(at)
	}
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil, fmt.Errorf("file not found: %s", path)
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular(): // opening a pipe would block
		return nil, fmt.Errorf("not a file: %s", path)
	case info.Size() == 0:
		return nil, fmt.Errorf("file is empty: %s", path)
	}
	return os.Open(at)
}

// fileTypes are the media types of audio and video files, by file extension.
var fileTypes = map[conversation.Kind]map[string]string{
	conversation.Audio: {".wav": "audio/wav", ".mp3": "audio/mp3"},
	conversation.Video: {".mp4": "video/mp4", ".webm": "video/webm"},
}

// mediaType returns the media type of a file: an image by its content, audio and video by extension.
func mediaType(kind conversation.Kind, f *os.File) (string, error) {
	if kind == conversation.Image {
		return pictureType(f)
	}
	ending := strings.ToLower(filepath.Ext(f.Name()))
	if media := fileTypes[kind][ending]; media != "" {
		return media, nil
	}
	if kind == conversation.Audio {
		return "", fmt.Errorf("must be a .wav or .mp3 file, got %q", ending)
	}
	return "", fmt.Errorf("must be a .mp4 or .webm file, got %q", ending)
}

// pictureType distinguishes PNG and JPEG and decodes their headers, so that a broken image is found before the first request.
func pictureType(f io.ReadSeeker) (string, error) {
	head := make([]byte, 16)
	n, err := io.ReadFull(f, head)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return "", err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return "", err
	}
	switch found := pictureFormat(head[:n]); found {
	case "PNG":
		_, err = png.DecodeConfig(f)
		return "image/png", readable(found, err)
	case "JPEG":
		_, err = jpeg.DecodeConfig(f)
		return "image/jpeg", readable(found, err)
	default:
		return "", fmt.Errorf("must be PNG or JPEG, got %s", found)
	}
}

// readable returns the error of an unreadable header. A JPEG variant that only our decoder does not support is accepted.
func readable(format string, err error) error {
	var rare jpeg.UnsupportedError
	if err == nil || errors.As(err, &rare) {
		return nil
	}
	return fmt.Errorf("begins like %s but cannot be read: %w", format, err)
}

// signatures are the first bytes of image formats. A space matches any byte.
var signatures = []struct{ head, format string }{
	{"\x89PNG\r\n\x1a\n", "PNG"}, {"\xff\xd8\xff", "JPEG"}, {"GIF8", "GIF"}, {"RIFF    WEBP", "WebP"}, {"BM", "BMP"},
	{"II*\x00", "TIFF"}, {"MM\x00*", "TIFF"}, {"    ftypavif", "AVIF"}, {"    ftyphei", "HEIF"}, {"%PDF", "PDF"}, {"<svg", "SVG"}, {"<?xml", "XML"},
}

// pictureFormat returns the format of an image by its first bytes.
func pictureFormat(head []byte) string {
	for _, s := range signatures {
		if len(head) < len(s.head) {
			continue
		}
		match := bytes.Clone(head[:len(s.head)])
		for i := range match {
			if s.head[i] == ' ' {
				match[i] = ' '
			}
		}
		if string(match) == s.head {
			return s.format
		}
	}
	return "an unknown format"
}
