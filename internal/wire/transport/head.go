package transport

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"

	"aiperf/internal/measure/record"
)

// Limits of a response head. Exceeding one is an error: a server that sends headers without end must cost neither memory nor time.
const (
	maxHead    = 1 << 20 // bytes, including interim responses (1xx) and empty lines before the head
	maxHeaders = 4096    // lines
	maxInterim = 100     // interim responses
	maxReason  = 256     // bytes of a reason phrase that are kept
	maxCodings = 4       // content and transfer codings of a body
)

// head is a parsed response head.
type head struct {
	status    int
	reason    string
	headers   []record.Header
	http10    bool
	length    int64 // Content-Length, -1 = none
	chunked   bool
	framed    bool // the body is delimited by the frames of a stream
	close     bool // the server closes after this response
	keepAlive bool // the server offers to keep an HTTP/1.0 connection
	mediaType string
	charset   string
	encoding  []string // content codings, then transfer codings other than chunked, in the order in which they were applied, lower case
	location  string   // target of a redirect
}

// headEnd returns the index after the empty line that ends a response head; -1 = not there yet. from is where to resume the search.
func headEnd(b []byte, from int) int {
	for i := max(from-3, 0); i < len(b); {
		j := bytes.IndexByte(b[i:], '\n')
		if j < 0 {
			return -1
		}
		i += j + 1
		rest := b[i:]
		if len(rest) > 0 && rest[0] == '\n' {
			return i + 1
		}
		if len(rest) > 1 && rest[0] == '\r' && rest[1] == '\n' {
			return i + 2
		}
	}
	return -1
}

// plausible reports whether b can be the beginning of a response. It detects other protocols before their head is complete.
func plausible(b []byte) bool {
	const want = "HTTP/1."
	n := min(len(b), len(want))
	return string(b[:n]) == want[:n]
}

// parseHead parses a complete head. Lines end with CRLF or LF. Folded lines are unfolded, in time linear in their length.
func parseHead(text string) (*head, error) {
	line, rest, _ := strings.Cut(strings.TrimRight(text, "\r\n"), "\n")
	h := &head{length: -1}
	if err := h.statusLine(strings.TrimSuffix(line, "\r")); err != nil {
		return nil, err
	}
	if n := strings.Count(rest, "\n"); n >= maxHeaders {
		return nil, malformed("Response head of more than %d lines", maxHeaders)
	} else if rest != "" {
		h.headers = make([]record.Header, 0, n+1)
	}
	for rest != "" {
		line, rest, _ = strings.Cut(rest, "\n")
		line = strings.TrimSuffix(line, "\r")
		if folded(rest) {
			line, rest = unfold(line, rest)
		}
		if err := h.line(line); err != nil {
			return nil, err
		}
	}
	return h, h.framing()
}

// parsedHead is the last head of a connection, as text and parsed. The heads of short answers in the same second are mostly the same, byte for byte.
type parsedHead struct {
	text string
	*head
}

// longestRepeated is the size in bytes up to which a head is stored.
const longestRepeated = 4 << 10

// parse is parseHead. Nobody may change the head that it returns.
func (p *parsedHead) parse(raw []byte) (*head, error) {
	if p.head != nil && string(raw) == p.text {
		return p.head, nil
	}
	text := string(raw)
	h, err := parseHead(text)
	if err != nil || len(text) > longestRepeated {
		*p = parsedHead{}
		return h, err
	}
	*p = parsedHead{text, h}
	return h, nil
}

// folded reports whether the first line of a text continues the line before it.
func folded(rest string) bool { return rest != "" && (rest[0] == ' ' || rest[0] == '\t') }

// unfold joins a line and its continuation lines with one space each.
func unfold(line, rest string) (string, string) {
	var b strings.Builder
	b.WriteString(strings.TrimRight(line, " \t"))
	for folded(rest) {
		line, rest, _ = strings.Cut(rest, "\n")
		b.WriteByte(' ')
		b.WriteString(strings.Trim(line, " \t\r"))
	}
	return b.String(), rest
}

// speaksHTTP2 is the message of an error if a server speaks HTTP/2 where HTTP/1.1 is expected.
const speaksHTTP2 = "The server speaks HTTP/2, which gRPC uses, not HTTP/1.1"

// startsHTTP2 reports whether bytes begin with the frame that every HTTP/2 server sends first: SETTINGS (type 4) of stream 0.
func startsHTTP2(b []byte) bool {
	return len(b) >= 9 && b[0] == 0 && b[3] == 4 && b[4] <= 1 && b[5]|b[6]|b[7]|b[8] == 0
}

// badStatusLine describes a first line that is not that of an HTTP/1 response.
func badStatusLine(line []byte) error {
	if startsHTTP2(line) {
		return malformed(speaksHTTP2)
	}
	return malformed("Bad status line: %s", quote(line))
}

func (h *head) statusLine(line string) error {
	proto, rest, _ := strings.Cut(line, " ")
	code, reason, _ := strings.Cut(rest, " ")
	if len(proto) != len("HTTP/1.1") || proto[:7] != "HTTP/1." || proto[7] < '0' || proto[7] > '9' || len(code) != 3 {
		return badStatusLine([]byte(line))
	}
	n, err := strconv.ParseUint(code, 10, 16)
	if err != nil || n < 100 {
		return badStatusLine([]byte(line))
	}
	h.status, h.http10 = int(n), proto[7] == '0'
	if h.reason = strings.TrimSpace(reason); len(h.reason) > maxReason {
		h.reason = strings.ToValidUTF8(h.reason[:maxReason], "") + "…"
	}
	h.nameStatus()
	return nil
}

