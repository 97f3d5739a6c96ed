package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"aiperf/internal/config"
)

// Numbers of the grammar (spec: synthetic, section 6.1): NUM has a point or not, INT has none; no signs, no exponents.
const (
	intText = `[0-9]+`
	numText = `(?:[0-9]+\.[0-9]+|\.[0-9]+|[0-9]+)`
	side    = `(` + intText + `)(?:\|(` + numText + `))?`
	sides   = side + `\s*,\s*` + side
)

var (
	pairForm    = regexp.MustCompile(`^\s*` + sides + `\s*:\s*(` + numText + `)\s*$`)
	bracketForm = regexp.MustCompile(`^\s*\(\s*` + sides + `\s*\)\s*:\s*(` + numText + `)\s*(?:[,;]|$)`)
)

// parseSeqDist reads --seq-dist in any of its three forms.
func parseSeqDist(text string) ([]config.SequencePair, error) {
	s := strings.TrimSpace(text)
	var pairs []config.SequencePair
	var err error
	switch {
	case s == "":
		return nil, fmt.Errorf("the distribution is empty; write ISL,OSL:PERCENT;…")
	case s[0] == '{':
		pairs, err = seqObject(s)
	case s[0] == '[' && s[len(s)-1] == ']':
		pairs, err = seqBracket(s[1 : len(s)-1])
	default:
		pairs, err = seqSemicolon(s)
	}
	if err != nil {
		return nil, fmt.Errorf("%q: %w", text, err)
	}
	return pairs, checkPairs(text, pairs)
}

func seqSemicolon(s string) ([]config.SequencePair, error) {
	var pairs []config.SequencePair
	for item := range strings.SplitSeq(s, ";") {
		if strings.TrimSpace(item) == "" {
			continue
		}
		m := pairForm.FindStringSubmatch(item)
		if m == nil {
			return nil, fmt.Errorf("%q is not ISL[|STDDEV],OSL[|STDDEV]:PERCENT", strings.TrimSpace(item))
		}
		p, err := seqPair(m[1:])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func seqBracket(s string) ([]config.SequencePair, error) {
	var pairs []config.SequencePair
	for strings.TrimSpace(s) != "" {
		m := bracketForm.FindStringSubmatch(s)
		if m == nil {
			return nil, fmt.Errorf("%q does not begin with (ISL[|STDDEV],OSL[|STDDEV]):PERCENT", strings.TrimSpace(s))
		}
		p, err := seqPair(m[1:])
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
		s = s[len(m[0]):]
	}
	return pairs, nil
}

// seqPair turns isl, its spread, osl, its spread and the share into a pair; a missing spread is 0.
func seqPair(m []string) (config.SequencePair, error) {
	var v [5]float64
	for i, text := range m {
		if text == "" {
			continue
		}
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return config.SequencePair{}, fmt.Errorf("%s is too large", text)
		}
		v[i] = f
	}
	return config.SequencePair{ISL: *config.Normal(v[0], v[1]), OSL: *config.Normal(v[2], v[3]), Probability: v[4]}, nil
}

func seqObject(s string) ([]config.SequencePair, error) {
	type pair struct {
		ISL  *int64   `json:"isl"`
		OSL  *int64   `json:"osl"`
		Prob *float64 `json:"prob"`
		ISLD float64  `json:"isl_stddev"`
		OSLD float64  `json:"osl_stddev"`
	}
	var body struct {
		Pairs []pair `json:"pairs"`
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(s)))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&body); err != nil {
		return nil, fmt.Errorf("it is not {\"pairs\": [{\"isl\": …, \"osl\": …, \"prob\": …}]}: %w", err)
	}
	if dec.More() {
		return nil, fmt.Errorf("text after the JSON object")
	}
	var pairs []config.SequencePair
	for i, p := range body.Pairs {
		if p.ISL == nil || p.OSL == nil || p.Prob == nil {
			return nil, fmt.Errorf("pair %d needs isl, osl and prob", i)
		}
		if p.ISLD < 0 || p.OSLD < 0 {
			return nil, fmt.Errorf("pair %d has a negative stddev", i)
		}
		pairs = append(pairs, config.SequencePair{
			ISL: *config.Normal(float64(*p.ISL), p.ISLD), OSL: *config.Normal(float64(*p.OSL), p.OSLD), Probability: *p.Prob,
		})
	}
	return pairs, nil
}

// checkPairs wants positive lengths and percentages that sum to 100.
func checkPairs(text string, pairs []config.SequencePair) error {
	if len(pairs) == 0 {
		return fmt.Errorf("%q holds no pair", text)
	}
	sum := 0.0
	for i, p := range pairs {
		if *p.ISL.Mean < 1 || *p.OSL.Mean < 1 {
			return fmt.Errorf("%q: lengths of pair %d must be at least 1", text, i)
		}
		if p.Probability < 0 || p.Probability > 100 {
			return fmt.Errorf("%q: the share of pair %d must be 0 to 100 percent, not %g", text, i, p.Probability)
		}
		sum += p.Probability
	}
	if math.Abs(sum-100) > 1.01e-4 {
		hint := ""
		if math.Abs(sum-1) < 1e-4 {
			hint = "; shares are in percent, not fractions"
		}
		return fmt.Errorf("%q: the shares sum to %g percent, not 100%s", text, sum, hint)
	}
	return nil
}
