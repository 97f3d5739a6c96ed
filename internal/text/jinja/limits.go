package jinja

import (
	"fmt"
	"strings"
	"time"
)

// Limits of one rendering: a template cannot run for ever or use up the memory.
const (
	maxSteps  = 10_000_000 // default of Environment.MaxSteps
	maxBytes  = 128 << 20  // total of all operations and blocks
	maxTime   = time.Second
	maxOutput = 48 << 20 // bytes of text
	maxSource = 4 << 20  // bytes of a template
	maxCalls  = 200
	maxString = 32 << 20 // bytes that one operation may allocate
	maxItems  = 1 << 20  // items of a list
	maxEqual  = 1 << 22  // values that one comparison may visit
	itemBytes = 32       // bytes per item of a list
)

// The cost of processing a value, in steps.
const (
	bytesPerStep = 256
	itemsPerStep = 128
)

// limitError is the value of a panic where no error can be returned. Render converts it to an error.
type limitError struct{ error }

var (
	errString = fmt.Errorf("a string is larger than %d MiB", maxString>>20)
	errOutput = fmt.Errorf("the output is larger than %d MiB", maxOutput>>20)
	errItems  = fmt.Errorf("a list has more than %d items", maxItems)
	errEqual  = limitError{fmt.Errorf("a comparison visits more than %d values", maxEqual)}
)

// recoverLimit converts a panic of tooMuch to an error.
func recoverLimit(err *error) {
	switch p := recover().(type) {
	case nil:
	case limitError:
		*err = p.error
	default:
		panic(p)
	}
}

// step counts one operation.
func (r *run) step() error { return r.countSteps(1) }

// countSteps counts operations.
func (r *run) countSteps(n int) error { return budgetError(r.budget.Step(int64(n))) }

// budgetError words an error of the budget.
func budgetError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("the template %w", err)
}

// countMemory counts the memory of an operation's result. r is nil if a filter is called outside a rendering.
func (r *run) countMemory(v Value) error {
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
	return budgetError(r.budget.CountBytes(int64(n)))
}

// write appends a text to the output.
func (r *run) write(s string) error {
	if r.out.WriteString(s); r.out.Len() > maxOutput {
		return errOutput
	}
	return budgetError(r.budget.CountBytes(int64(len(s))))
}

// charge counts the work of processing v: one step, and more if it is large.
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
		return r.countSteps(1)
	}
	if _, ok := v.(string); !ok {
		if n > maxItems {
			return errItems
		}
		n /= itemsPerStep
	}
	return r.countSteps(n + 1)
}

// chargeAll counts the work of processing each item of l.
func (r *run) chargeAll(l []Value) error {
	if r == nil { // a filter called outside a rendering
		return nil
	}
	for _, v := range l {
		if err := r.charge(v); err != nil {
			return err
		}
	}
	return nil
}

// repeated is strings.Repeat with a limit.
func repeated(s string, n int64) (string, error) {
	if n <= 0 || s == "" {
		return "", nil
	}
	if n > maxString/int64(len(s)) {
		return "", errString
	}
	return strings.Repeat(s, int(n)), nil
}

// bounded returns a filter for a function that enlarges a text by at most a factor.
func bounded(factor int, f func(string) string) Filter {
	return func(v Value, _ *Call) (Value, error) {
		s := Str(v)
		if len(s) > maxString/factor {
			return nil, errString
		}
		return f(s), nil
	}
}

// joinWithin is strings.Join with a limit.
func joinWithin(parts []string, by string) (Value, error) {
	n := 0
	for _, s := range parts {
		if n += len(s) + len(by); n > maxString {
			return nil, errString
		}
	}
	return strings.Join(parts, by), nil
}

// replaceWithin is strings.Replace with a limit.
func replaceWithin(s, from, to string, n int) (Value, error) {
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
