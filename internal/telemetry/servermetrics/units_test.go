package servermetrics

import "testing"

// checkUnits compares the units of metrics (name, description, unit).
func checkUnits(t *testing.T, cases [][3]string) {
	t.Helper()
	for _, c := range cases {
		if got := unitOf(c[0], c[1]); got != c[2] {
			t.Errorf("%s, %q: %q, want %q", c[0], c[1], got, c[2])
		}
	}
}

func TestUnits(t *testing.T) {
	checkUnits(t, [][3]string{
		{"vllm:kv_cache_usage_perc", "KV-cache usage. 1 means 100 percent usage.", "ratio"}, {"x_percent", "Hit rate (0.0-1.0)", "ratio"}, {"x", "Load, range 0-100", "percent"},
		{"x", "Takes 0 to 10 s", ""}, {"sglang:gen_throughput", "The generation throughput (token/s).", "tokens/s"}, {"lat", "Latency in milliseconds.", "milliseconds"},
		{"x", "Power draw (in W)", "watt"}, {"x", "Energy (in mJ)", "millijoule"}, {"vllm:request_success", "Count of requests.", "requests"}, {"vllm:num_requests_running", "", "requests"},
		{"a_tokens_total", "", "tokens"}, {"a_total", "", "count"}, {"a", "", ""}, {"a_milliseconds", "", "milliseconds"}, {"a_error_count_total", "", "errors"},
	})
}

// TestUnitsOfScales: a scale beats the unit of the description and that of the name.
func TestUnitsOfScales(t *testing.T) {
	for _, text := range []string{"0-1", "0..1", "0.0 to 1.0", "Hit rate, 0–1.", "between 0 and 1", "from 0 to 1, in seconds", "[0.0—1.0]", "1 is 100%", "1.0 means 100 %", "Use (1 = 100 percent)"} {
		checkUnits(t, [][3]string{{"x", text, "ratio"}, {"x_perc", text, "ratio"}, {"x_bytes_total", text, "ratio"}})
	}
	for _, text := range []string{"0-100", "0..100", "0...100", "0 to 100 (in W)", "Load 0%-100%.", "from 0 percent to 100 percent", "(0.0–100.0)", "between 0 and 100", "0-1000, then 0-100"} {
		checkUnits(t, [][3]string{{"x", text, "percent"}, {"x_ratio", text, "percent"}})
	}
	for _, text := range []string{"0-10", "10-100", "0-1000", "0.1-1", "0-1%", "0 1", "0 and 1", "0, 100", "0.1.", "p0-1", "0-1x", "0 to", "0", "0-", "0..", "1 means 100", "1 means", "1", "100%", "2 means 100%", "0/1", "١ means 100%"} {
		checkUnits(t, [][3]string{{"x", text, ""}, {"x_bytes", text, "bytes"}})
	}
}

// TestUnitsOfDescriptions: a unit that is stated beats that of the name.
func TestUnitsOfDescriptions(t *testing.T) {
	for text, want := range map[string]string{
		"seconds": "seconds", "Seconds": "seconds", "milliseconds": "milliseconds", "ms": "milliseconds", "MS": "milliseconds", "nanoseconds": "nanoseconds", "ns": "nanoseconds",
		"bytes": "bytes", "GB/s": "gb/s", "MB/s": "mb/s", "tokens/s": "tokens/s", "token/s": "tokens/s", "tokens/sec": "tokens/s", "requests/s": "requests/s",
		"requests per second": "requests/s", "tokens per second": "tokens/s", "bytes per second": "bytes/s", "GB per second": "gb/s",
	} {
		checkUnits(t, [][3]string{
			{"x", "What it takes in " + text, want}, {"x", "What it takes in " + text + ", all in all.", want}, {"x_blocks", "What it takes (" + text + ").", want},
			{"x", "What it takes [" + text + "]", want}, {"x", "(in " + text + ")", want}, {"x", "time in queue in " + text, want},
		})
	}
	for symbol, want := range map[string]string{
		"s": "seconds", "us": "microseconds", "µs": "microseconds", "B": "bytes", "KB": "kilobytes", "MB": "megabytes", "GB": "gigabytes", "MiB": "megabytes", "GiB": "gigabytes",
		"MHz": "megahertz", "GHz": "gigahertz", "mW": "milliwatt", "W": "watt", "J": "joule", "mJ": "millijoule", "MJ": "megajoule", "C": "celsius", "°C": "celsius", "%": "percent", "percent": "percent",
	} {
		checkUnits(t, [][3]string{{"x_count", "Measured (in " + symbol + ")", want}, {"x_count", "Measured in " + symbol, "count"}, {"x_count", "Measured (" + symbol + ")", "count"}})
	}
	checkUnits(t, [][3]string{
		{"x", "All of it in tokens", "tokens"}, {"x", "All of it (in tokens)", "tokens"}, {"x", "All of it (tokens)", ""}, {"x", "All requests (requests)", ""}, {"x", "All in requests", ""},
		{"x", "in-seconds", ""}, {"x", "within seconds", ""}, {"x", "seconds", ""}, {"x", "some (seconds or so)", ""}, {"x", "request(s)", ""}, {"x", "in", ""}, {"x", "(in", ""}, {"x", "(", ""}, {"x", "()", ""},
		{"x", "(in mj)", ""}, {"x", "(in W or so)", ""}, {"x", "in seconds/token", ""}, {"x", "in seconds per second", ""}, {"x", "in seconds per token", "seconds"}, {"x", "in seconds per", "seconds"},
		{"x", "in bytes/", "bytes"}, {"x", "in blocks/s", ""}, {"x_seconds", "in \xff\xfe(", "seconds"}, {"x_seconds", "in ms", "milliseconds"},
	})
}

// TestUnitsOfNames: every ending, after a word and after a namespace.
func TestUnitsOfNames(t *testing.T) {
	for ending, want := range map[string]string{
		"seconds": "seconds", "seconds_total": "seconds", "milliseconds": "milliseconds", "ms": "milliseconds", "ms_total": "milliseconds",
		"nanoseconds": "nanoseconds", "ns": "nanoseconds", "ns_total": "nanoseconds", "bytes": "bytes", "bytes_total": "bytes",
		"kilobytes": "kilobytes", "megabytes": "megabytes", "gigabytes": "gigabytes", "tokens": "tokens", "tokens_total": "tokens",
		"requests": "requests", "requests_total": "requests", "reqs": "requests", "request_success": "requests", "request_success_total": "requests",
		"errors": "errors", "errors_total": "errors", "error_count": "errors", "error_count_total": "errors",
		"blocks": "blocks", "blocks_total": "blocks", "block_count": "blocks", "gb_s": "gb/s", "ratio": "ratio", "percent": "percent", "perc": "percent",
		"celsius": "celsius", "joules": "joule", "joules_total": "joule", "watts": "watt", "total": "count", "count": "count", "token_count": "count", "hits_total": "count",
		"num_requests_waiting": "requests", "num_requests_by_state": "requests", "num_requests_waiting_seconds": "seconds",
	} {
		checkUnits(t, [][3]string{{"a_" + ending, "", want}, {"srv:a_b_" + ending, "No unit here.", want}, {"srv:" + ending, "", want}})
	}
	for _, name := range []string{"", "_", "a", "seconds", "total", "count", "a_second", "a_byteseconds", "aseconds", "seconds_a", "total_a", "requests_running", "a_s", "a_gb", "x_info", "num_request_x"} {
		checkUnits(t, [][3]string{{name, "", ""}})
	}
}
