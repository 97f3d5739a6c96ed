package exposition

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// MaxSamples is the largest number of samples of a page; further lines count as invalid.
const MaxSamples = 200_000

// parser parses a page line by line.
type parser struct {
	page   Page
	byName map[string]*Family
	labels []Label // backing store of the samples' labels
}

// Parse parses a page. It never fails: invalid lines are counted.
func Parse(body []byte) *Page {
	p := &parser{byName: map[string]*Family{}}
	text := string(body)
	for n := 1; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		line = strings.Trim(line, " \t\r")
		if line == "" {
			continue
		}
		var why string
		switch {
		case line[0] == '#':
			why = p.comment(line)
		case p.page.Samples >= MaxSamples:
			why = "no more than " + strconv.Itoa(MaxSamples) + " samples"
		default:
			why = p.sample(line)
		}
		if why != "" {
			if p.page.BadLines == 0 {
				p.page.First = BadLine{Line: n, Why: why}
			}
			p.page.BadLines++
		}
	}
	return &p.page
}

// comment parses a line that begins with "#": HELP and TYPE describe a family, all others are ignored.
func (p *parser) comment(line string) (why string) {
	word, rest := field(line[1:])
	if word != "HELP" && word != "TYPE" {
		return ""
	}
	name, rest, ok := familyName(rest)
	if !ok {
		return "a name after " + word
	}
	rest = strings.TrimLeft(rest, " \t")
	if word == "HELP" {
		p.family(name).Help = unescape(rest, false)
		return ""
	}
	kind, known := types[strings.ToLower(strings.TrimSpace(rest))]
	if !known {
		return "a type after TYPE " + name
	}
	p.family(name).Type = kind
	return ""
}

// field splits the first word off a text.
func field(text string) (word, rest string) {
	text = strings.TrimLeft(text, " \t")
	if i := strings.IndexAny(text, " \t"); i >= 0 {
		return text[:i], text[i+1:]
	}
	return text, ""
}

// familyName reads the name in a HELP or TYPE line, which may be quoted.
func familyName(text string) (name, rest string, ok bool) {
	text = strings.TrimLeft(text, " \t")
	if strings.HasPrefix(text, `"`) {
		return quoted(text)
	}
	n := nameLength(text)
	if n == 0 || n < len(text) && text[n] != ' ' && text[n] != '\t' {
		return "", "", false
	}
	return text[:n], text[n:], true
}

// nameLength returns the number of bytes at the beginning of a text that form a metric name.
func nameLength(text string) int {
	for i := range len(text) {
		c := text[i]
		if c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c == ':' || i > 0 && c >= '0' && c <= '9' {
			continue
		}
		return i
	}
	return len(text)
}

// family returns the family with a name, and creates it if needed.
func (p *parser) family(name string) *Family {
	f := p.byName[name]
	if f == nil {
		f = &Family{Name: name, Type: Unknown}
		p.byName[name] = f
		p.page.Families = append(p.page.Families, f)
	}
	return f
}

// owner returns the family that a sample belongs to: the one with its name, or one whose type allows the suffix of the name.
func (p *parser) owner(name string) *Family {
	if f := p.byName[name]; f != nil {
		return f
	}
	if cut := strings.LastIndexByte(name, '_'); cut > 0 {
		if f := p.byName[name[:cut]]; f != nil && belongs(name, f) {
			return f
		}
	}
	return p.family(name)
}

// belongs reports whether a sample's name is that of a family with a suffix of its type.
func belongs(name string, f *Family) bool {
	suffix := strings.TrimPrefix(name, f.Name)
	for _, s := range suffixes[f.Type] {
		if s == suffix {
			return true
		}
	}
	return false
}

// sample parses one value: name{labels} value [timestamp] [# exemplar].
func (p *parser) sample(line string) (why string) {
	n := nameLength(line)
	name, rest := line[:n], strings.TrimLeft(line[n:], " \t")
	from := len(p.labels)
	if strings.HasPrefix(rest, "{") {
		var ok bool
		if name, rest, ok = p.labelSet(name, rest[1:]); !ok {
			p.labels = p.labels[:from]
			return "labels as {name=\"value\"}"
		}
	} else if n > 0 && n < len(line) && line[n] != ' ' && line[n] != '\t' {
		return "a metric's name"
	}
	if name == "" {
		return "a metric's name"
	}
	word, rest := field(rest)
	value, err := strconv.ParseFloat(word, 64)
	if err != nil && (value == 0 || word == "") { // a number out of range becomes infinite
		p.labels = p.labels[:from]
		return "a number"
	}
	if !tail(rest) {
		p.labels = p.labels[:from]
		return "a timestamp"
	}
	f := p.owner(name)
	f.Samples = append(f.Samples, Sample{Name: name, Labels: p.labels[from:len(p.labels):len(p.labels)], Value: value})
	p.page.Samples++
	return ""
}

// tail reports whether the text after a value is a timestamp, an exemplar or empty.
func tail(rest string) bool {
	rest = strings.TrimLeft(rest, " \t")
	if rest == "" || rest[0] == '#' {
		return true
	}
	word, rest := field(rest)
	if _, err := strconv.ParseFloat(word, 64); err != nil {
		return false
	}
	rest = strings.TrimLeft(rest, " \t")
	return rest == "" || rest[0] == '#'
}

// labelSet parses labels up to the closing brace. A quoted text without a value is the metric's name (UTF-8 names).
func (p *parser) labelSet(name, text string) (string, string, bool) {
	for {
		text = strings.TrimLeft(text, " \t,")
		if text == "" {
			return "", "", false
		}
		if text[0] == '}' {
			return name, text[1:], true
		}
		var key string
		if text[0] == '"' {
			var ok bool
			if key, text, ok = quoted(text); !ok {
				return "", "", false
			}
		} else {
			n := nameLength(text)
			key, text = text[:n], text[n:]
		}
		text = strings.TrimLeft(text, " \t")
		if name == "" && key != "" && (strings.HasPrefix(text, ",") || strings.HasPrefix(text, "}")) {
			name = key
			continue
		}
		if key == "" || !strings.HasPrefix(text, "=") {
			return "", "", false
		}
		value, rest, ok := quoted(strings.TrimLeft(text[1:], " \t"))
		if !ok {
			return "", "", false
		}
		p.labels = append(p.labels, Label{key, value})
		text = strings.TrimLeft(rest, " \t")
		if text == "" || text[0] != ',' && text[0] != '}' {
			return "", "", false
		}
	}
}

// quoted parses a quoted text and returns it with the rest.
func quoted(text string) (value, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	escaped := false
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			value = text[1:i]
			if escaped {
				value = unescape(value, true)
			}
			return valid(value), text[i+1:], true
		}
	}
	return "", "", false
}

// unescape resolves \n and \\, in label values also \"; any other escaped character stands for itself.
func unescape(text string, quotes bool) string {
	if !strings.Contains(text, `\`) {
		return valid(text)
	}
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c == '\\' && i+1 < len(text) {
			next := text[i+1]
			if next == 'n' || next == '\\' || quotes {
				i++
				if c = next; next == 'n' {
					c = '\n'
				}
			}
		}
		b.WriteByte(c)
	}
	return valid(b.String())
}

// valid replaces invalid UTF-8.
func valid(text string) string {
	if utf8.ValidString(text) {
		return text
	}
	return strings.ToValidUTF8(text, "\uFFFD")
}
