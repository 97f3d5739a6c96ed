package conversation

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestAuthoredMedia(t *testing.T) {
	for _, c := range []struct {
		kind                    Kind
		text                    string
		address, media, content string
		inline                  bool
		size                    int64
	}{
		{Image, "https://h/a,b.png", "https://h/a,b.png", "", "", false, -1},
		{Image, "data:image/png;base64,AAEC", "data:image/png;base64,AAEC", "image/png", "\x00\x01\x02", true, 3},
		{Image, "data:image/png;base64,AAE=", "data:image/png;base64,AAE=", "image/png", "\x00\x01", true, 2},
		{Image, "data:image/svg+xml,<svg/>", "data:image/svg+xml,<svg/>", "", "", false, -1},
		{Audio, "wav,AAEC", "", "audio/wav", "\x00\x01\x02", true, 3},
		{Audio, "AAEC", "AAEC", "", "", false, -1},
	} {
		b := Authored(c.kind, c.text)
		if b.Address() != c.address || b.MediaType() != c.media || b.Inline() != c.inline || b.Size() != c.size {
			t.Errorf("%s: address %q, type %q, inline %v, %d bytes", c.text, b.Address(), b.MediaType(), b.Inline(), b.Size())
		}
		raw, err := b.Bytes()
		if (err == nil) != c.inline || string(raw) != c.content {
			t.Errorf("%s: content %q, %v", c.text, raw, err)
		}
	}
	if _, err := Authored(Audio, "wav,A").Bytes(); err == nil || !strings.Contains(err.Error(), "not base64") {
		t.Error(err)
	}
}

// TestContentIsMadeOnce: content that fits the store is made once; other content is shared while it is used.
func TestContentIsMadeOnce(t *testing.T) {
	content := bytes.Repeat([]byte{1, 2, 3}, 1000)
	for limit, want := range map[int64]int{1 << 20: 1, 100: 2} {
		made := 0
		b := Made("image/png", -1, NewStore(limit), func() ([]byte, error) { made++; return bytes.Clone(content), nil })
		func() { // what is shared here is out of use when it returns
			first, err := b.Base64()
			second, _ := b.Base64()
			if err != nil || string(first) != base64.StdEncoding.EncodeToString(content) || &first[0] != &second[0] || made != 1 {
				t.Fatalf("limit %d: made %d times, %v", limit, made, err)
			}
			runtime.KeepAlive(first)
		}()
		if b.Size() != int64(len(content)) {
			t.Errorf("size %d", b.Size())
		}
		for range 3 { // a weak pointer is cleared by a collection
			runtime.GC()
		}
		if _, err := b.Base64(); err != nil || made != want {
			t.Errorf("limit %d: made %d times, want %d", limit, made, want)
		}
	}
}

func TestFilesAreReadWhenTheyAreNeeded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.png")
	late := File(path, "image/png", nil)
	if late.Size() != -1 {
		t.Error(late.Size())
	}
	if _, err := late.Bytes(); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if err := os.WriteFile(path, []byte("png"), 0o600); err != nil {
		t.Fatal(err)
	}
	raw, err := late.Bytes()
	if err != nil || string(raw) != "png" || File(path, "", nil).Size() != 3 {
		t.Errorf("%q %v", raw, err)
	}
}
