package setting

import "strings"

// idleArguments are the arguments of perf_analyzer that do not affect a measurement: true if a value follows.
var idleArguments = map[string]bool{
	"-v": false, "--verbose": false, "--extra-verbose": false, "--verbose-csv": false, "--async": false, "-a": false, "--sync": false,
	"--collect-metrics": false, "--max-threads": true, "--log-frequency": true, "--metrics-url": true, "--metrics-interval": true,
	"-s": true, "--stability-percentage": true, "-r": true, "--max-trials": true, "--percentile": true,
}

// passthrough handles the arguments after a bare "--". GenAI-Perf passed them to perf_analyzer, which aiperf does not start. Arguments without effect on
// the measurement are ignored with a warning. Others are errors, which name the flag that does the same.
func (s *scanner) passthrough() {
	words := s.args
	s.args = nil
	refused, hints := otherArguments(words), []string(nil)
	if len(words) == 0 {
		return
	}
	if len(refused) == 0 {
		s.set.Warnings = append(s.set.Warnings, "-- "+strings.Join(words, " ")+" is ignored: aiperf does not start perf_analyzer, so nothing is passed on")
		return
	}
	for _, word := range refused {
		name, _, _ := strings.Cut(word, "=")
		hint := ""
		if _, _, known := s.table.Lookup(name); known {
			hint = "write " + name + " in front of the --"
		} else if write := s.table.peerOf(name); write != "" {
			hint = "for " + name + " write " + write
		}
		if hint != "" && isFlag(name) {
			hints = append(hints, "; "+hint)
		}
	}
	s.problems.addf("%s after \"--\": aiperf does not start perf_analyzer, so arguments are not passed on%s", strings.Join(words, " "), strings.Join(hints, ""))
}

// otherArguments returns the words that are neither idle arguments nor their values.
func otherArguments(words []string) (others []string) {
	for i := 0; i < len(words); i++ {
		name, _, joined := strings.Cut(words[i], "=")
		value, idle := idleArguments[name]
		switch {
		case !idle:
			others = append(others, words[i])
		case value && !joined:
			i++
		}
	}
	return others
}
