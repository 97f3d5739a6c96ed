package rankfile

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// list has "!", "a", "ab", and a token that is the byte behind each token in the packed form, which is 0 here.
const list = "IQ== 0\nYQ== 1\nYWI= 2\nAA== 3\n"

func compressed(t testing.TB, packed []byte) []byte {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	return z.EncodeAll(packed, nil)
}

func TestPackGivesTheListBack(t *testing.T) {
	v, err := Parse([]byte(list))
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = Unpack(compressed(t, packed)); err != nil || string(Format(v)) != list {
		t.Errorf("%v: %q", err, Format(v))
	}
}

func TestPackRefuses(t *testing.T) {
	every := ""
	for b := range 256 {
		every += base64.StdEncoding.EncodeToString([]byte{'a', byte(b)}) + fmt.Sprintf(" %d\n", b)
	}
	for list, says := range map[string]string{"IQ== 0\nYQ== 2\n": "without gaps", every: "all 256 values"} {
		v, err := Parse([]byte(list))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Pack(v); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", list, err, says)
		}
	}
}

func TestUnpackRefuses(t *testing.T) {
	for packed, says := range map[string]string{
		"": "too short", "\x01": "too short", "\x02\x00a\x00": "too short", "\xff\xff\xff\xff\x7f\x00a\x00": "too short",
		"\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01\x00a\x00": "too short", // twice this count is 0 in 64 bits
		"\x01\x00ab": "token 0 has no end", "\x02\x00ab\x00c": "token 1 has no end", "\x02\x00abc\x00": "token 1 has no end",
		"\x01\x00a\x00b": "1 bytes are left",
	} {
		if _, err := Unpack(compressed(t, []byte(packed))); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", packed, err, says)
		}
	}
	if _, err := Unpack([]byte("no zstd")); err == nil {
		t.Error("bytes that are not zstd were unpacked")
	}
}

func TestParseRefuses(t *testing.T) {
	for list, says := range map[string]string{
		"": "empty", "YQ==\n": "line 1", "YQ== 0\nx y z\n": "line 2", "!! 0\n": "not base64", "YQ== -1\n": "not a number", "YQ== 99999999\n": "below",
	} {
		if _, err := Parse([]byte(list)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%q: error %v, want %q", list, err, says)
		}
	}
}

// FuzzParse reads anything as a list and as a packed one; what is a list and can be packed is the same when unpacked.
func FuzzParse(f *testing.F) {
	f.Add([]byte("\x02\x00a\x00ab\x00"))
	f.Add([]byte("IQ== 0\r\nYQ== 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Unpack(compressed(t, b))
		v, err := Parse(b)
		if err != nil {
			return
		}
		if v.Len() == 0 {
			t.Error("an empty list passed")
		}
		packed, err := Pack(v)
		if err != nil {
			return
		}
		again, err := Unpack(compressed(t, packed))
		if err != nil || !bytes.Equal(Format(again), Format(v)) {
			t.Errorf("%v: %q, want %q", err, Format(again), Format(v))
		}
	})
}
