package setting

import (
	"fmt"
	"math/big"
	"strings"

	"aiperf/internal/base/suggest"
)

// flagValues holds the values of a flag, in the slice of its kind.
type flagValues struct {
	ints   []int64
	floats []float64
	texts  []string
	bools  bool
	// Repeated is true if a sweep axis had duplicate values, which were dropped.
	Repeated bool
}

// convert checks the raw values of one flag and stores them by type.
func (g *GivenFlag) convert(problems *Problems) {
	f := g.Row
	if f.Kind == Bool {
		for _, v := range g.Values {
			g.bools = v == "true"
		}
		return
	}
	values := g.Values
	if f.Tokens {
		values = []string{strings.Join(values, " ")}
	}
	for _, item := range g.items(values, problems) {
		if err := g.add(item); err != nil {
			problems.addf("%s: %q %v", g.spelled(), item, err)
		}
	}
}

// items splits raw values into the items to check.
func (g *GivenFlag) items(values []string, problems *Problems) []string {
	f := g.Row
	var items []string
	for _, v := range values {
		switch {
		case f.Sweep || f.List && !f.Whole:
			n := len(items)
			for _, piece := range f.split(v) {
				if piece = strings.TrimSpace(piece); piece != "" {
					items = append(items, piece)
				}
			}
			if len(items) == n {
				problems.addf("%s: %q holds no value%s", g.spelled(), v, f.expected())
			}
		case strings.TrimSpace(v) == "" && !f.Empty:
			problems.addf("%s: the value is empty%s", g.spelled(), f.expected())
		case f.Kind == Text || f.Kind == Path:
			items = append(items, v)
		default:
			items = append(items, strings.TrimSpace(v))
		}
	}
	return items
}

// split splits one token into values.
func (f *Row) split(token string) []string {
	if f.Split != nil {
		return f.Split(token)
	}
	return strings.Split(token, ",")
}

func (g *GivenFlag) add(item string) error {
	f := g.Row
	switch f.Kind {
	case Int:
		if f.Big {
			return g.addBig(item)
		}
		n, err := f.parseInt(item)
		if err == nil {
			err = f.bounds(float64(n))
		}
		if err != nil {
			return err
		}
		if !g.repeated(func(i int) bool { return g.ints[i] == n }, len(g.ints)) {
			g.ints = append(g.ints, n)
		}
	case Float:
		v, err := f.parseFloat(item)
		if err == nil {
			err = f.bounds(v)
		}
		if err != nil {
			return err
		}
		if !g.repeated(func(i int) bool { return g.floats[i] == v }, len(g.floats)) {
			g.floats = append(g.floats, v)
		}
	case Enum:
		c, ok := Choice(item, f.Values())
		if !ok {
			return unknownChoice(item, f.Values())
		}
		g.texts = append(g.texts, c)
	default:
		g.texts = append(g.texts, item)
	}
	return nil
}

// addBig stores an integer of any size as its digits.
func (g *GivenFlag) addBig(item string) error {
	digits, err := plain(item)
	if err != nil {
		return err
	}
	if len(digits) > maxDigits {
		return fmt.Errorf("has more than %d digits", maxDigits)
	}
	n, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		return fmt.Errorf("is not an integer")
	}
	approximate, _ := new(big.Float).SetInt(n).Float64()
	if err := g.Row.bounds(approximate); err != nil {
		return err
	}
	g.texts = append(g.texts, n.String())
	return nil
}

// maxDigits is the maximum number of digits of an integer. Python reads no longer ones.
const maxDigits = 4300

// repeated reports whether a sweep axis has the value already.
func (g *GivenFlag) repeated(same func(int) bool, n int) bool {
	if !g.Row.Sweep {
		return false
	}
	for i := range n {
		if same(i) {
			g.Repeated = true
			return true
		}
	}
	return false
}

func (f *Row) bounds(v float64) error {
	if v == 0 && f.Zero {
		return nil
	}
	return CheckBounds(v, f.Bounds)
}

func unknownChoice(word string, choices []string) error {
	if near := suggest.Name(word, choices); near != "" {
		return fmt.Errorf("is unknown; did you mean %s? Values: %s", near, strings.Join(choices, ", "))
	}
	return fmt.Errorf("is not one of %s", strings.Join(choices, ", "))
}

// Value returns the first value as int64, float64, string or bool, by the kind of the flag; for a list, all values.
func (g *GivenFlag) Value() any {
	switch f := g.Row; {
	case f.Kind == Bool:
		return g.bools
	case f.List && len(g.ints) > 0:
		return g.ints
	case f.List && len(g.floats) > 0:
		return g.floats
	case len(g.ints) > 0:
		return g.ints[0]
	case len(g.floats) > 0:
		return g.floats[0]
	case f.List:
		return g.texts
	case len(g.texts) > 0:
		return g.texts[0]
	}
	return nil
}

// Numbers returns the numbers of a flag as int64 or float64, several if it is swept.
func (g *GivenFlag) Numbers() []any {
	var all []any
	for _, n := range g.ints {
		all = append(all, n)
	}
	for _, f := range g.floats {
		all = append(all, f)
	}
	return all
}

// Get returns a flag by the first name of its row; nil if it was not given.
func (s *CommandLine) Get(name string) *GivenFlag { return s.given[name] }

// All returns the given flags, in order.
func (s *CommandLine) All() []*GivenFlag { return s.order }

// Has reports whether a flag was given. A number counts as not given if it is 0 and 0 means off.
func (s *CommandLine) Has(name string) bool {
	g := s.given[name]
	return g != nil && !g.isFalse()
}

func (g *GivenFlag) isFalse() bool {
	f := g.Row
	if !f.Zero {
		return false
	}
	return len(g.ints) == 1 && g.ints[0] == 0 || len(g.floats) == 1 && g.floats[0] == 0
}

// Spelled returns the user's spelling of a flag; its first name if it was not given.
func (s *CommandLine) Spelled(name string) string {
	if g := s.given[name]; g != nil {
		return g.spelled()
	}
	return name
}

// True returns the value of a boolean flag; def if it was not given.
func (s *CommandLine) True(name string, def bool) bool {
	if g := s.given[name]; g != nil && len(g.Values) > 0 {
		return g.bools
	}
	return def
}

// Ints returns the integers of a flag; none if it is off or was not given.
func (s *CommandLine) Ints(name string) []int64 {
	if !s.Has(name) {
		return nil
	}
	return s.given[name].ints
}

// Floats returns the numbers of a flag; none if it is off or was not given.
func (s *CommandLine) Floats(name string) []float64 {
	if !s.Has(name) {
		return nil
	}
	return s.given[name].floats
}

// Texts returns the texts of a flag; none if it was not given.
func (s *CommandLine) Texts(name string) []string {
	if g := s.given[name]; g != nil {
		return g.texts
	}
	return nil
}

// Text returns the text of a flag; def if it was not given.
func (s *CommandLine) Text(name, def string) string {
	if t := s.Texts(name); len(t) > 0 {
		return t[0]
	}
	return def
}

// Parse reads the value of a row from one text, as in an environment variable. It returns int64, float64, string or bool; []string for a list.
func (f *Row) Parse(text string) (any, error) {
	switch {
	case f.Kind == Bool:
		return ParseBool(text)
	case f.List:
		return strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(` ,"[]`, r) }), nil
	}
	g := &GivenFlag{Row: f}
	if err := g.add(strings.TrimSpace(text)); err != nil {
		return nil, err
	}
	return g.Value(), nil
}
