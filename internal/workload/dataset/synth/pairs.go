package synth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/base/rng"
)

// Pair is one pair of lengths in a sequence distribution, in tokens.
type Pair struct {
	ISL, OSL       int
	ISLDev, OSLDev float64 // standard deviations
	Percent        float64 // probability in percent; the pairs of a distribution sum to 100
}

// String formats the pair like in the text of a distribution.
func (p Pair) String() string {
	if p.ISLDev > 0 || p.OSLDev > 0 {
		return fmt.Sprintf("(%d|%g,%d|%g):%g%%", p.ISL, p.ISLDev, p.OSL, p.OSLDev, p.Percent)
	}
	return fmt.Sprintf("(%d,%d):%g%%", p.ISL, p.OSL, p.Percent)
}

const number = `(\d+(?:\.\d+)?|\.\d+)`

var (
	plainPair   = lazyregexp.New(`^(\d+)(?:\|` + number + `)?\s*,\s*(\d+)(?:\|` + number + `)?\s*:\s*` + number + `$`)
	bracketPair = lazyregexp.New(`^\(\s*(\d+)(?:\|` + number + `)?\s*,\s*(\d+)(?:\|` + number + `)?\s*\)\s*:\s*` + number)
)

// ParsePairs parses a sequence distribution: "ISL[|DEV],OSL[|DEV]:PERCENT;…", "[(ISL,OSL):PERCENT,…]" or JSON with a list "pairs".
func ParsePairs(text string) ([]Pair, error) {
	trimmed := strings.TrimSpace(text)
	if trimmed == "" {
		return nil, fmt.Errorf("Distribution string cannot be empty")
	}
	var pairs []Pair
	var err error
	switch {
	case strings.HasPrefix(trimmed, "{"):
		pairs, err = jsonPairs(trimmed)
	case strings.HasPrefix(trimmed, "[") && strings.HasSuffix(trimmed, "]"):
		pairs, err = bracketPairs(trimmed[1 : len(trimmed)-1])
	default:
		pairs, err = plainPairs(trimmed)
	}
	if err == nil {
		err = CheckPairs(pairs)
	}
	if err != nil {
		return nil, fmt.Errorf("Failed to parse distribution string '%s': %w", trimmed, err)
	}
	return pairs, nil
}

// CheckPairs returns an error if a distribution is invalid.
func CheckPairs(pairs []Pair) error {
	if len(pairs) == 0 {
		return fmt.Errorf("it must contain at least one ISL,OSL:PROB pair")
	}
	sum := 0.0
	for _, p := range pairs {
		switch {
		case p.ISL <= 0:
			return fmt.Errorf("Input sequence length must be positive, got %d", p.ISL)
		case p.OSL <= 0:
			return fmt.Errorf("Output sequence length must be positive, got %d", p.OSL)
		case !(p.Percent >= 0 && p.Percent <= 100):
			return fmt.Errorf("Probability must be in [0,100], got %g", p.Percent)
		case !(p.ISLDev >= 0):
			return fmt.Errorf("Input sequence length stddev must be non-negative, got %g", p.ISLDev)
		case !(p.OSLDev >= 0):
			return fmt.Errorf("Output sequence length stddev must be non-negative, got %g", p.OSLDev)
		}
		sum += p.Percent
	}
	if math.Abs(sum-100) <= 1e-6+1e-6*100 {
		return nil
	}
	hint := ""
	if math.Abs(sum-1) < 1e-4 {
		hint = "; they are percentages, not fractions"
	}
	return fmt.Errorf("Probabilities must sum to 100.0, got %.6f%s. Pairs: %v", sum, hint, pairs)
}

func plainPairs(text string) ([]Pair, error) {
	var pairs []Pair
	for item := range strings.SplitSeq(text, ";") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		p, err := matched(plainPair.FindStringSubmatch(item), item)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

// bracketPairs parses pairs in brackets, separated by a comma or a semicolon.
func bracketPairs(text string) ([]Pair, error) {
	var pairs []Pair
	for rest := strings.TrimSpace(text); rest != ""; {
		m := bracketPair.FindStringSubmatch(rest)
		p, err := matched(m, rest)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, p)
		rest = strings.TrimSpace(rest[len(m[0]):])
		if rest == "" {
			break
		}
		if rest[0] != ',' && rest[0] != ';' {
			return nil, badPair(rest)
		}
		rest = strings.TrimSpace(rest[1:])
	}
	return pairs, nil
}

