package setting

import "strings"

// passed are arguments that GenAI-Perf passed on to its load generator, with what says the same here; a name that ends with * stands for all
// that begin so.
var passed = [][2]string{
	{"--max-threads", "--workers-max, if anything"},
	{"--request-distribution", "--arrival-pattern poisson (or constant)"},
	{"--request-intervals", "times in an input file (--fixed-schedule) or --request-rate-series"},
	{"--request-rate-range", "--request-rate with a list of rates"},
	{"--concurrency-range", "--concurrency with a list"},
	{"--periodic-concurrency-range", "--concurrency-ramp-duration"},
	{"-l", "--search-sla, or aiperf find-capacity --slo"},
	{"--latency-threshold", "--search-sla, or aiperf find-capacity --slo"},
	{"--binary-search", "--search-sla, or aiperf find-capacity --slo"},
	{"--ssl-*", "--tls-ca-file, --tls-cert-file, --tls-key-file, --tls-insecure"},
	{"-H", "--header"},
	{"--request-count", "--request-count in front of the --"},
	{"--warmup-request-count", "--warmup-request-count in front of the --"},
	{"--measurement-interval", "--benchmark-duration"},
	{"-p", "--benchmark-duration"},
}

// passedHint says what stands for the arguments after a bare "--" that are known, empty when none is.
func passedHint(words []string) string {
	var hints []string
	said := map[string]bool{}
	for _, word := range words {
		name, _, _ := strings.Cut(word, "=")
		for _, one := range passed {
			stem, all := strings.CutSuffix(one[0], "*")
			if (name == stem || all && strings.HasPrefix(name, stem)) && !said[one[1]] {
				said[one[1]] = true
				hints = append(hints, "for "+name+" write "+one[1])
			}
		}
	}
	if len(hints) == 0 {
		return ""
	}
	return "; " + strings.Join(hints, "; ")
}
