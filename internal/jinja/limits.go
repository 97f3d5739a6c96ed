package jinja

import (
	"fmt"
	"strings"
	"time"
)

// Limits of one rendering: a template cannot run for ever, nor fill the memory.
const (
	maxSteps  = 10_000_000 // unless Environment.MaxSteps says otherwise
	maxBytes  = 128 << 20  // that all operations build and all blocks write
	maxTime   = time.Second
	maxOutput = 48 << 20 // bytes of text
	maxSource = 4 << 20  // bytes of a template
	maxCalls  = 200
	maxString = 32 << 20 // bytes that one operation may build
	maxItems  = 1 << 20  // items of a list
	maxEqual  = 1 << 22  // values that one comparison may look at
	itemBytes = 32       // that an item of a list takes
)

// What a value costs to handle, in steps.
const (
	bytesPerStep = 256
	itemsPerStep = 128
)

// tooMuch is panicked with where no error can be returned; Render turns it into one.
type tooMuch struct{ error }

var (
	errString = fmt.Errorf("a string beyond %d MiB", maxString>>20)
	errOutput = fmt.Errorf("a text beyond %d MiB", maxOutput>>20)
	errItems  = fmt.Errorf("a list beyond %d items", maxItems)
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

// step pays for one operation.
func (r *run) step() error { return r.pay(1) }

// pay pays for operations.
func (r *run) pay(n int) error { return tooHeavy(r.budget.Step(int64(n))) }

// tooHeavy words an error of the budget.
func tooHeavy(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the template %w", err)
}

// built pays for the memory of what an operation made. r is nil for a filter that is called from outside of a rendering.
func (r *run) built(v Value) error {
	var n int
	switch x := v.(type) {
	case string:
		n = len(x)
	case Markup:
		n = len(x)
	case *List:
		n = len(x.Items) * itemBytes
	case Tuple:
		n = len(x) * itemBytes
	case *Dict:
		n = len(x.keys) * 2 * itemBytes
	}
	if r == nil || n == 0 {
		return nil
	}
	return tooHeavy(r.budget.Hold(int64(n)))
}

// write prints a text.
func (r *run) write(s string) error {
	if r.out.WriteString(s); r.out.Len() > maxOutput {
		return errOutput
	}
	return tooHeavy(r.budget.Hold(int64(len(s))))
}

// charge counts the work of handling v: a step, and more for what is large.
func (r *run) charge(v Value) error {
	var n int
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
	default:
		return r.pay(1)
	}
	if _, ok := v.(string); !ok {
		if n > maxItems {
			return errItems
		}
		n /= itemsPerStep
	}
	return r.pay(n + 1)
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

// repeated is strings.Repeat with a bound.
func repeated(s string, n int64) (string, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > maxString/int64(len(s)) {
		return "", errString
	}
	return strings.Repeat(s, int(n)), nil
}

// bounded makes a filter of a function that makes a text grow, at the most by a factor.
func bounded(factor int, f func(string) string) Filter {
	return func(v Value, _ *Call) (Value, error) {
		s := Str(v)
		if len(s) > maxString/factor {
			return nil, errString
		}
		return f(s), nil
	}
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