func badPair(item string) error {
	return fmt.Errorf("Invalid pair format: '%s'. Expected 'ISL[|ISL_STDDEV],OSL[|OSL_STDDEV]:PROB'", item)
}

// matched converts the groups of a regular expression to a pair.
func matched(groups []string, item string) (Pair, error) {
	if groups == nil {
		return Pair{}, badPair(item)
	}
	var p Pair
	for i, whole := range []*int{0: &p.ISL, 2: &p.OSL} {
		if whole == nil {
			continue
		}
		n, err := strconv.Atoi(groups[i+1])
		if err != nil || n > math.MaxInt32 {
			return Pair{}, badPair(item)
		}
		*whole = n
	}
	for i, value := range []*float64{1: &p.ISLDev, 3: &p.OSLDev, 4: &p.Percent} {
		if value == nil || groups[i+1] == "" {
			continue
		}
		f, err := strconv.ParseFloat(groups[i+1], 64)
		if err != nil {
			return Pair{}, badPair(item)
		}
		*value = f
	}
	return p, nil
}

func jsonPairs(text string) ([]Pair, error) {
	var file struct {
		Pairs *[]map[string]json.RawMessage `json:"pairs"`
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		return nil, fmt.Errorf("Invalid JSON format: %w", err)
	}
	if file.Pairs == nil {
		return nil, fmt.Errorf("JSON format must contain 'pairs' key")
	}
	var pairs []Pair
	for i, row := range *file.Pairs {
		p, err := jsonPair(row)
		if err != nil {
			return nil, fmt.Errorf("Pair %d %w", i, err)
		}
		pairs = append(pairs, p)
	}
	return pairs, nil
}

func jsonPair(row map[string]json.RawMessage) (Pair, error) {
	var missing []string
	for _, key := range []string{"isl", "osl", "prob"} {
		if _, ok := row[key]; !ok {
			missing = append(missing, "'"+key+"'")
		}
	}
	if missing != nil {
		return Pair{}, fmt.Errorf("missing required keys: {%s}", strings.Join(missing, ", "))
	}
	var p Pair
	targets := map[string]any{"isl": &p.ISL, "osl": &p.OSL, "prob": &p.Percent, "isl_stddev": &p.ISLDev, "osl_stddev": &p.OSLDev}
	for key, raw := range row {
		target, ok := targets[key]
		if !ok {
			return Pair{}, fmt.Errorf("has an unknown key %q: the keys are isl, osl, prob, isl_stddev, osl_stddev", key)
		}
		if err := json.Unmarshal(raw, target); err != nil || bytes.Equal(raw, []byte("null")) {
			return Pair{}, fmt.Errorf("%s: must be a number (whole for isl and osl), got %s", key, raw)
		}
	}
	if p.ISL > math.MaxInt32 || p.OSL > math.MaxInt32 {
		return Pair{}, fmt.Errorf("has a length above the maximum of %d", math.MaxInt32)
	}
	return p, nil
}

// pairLengths draws pairs of lengths.
type pairLengths struct {
	pairs      []Pair
	cumulative []float64
	stream     *rng.Stream
}

func newPairLengths(pairs []Pair, root *rng.Root) *pairLengths {
	l := &pairLengths{pairs: pairs, stream: root.Stream("models.sequence.distribution")}
	sum := 0.0
	for _, p := range pairs {
		sum += p.Percent / 100
		l.cumulative = append(l.cumulative, sum)
	}
	return l
}

// draw returns the input and output length of the next turn.
func (l *pairLengths) draw() (isl, osl int) {
	u := l.stream.Float64()
	i, _ := slices.BinarySearchFunc(l.cumulative, u, func(c, u float64) int {
		if c > u {
			return 1
		}
		return -1
	})
	p := l.pairs[min(i, len(l.pairs)-1)]
	isl, osl = p.ISL, p.OSL
	if p.ISLDev > 0 {
		isl = l.stream.PositiveInt(float64(p.ISL), p.ISLDev)
	}
	if p.OSLDev > 0 {
		osl = l.stream.PositiveInt(float64(p.OSL), p.OSLDev)
	}
	return isl, osl
}