// nameStatus fills in the usual text for a status if the reason phrase is missing.
func (h *head) nameStatus() {
	if h.reason == "" {
		h.reason = http.StatusText(h.status)
	}
}

// add stores a header.
func (h *head) add(name, value string) {
	h.headers = append(h.headers, record.Header{Name: name, Value: strings.TrimSpace(value)})
}

func (h *head) line(line string) error {
	if line == "" {
		return malformed("Empty line in the response head")
	}
	if line[0] == ' ' || line[0] == '\t' {
		return malformed("Continuation line without a header: %s", quote([]byte(line)))
	}
	name, value, ok := strings.Cut(line, ":")
	if !ok || !token(name) {
		return malformed("Bad header line: %s", quote([]byte(line)))
	}
	if strings.IndexByte(value, 0) >= 0 {
		return malformed("Header %s holds a zero byte", name)
	}
	h.add(name, value)
	return nil
}

// framing evaluates the headers that determine where the body ends and how it is coded.
func (h *head) framing() error {
	length := ""
	var transfer []string
	for _, f := range h.headers {
		switch {
		case strings.EqualFold(f.Name, "Content-Length"):
			if err := h.contentLength(f.Value, &length); err != nil {
				return err
			}
		case strings.EqualFold(f.Name, "Transfer-Encoding"):
			transfer = appendCodings(transfer, f.Value)
		case strings.EqualFold(f.Name, "Connection"):
			h.close = h.close || hasItem(f.Value, "close")
			h.keepAlive = h.keepAlive || hasItem(f.Value, "keep-alive")
		case strings.EqualFold(f.Name, "Content-Type"):
			h.contentType(f.Value)
		case strings.EqualFold(f.Name, "Content-Encoding"):
			h.encoding = appendCodings(h.encoding, f.Value)
		case strings.EqualFold(f.Name, "Location"):
			h.location = f.Value
		}
	}
	if transfer != nil && length != "" {
		return malformed("Both Content-Length and Transfer-Encoding in the response")
	}
	return h.codings(transfer)
}

// appendCodings appends the items of a list of codings, up to one more than maxCodings.
func appendCodings(to []string, list string) []string {
	for more := true; more && len(to) <= maxCodings; {
		var item string
		item, list, more = strings.Cut(list, ",")
		to = append(to, strings.ToLower(strings.TrimSpace(item)))
	}
	return to
}

// codings stores the transfer codings. chunked as the last one delimits the body. Other known codings are removed like a content coding; unknown ones
// are an error that names them.
func (h *head) codings(transfer []string) error {
	if n := len(transfer); n > 0 && transfer[n-1] == "chunked" {
		h.chunked, transfer = true, transfer[:n-1]
	}
	for _, c := range transfer {
		switch c {
		case "", "identity":
		case "gzip", "x-gzip", "deflate", "br", "zstd":
			h.encoding = append(h.encoding, c)
		default:
			return malformed("Transfer-Encoding %s is not supported", quote([]byte(c)))
		}
	}
	if len(h.encoding) > maxCodings {
		return malformed("A body with more than %d codings", maxCodings)
	}
	return nil
}

// contentLength stores one Content-Length header; several must agree.
func (h *head) contentLength(value string, seen *string) error {
	for v := range strings.SplitSeq(value, ",") {
		v = strings.TrimSpace(v)
		n, err := strconv.ParseUint(v, 10, 63)
		if err != nil {
			return malformed("Bad Content-Length: %s", quote([]byte(value)))
		}
		if *seen != "" && int64(n) != h.length {
			return malformed("Two different Content-Length values: %d and %d", h.length, n)
		}
		h.length, *seen = int64(n), v
	}
	return nil
}

// contentType stores the media type, in lower case and without parameters, and the charset.
func (h *head) contentType(value string) {
	media, params, _ := strings.Cut(value, ";")
	h.mediaType = strings.ToLower(strings.TrimSpace(media))
	for params != "" {
		var p string
		p, params, _ = strings.Cut(params, ";")
		if name, v, ok := strings.Cut(p, "="); ok && strings.EqualFold(strings.TrimSpace(name), "charset") {
			h.charset = strings.ToLower(strings.Trim(strings.TrimSpace(v), `"'`))
		}
	}
}

// ok reports whether the status is a success.
func (h *head) ok() bool { return h.status >= 200 && h.status <= 299 }

// bodyless reports whether the status forbids a body.
func (h *head) bodyless() bool { return h.status < 200 || h.status == 204 || h.status == 304 }

// reusable reports whether the connection may carry another request once the body was read.
func (h *head) reusable() bool {
	if h.close || h.status < 200 {
		return false
	}
	return !h.http10 || h.keepAlive
}

// kind returns the error type of a response with this status: the reason phrase, or the number if the status has no name.
func (h *head) kind() string {
	if h.reason == "" {
		return "HTTP " + strconv.Itoa(h.status)
	}
	return h.reason
}

func hasItem(list, item string) bool {
	for _, v := range strings.Split(list, ",") {
		if strings.EqualFold(strings.TrimSpace(v), item) {
			return true
		}
	}
	return false
}

// token reports whether a header name consists of the characters that RFC 9110 allows.
func token(s string) bool {
	if s == "" {
		return false
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		alnum := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
		if !alnum && strings.IndexByte("!#$%&'*+-.^_`|~", c) < 0 {
			return false
		}
	}
	return true
}
