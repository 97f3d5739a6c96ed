package rankfile

import (
	"bytes"
	"strings"
	"testing"
)

func TestPackGivesTheListBack(t *testing.T) {
	list := []byte("IQ== 0\nYQ== 1\nYWI= 2\n")
	v, err := Parse(list)
	if err != nil {
		t.Fatal(err)
	}
	packed, err := Pack(v)
	if err != nil {
		t.Fatal(err)
	}
	if v, err = Unpack(packed); err != nil || !bytes.Equal(Format(v), list) {
		t.Errorf("%v: %q", err, Format(v))
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

// FuzzParse reads anything as a list and as a packed one; what is a list is packed, and the same when unpacked.
func FuzzParse(f *testing.F) {
	v, err := Parse([]byte("IQ== 0\nYQ== 1\nYWI= 2\n"))
	if err != nil {
		f.Fatal(err)
	}
	packed, err := Pack(v)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	f.Add([]byte("IQ== 0\r\nYQ== 1\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		_, _ = Unpack(b)
		if v, err := Parse(b); err == nil && v.Len() == 0 {
			t.Error("an empty list passed")
		}
	})
}
