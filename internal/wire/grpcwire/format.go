package grpcwire

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// ContentType is the content type of requests and answers. A suffix may follow it, for example +proto.
const ContentType = "application/grpc"

// IsContentType reports whether a content type is that of gRPC.
func IsContentType(value string) bool {
	rest, ok := strings.CutPrefix(value, ContentType)
	return ok && (rest == "" || rest[0] == '+' || rest[0] == ';')
}

// PrefixSize is the size in bytes of the prefix of a message: whether it is compressed, and its size.
const PrefixSize = 5

// AppendPrefix appends the prefix of a message that is not compressed.
func AppendPrefix(b []byte, size int) []byte {
	return binary.BigEndian.AppendUint32(append(b, 0), uint32(size))
}

// AppendMessage appends a message with its prefix.
func AppendMessage(b, message []byte) []byte {
	return append(AppendPrefix(b, len(message)), message...)
}

// ParsePrefix parses the prefix of a message. encoding is the value of the header grpc-encoding. A message that is compressed or larger than most bytes
// is an error.
func ParsePrefix(b []byte, encoding string, most int) (size int, err *Status) {
	size = int(binary.BigEndian.Uint32(b[1:PrefixSize]))
	switch {
	case size > most:
		return 0, Errorf(ResourceExhausted, "grpc: received message larger than max (%d vs. %d)", size, most)
	case b[0] == 0:
		return size, nil
	case b[0] != 1:
		return 0, Errorf(Internal, "grpc: received unexpected payload format %d", b[0])
	case encoding == "" || encoding == "identity":
		return 0, Errorf(Internal, "grpc: compressed flag set with identity or empty encoding")
	}
	return 0, Errorf(Internal, "grpc: Decompressor is not installed for grpc-encoding %q", encoding)
}

// EncodeText encodes a text for the header grpc-message: all but printable ASCII and the percent sign is percent-encoded.
func EncodeText(text string) string {
	var b strings.Builder
	for _, r := range text { // invalid bytes become the replacement character
		if r >= ' ' && r <= '~' && r != '%' {
			b.WriteRune(r)
			continue
		}
		for _, c := range utf8.AppendRune(nil, r) {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// DecodeText is the inverse of EncodeText. It keeps what is not encoded correctly.
func DecodeText(text string) string {
	var b []byte
	for i := 0; i < len(text); i++ {
		if text[i] == '%' && i+2 < len(text) {
			if v, err := strconv.ParseUint(text[i+1:i+3], 16, 8); err == nil {
				b = append(b, byte(v))
				i += 2
				continue
			}
		}
		b = append(b, text[i])
	}
	return string(b)
}

// isBinary reports whether the values of a header are bytes in base64.
func isBinary(name string) bool { return strings.HasSuffix(name, "-bin") }

// EncodeHeader returns the value of a header as it is sent. A value that cannot be sent is an error.
func EncodeHeader(name, value string) (string, error) {
	for _, c := range []byte(name) {
		if !(c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '-' || c == '_') {
			return "", fmt.Errorf("header key %q contains illegal characters not in [0-9a-z-_.]", name)
		}
	}
	if isBinary(name) {
		return base64.RawStdEncoding.EncodeToString([]byte(value)), nil
	}
	for _, c := range []byte(value) {
		if c < ' ' || c > '~' {
			return "", fmt.Errorf("header key %q contains value with non-printable ASCII characters", name)
		}
	}
	return value, nil
}

// DecodeHeader is the inverse of EncodeHeader.
func DecodeHeader(name, value string) (string, error) {
	if !isBinary(name) {
		return value, nil
	}
	alphabet := base64.RawStdEncoding
	if len(value)%4 == 0 {
		alphabet = base64.StdEncoding
	}
	b, err := alphabet.DecodeString(value)
	return string(b), err
}

// timeoutUnits are those of the header grpc-timeout.
var timeoutUnits = []struct {
	unit   time.Duration
	letter byte
}{{time.Nanosecond, 'n'}, {time.Microsecond, 'u'}, {time.Millisecond, 'm'}, {time.Second, 'S'}, {time.Minute, 'M'}, {time.Hour, 'H'}}

// EncodeTimeout returns a time for the header grpc-timeout: at most eight digits and a unit, rounded up.
func EncodeTimeout(d time.Duration) string {
	d = max(0, d)
	for _, u := range timeoutUnits {
		n := int64(d / u.unit)
		if d%u.unit > 0 {
			n++
		}
		if n < 1e8 {
			return strconv.FormatInt(n, 10) + string(u.letter)
		}
	}
	return "99999999H" // not reached: a time.Duration has fewer hours
}

// DecodeTimeout parses the header grpc-timeout.
func DecodeTimeout(text string) (time.Duration, error) {
	if n := len(text); n >= 2 && n <= 9 {
		for _, u := range timeoutUnits {
			if u.letter != text[n-1] {
				continue
			}
			v, err := strconv.ParseUint(text[:n-1], 10, 31)
			if err != nil {
				break
			}
			if v > uint64(1<<63-1)/uint64(u.unit) {
				return 1<<63 - 1, nil
			}
			return time.Duration(v) * u.unit, nil
		}
	}
	return 0, fmt.Errorf("grpc-timeout %q is not up to eight digits and one of n, u, m, S, M, H", text)
}
