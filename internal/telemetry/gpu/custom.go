package gpu

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"aiperf/internal/base/boundedfile"
)

// maxCustom limits the size of a file of custom figures, in bytes.
const maxCustom = 1 << 20

// ReadCustom reads additional figures from a file in the format of the DCGM exporter: FIELD, type, help. Invalid lines are skipped with a warning;
// known figures are skipped.
func ReadCustom(path string) (fields []Field, warnings []string, err error) {
	text, err := boundedfile.ReadAll(path, maxCustom)
	if err != nil {
		return nil, nil, err
	}
	fields, warnings = ParseCustom(path, string(text))
	return fields, warnings, nil
}

// ParseCustom parses the text of a file of custom figures; warnings begin with name and the line.
func ParseCustom(name, text string) (fields []Field, warnings []string) {
	taken, sources := map[string]bool{}, map[string]bool{}
	for _, f := range nvidia {
		taken[f.Tag], sources[f.Source] = true, true
	}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(strings.TrimPrefix(line, "\uFEFF"))
		if line == "" || line[0] == '#' {
			continue
		}
		field, why := customField(line)
		if why != "" {
			warnings = append(warnings, fmt.Sprintf("%s:%d: %s; line skipped", name, n, why))
			continue
		}
		if sources[field.Source] || taken[field.Tag] {
			continue
		}
		taken[field.Tag], sources[field.Source] = true, true
		fields = append(fields, field)
	}
	return fields, warnings
}

func customField(line string) (f Field, why string) {
	const want = "expected FIELD, gauge or counter, help"
	if !utf8.ValidString(line) {
		return f, "the line is not UTF-8; " + want
	}
	parts := strings.SplitN(line, ",", 3)
	if len(parts) < 3 {
		return f, fmt.Sprintf("%d parts instead of 3; %s", len(parts), want)
	}
	source, kind, help := strings.TrimSpace(parts[0]), strings.TrimSpace(parts[1]), strings.TrimSpace(parts[2])
	if !strings.HasPrefix(source, "DCGM_FI_") || strings.ContainsAny(source, " \t") {
		return f, fmt.Sprintf("%.60q does not begin with DCGM_FI_", source)
	}
	if kind != "gauge" && kind != "counter" {
		return f, fmt.Sprintf("type %.60q; %s", kind, want)
	}
	short := strings.TrimPrefix(strings.TrimPrefix(source, "DCGM_FI_DEV_"), "DCGM_FI_PROF_")
	f = Field{Source: source, Tag: "nvidia_" + strings.ToLower(short), Unit: customUnit(help), Scale: 1}
	title, _, _ := strings.Cut(help, "(")
	if title = strings.TrimSpace(title); title == "" {
		title = strings.ReplaceAll(f.Tag, "_", " ")
	}
	f.Name = titled(title)
	return f, ""
}

// abbreviations stay in capitals in titles.
var abbreviations = map[string]bool{
	"gpu": true, "xid": true, "sm": true, "nvlink": true, "pci": true, "pcie": true, "cpu": true, "ram": true, "vram": true, "ecc": true,
}

// titled capitalises every word.
func titled(text string) string {
	words := strings.Fields(text)
	for i, w := range words {
		low := strings.ToLower(w)
		if abbreviations[low] {
			words[i] = strings.ToUpper(w)
			continue
		}
		first, size := utf8.DecodeRuneInString(low)
		words[i] = string(unicode.ToUpper(first)) + low[size:]
	}
	return strings.Join(words, " ")
}

// customUnits maps the units that a help text may name, as in "(in X)".
var customUnits = map[string]string{
	"w": "W", "%": "%", "percent": "%", "gb": "GB", "mb": "MB", "kb": "KB", "gib": "GB", "mib": "MB", "kib": "KB", "mhz": "MHz", "ghz": "GHz",
	"c": "°C", "°c": "°C", "celsius": "°C", "us": "us", "ms": "ms", "s": "sec", "mj": "MJ", "j": "J", "count": "count",
}

// customUnit returns the unit of a help text; a figure without one is a count.
func customUnit(help string) string {
	low := strings.ToLower(help)
	for {
		_, rest, found := strings.Cut(low, "(in")
		if !found {
			return "count"
		}
		low = rest
		word, _, closed := strings.Cut(rest, ")")
		if blank := strings.TrimLeft(word, " \t"); closed && blank != word {
			if unit := customUnits[strings.TrimSpace(blank)]; unit != "" {
				return unit
			}
			return "count"
		}
	}
}
