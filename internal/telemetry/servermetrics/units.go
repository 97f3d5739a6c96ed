package servermetrics

import (
	"regexp"
	"strings"
)

// Descriptions that tell the range of a value.
var (
	ratioRange = regexp.MustCompile(`(?i)\b0(?:\.0)?\s*(?:[-–—]+|to)\s*1(?:\.0)?(?:[^\d.]|\.\D|\.?$)|(?:\b|\()1(?:\.0)?\s*(?:means|is|equals?|==?)\s*100\s*(?:%|percent)`)
	hundred    = regexp.MustCompile(`(?i)\(0(?:\.0)?\s*(?:[-–—]+|to)\s*100(?:\.0)?\)|\brange\s+0\s*(?:[-–—]+|to)\s*100\b|\b0\s*(?:[-–—]+|to)\s*100\s*%`)
)

// tagged is a unit in brackets: (in X).
var tagged = regexp.MustCompile(`\(in\s+([^\s)]+)\)`)

// tags are the units that may stand there; capitals count (mJ, MJ).
var tags = map[string]string{
	"B": "bytes", "KiB": "kilobytes", "MiB": "megabytes", "GiB": "gigabytes", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "TB": "terabytes",
	"C": "celsius", "°C": "celsius", "F": "fahrenheit", "°F": "fahrenheit", "K": "kelvin", "Hz": "hertz", "MHz": "megahertz", "GHz": "gigahertz",
	"W": "watt", "mW": "milliwatt", "J": "joule", "mJ": "millijoule", "MJ": "megajoule",
	"s": "seconds", "sec": "seconds", "ms": "milliseconds", "us": "microseconds", "µs": "microseconds", "ns": "nanoseconds",
	"GB/s": "gb/s", "MB/s": "mb/s", "%": "percent", "percent": "percent",
}

// worded are units that a description tells as "in X" or "(X)", in their order.
var worded = []struct {
	says *regexp.Regexp
	unit string
}{
	{inWords(`seconds?`), "seconds"},
	{inWords(`(?:milliseconds?|ms)`), "milliseconds"},
	{inWords(`(?:nanoseconds?|ns)`), "nanoseconds"},
	{inWords(`bytes?`), "bytes"},
	{inWords(`GB/s`), "gb/s"},
	{inWords(`MB/s`), "mb/s"},
	{inWords(`tokens?/s(?:ec(?:ond)?)?`), "tokens/s"},
	{inWords(`requests?/s(?:ec(?:ond)?)?`), "requests/s"},
	{regexp.MustCompile(`(?i)\bin\s+tokens?\b`), "tokens"},
}

func inWords(unit string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)(?:\bin\s+|\()` + unit + `(?:\b|\))`)
}

// suffixes of names that tell a unit, longer ones before those that they end in.
var suffixes = []struct{ suffix, unit string }{
	{"_error_count_total", "errors"}, {"_error_count", "errors"}, {"_errors_total", "errors"}, {"_errors", "errors"},
	{"_milliseconds", "milliseconds"}, {"_nanoseconds", "nanoseconds"}, {"_seconds_total", "seconds"}, {"_seconds", "seconds"},
	{"_ms_total", "milliseconds"}, {"_ms", "milliseconds"}, {"_ns_total", "nanoseconds"}, {"_ns", "nanoseconds"},
	{"_kilobytes", "kilobytes"}, {"_megabytes", "megabytes"}, {"_gigabytes", "gigabytes"}, {"_bytes_total", "bytes"}, {"_bytes", "bytes"},
	{"_tokens_total", "tokens"}, {"_tokens", "tokens"},
	{"_requests_total", "requests"}, {"_requests", "requests"}, {"_reqs", "requests"}, {"request_success", "requests"},
	{"_blocks_total", "blocks"}, {"_block_count", "blocks"}, {"_blocks", "blocks"},
	{"_gb_s", "gb/s"}, {"_ratio", "ratio"}, {"_percent", "percent"}, {"_perc", "percent"},
	{"_celsius", "celsius"}, {"_joules", "joule"}, {"_watts", "watt"}, {"_total", "count"}, {"_count", "count"},
}

// unitOf is the unit of a metric: what its description says of its range, then of its unit, then what its name ends in; "" = unknown.
func unitOf(name, help string) string {
	switch {
	case ratioRange.MatchString(help):
		return "ratio"
	case hundred.MatchString(help):
		return "percent"
	}
	if m := tagged.FindStringSubmatch(help); m != nil && tags[m[1]] != "" {
		return tags[m[1]]
	}
	for _, w := range worded {
		if w.says.MatchString(help) {
			return w.unit
		}
	}
	name = strings.ToLower(name)
	for _, s := range suffixes {
		if strings.HasSuffix(name, s.suffix) {
			return s.unit
		}
	}
	if strings.Contains(name, "num_requests_") {
		return "requests"
	}
	return ""
}
