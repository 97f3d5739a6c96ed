package jinja

import (
	"errors"
	"fmt"
	"strings"
)

// Limits of one rendering: a template cannot run for ever, nor fill the memory.
const (
	maxSteps  = 10_000_000 // unless Environment.MaxSteps says otherwise
	maxOutput = 256 << 20
	maxCalls  = 200
	maxString = 64 << 20       // bytes that one operation may build
	maxItems  = maxString / 16 // items of a list
	maxEqual  = 1 << 22        // values that one comparison may look at
)

// What a value costs to handle, in steps.
const (
	bytesPerStep = 256
	itemsPerStep = 128
)

// tooMuch is panicked with where no error can be returned; Render turns it into one.
type tooMuch struct{ error }

var (
	errSteps  = errors.New("the template runs too long or writes too much")
	errString = fmt.Errorf("a string beyond %d MiB", maxString>>20)
	errItems  = fmt.Errorf("a list beyond %d million items", maxItems/1_000_000)
	errEqual  = tooMuch{fmt.Errorf("a comparison of more than %d values", maxEqual)}
)

// catch turns a panic of tooMuch into an error.
func catch(err *error) {
	switch p := recover().(type) {
	case nil:
	case tooMuch:
		*err = p.error
	default:
		panic(p)
	}
}

// step counts work.
func (r *run) step() error {
	if r.steps++; r.steps > r.maxSteps || r.out.Len() > maxOutput {
		return errSteps
	}
	return nil
}

// charge counts the work of handling v: a step, and more for what is large.
func (r *run) charge(v Value) error {
	n := 0
	switch x := v.(type) {
	case string:
		if n = len(x) / bytesPerStep; len(x) > maxString {
			return errString
		}
	case *List:
		n = len(x.Items)
	case Tuple:
		n = len(x)
	case *Dict:
		n = len(x.keys)
	}
	if _, ok := v.(string); !ok {
		if n > maxItems {
			return errItems
		}
		n /= itemsPerStep
	}
	r.steps += n
	return r.step()
}

// chargeAll counts the work of handling each of l.
func (r *run) chargeAll(l []Value) error {
	if r == nil { // a filter called from outside of a rendering
		return nil
	}
	for _, v := range l {
		if err := r.charge(v); err != nil {
			return err
		}
	}
	return nil
}

// joined is strings.Join with a bound.
func joined(parts []string, by string) (Value, error) {
	n := 0
	for _, s := range parts {
		if n += len(s) + len(by); n > maxString {
			return nil, errString
		}
	}
	return strings.Join(parts, by), nil
}

// replaced is strings.Replace with a bound.
func replaced(s, from, to string, n int) (Value, error) {
	if more := len(to) - len(from); more > 0 {
		k := strings.Count(s, from)
		if n >= 0 {
			k = min(k, n)
		}
		if len(s)+k*more > maxString {
			return nil, errString
		}
	}
	return strings.Replace(s, from, to, n), nil
}
