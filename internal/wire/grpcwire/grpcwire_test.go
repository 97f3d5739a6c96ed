package grpcwire

import (
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc/codes"
)

// TestCodes: each code has the number of the library's, and its name is the protocol's.
func TestCodes(t *testing.T) {
	for code, name := range map[codes.Code]string{codes.OK: "OK", codes.Canceled: "CANCELLED", codes.Unknown: "UNKNOWN", codes.InvalidArgument: "INVALID_ARGUMENT",
		codes.DeadlineExceeded: "DEADLINE_EXCEEDED", codes.NotFound: "NOT_FOUND", codes.AlreadyExists: "ALREADY_EXISTS", codes.PermissionDenied: "PERMISSION_DENIED",
		codes.ResourceExhausted: "RESOURCE_EXHAUSTED", codes.FailedPrecondition: "FAILED_PRECONDITION", codes.Aborted: "ABORTED", codes.OutOfRange: "OUT_OF_RANGE",
		codes.Unimplemented: "UNIMPLEMENTED", codes.Internal: "INTERNAL", codes.Unavailable: "UNAVAILABLE", codes.DataLoss: "DATA_LOSS",
		codes.Unauthenticated: "UNAUTHENTICATED", 77: "CODE(77)"} {
		if got := Code(code).String(); got != name {
			t.Errorf("%d: %s, want %s", code, got, name)
		}
	}
	for code, http := range map[Code]int{OK: 200, Cancelled: 499, Unknown: 500, InvalidArgument: 400, DeadlineExceeded: 504, NotFound: 404, PermissionDenied: 403,
		ResourceExhausted: 429, Unimplemented: 501, Internal: 500, Unavailable: 503, Unauthenticated: 401, Aborted: 500, 77: 500} {
		if got := code.HTTPStatus(); got != http {
			t.Errorf("%v: %d, want %d", code, got, http)
		}
	}
	if err := Errorf(NotFound, "no %s", "model"); err.Error() != "NOT_FOUND: no model" {
		t.Error(err)
	}
}

func TestMessages(t *testing.T) {
	b := AppendMessage([]byte("x"), []byte("abc"))
	if string(b) != "x\x00\x00\x00\x00\x03abc" {
		t.Errorf("%q", b)
	}
	for _, c := range []struct {
		prefix, encoding string
		size             int
		want             string
	}{
		{"\x00\x00\x00\x01\x00", "", 256, ""},
		{"\x00\x00\x00\x10\x00", "", 0, "RESOURCE_EXHAUSTED: grpc: received message larger than max (4096 vs. 1000)"},
		{"\x02\x00\x00\x00\x00", "", 0, "INTERNAL: grpc: received unexpected payload format 2"},
		{"\x01\x00\x00\x00\x00", "identity", 0, "INTERNAL: grpc: compressed flag set with identity or empty encoding"},
		{"\x01\x00\x00\x00\x00", "gzip", 0, `INTERNAL: grpc: Decompressor is not installed for grpc-encoding "gzip"`},
	} {
		size, err := ParsePrefix([]byte(c.prefix), c.encoding, 1000)
		if got := ""; err != nil || c.want != "" {
			if err != nil {
				got = err.Error()
			}
			if got != c.want {
				t.Errorf("%q: %s, want %s", c.prefix, got, c.want)
			}
		}
		if size != c.size {
			t.Errorf("%q: %d, want %d", c.prefix, size, c.size)
		}
	}
	for value, is := range map[string]bool{"application/grpc": true, "application/grpc+proto": true, "application/grpc;x": true, "application/grpcx": false, "text/html": false} {
		if IsContentType(value) != is {
			t.Errorf("%s: %v", value, !is)
		}
	}
}

func TestTexts(t *testing.T) {
	for text, want := range map[string]string{"": "", "full": "full", "50 %": "50 %25", "é\n": "%C3%A9%0A", "\xff": "%EF%BF%BD"} {
		got := EncodeText(text)
		if got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if back := DecodeText(got); back != strings.ToValidUTF8(text, "\uFFFD") {
			t.Errorf("%q came back as %q", text, back)
		}
	}
	if got := DecodeText("%zz %4 %41"); got != "%zz %4 A" {
		t.Error(got)
	}
}

func TestHeaders(t *testing.T) {
	for _, c := range [][3]string{{"a", "x y", "x y"}, {"a-bin", "\x00\xff", "AP8"}, {"a-bin", "", ""}} {
		got, err := EncodeHeader(c[0], c[1])
		if err != nil || got != c[2] {
			t.Errorf("%q: %q %v", c, got, err)
		}
		if back, err := DecodeHeader(c[0], got); err != nil || back != c[1] {
			t.Errorf("%q came back as %q %v", c, back, err)
		}
	}
	if got, err := DecodeHeader("a-bin", "AP8="); err != nil || got != "\x00\xff" {
		t.Errorf("%q %v", got, err)
	}
	if _, err := DecodeHeader("a-bin", "%"); err == nil {
		t.Error("% was accepted")
	}
	for _, c := range [][2]string{{"A", "x"}, {"a b", "x"}, {"a", "x\n"}, {"a", "é"}} {
		if got, err := EncodeHeader(c[0], c[1]); err == nil {
			t.Errorf("%q: %q", c, got)
		}
	}
}

func TestTimeouts(t *testing.T) {
	for d, want := range map[time.Duration]string{-1: "0n", 0: "0n", 5: "5n", 99_999_999: "99999999n", 100_000_000: "100000u", 100_000_001: "100001u",
		20 * time.Second: "20000000u", 1000 * time.Second: "1000000m", 1000 * time.Hour: "3600000S", 1<<63 - 1: "2562048H"} {
		got := EncodeTimeout(d)
		if got != want {
			t.Errorf("%d: %s, want %s", d, got, want)
		}
		back, err := DecodeTimeout(got)
		if err != nil || back < d {
			t.Errorf("%d came back as %d %v", d, back, err)
		}
	}
	if d, err := DecodeTimeout("99999999H"); err != nil || d != 1<<63-1 {
		t.Errorf("%d %v", d, err)
	}
	for _, text := range []string{"", "n", "5", "5x", "123456789n", "-1n", "1.5S"} {
		if d, err := DecodeTimeout(text); err == nil {
			t.Errorf("%q: %d", text, d)
		}
	}
}
