package grade

import (
	"context"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"sync"
	"time"

	"aiperf/internal/base/lazyregexp"
	"aiperf/internal/workload/accuracy/pystring"
	"aiperf/internal/workload/accuracy/sandbox"
)

const (
	testsTogether = 8
	// codeLimit is the time limit for all tests of one program: several hundred of them, eight at a time.
	codeLimit = 10 * time.Minute
	// testCases replaces the gold answer in results, because the tests are far too long to show.
	testCases = "<lcb test cases>"
)

func canRunCode(context.Context) error { return sandbox.Check() }

// codeExecution runs the program of an answer against the tests of its problem. All must pass. (The scoring of LiveCodeBench in lighteval.)
func codeExecution(ctx context.Context, answer, gold string) Result {
	code := fencedCode(answer)
	tests, function, err := readTests(gold)
	r := Result{Unparsed: true, Extracted: code, Expected: testCases}
	switch {
	case err != nil:
		r.Explanation = "the tests cannot be read: " + err.Error()
		return r
	case code == "":
		r.Explanation = "the answer has no code block (```)"
		return r
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	var mu sync.Mutex
	failed, why := 0, ""
	var broken error // an error of this machine, not of the program
	var running sync.WaitGroup
	free := make(chan struct{}, testsTogether)
	for i, t := range tests {
		free <- struct{}{}
		if ctx.Err() != nil {
			break // a test has failed
		}
		running.Go(func() {
			defer func() { <-free }()
			fault, err := t.run(ctx, code, function)
			mu.Lock()
			defer mu.Unlock()
			if err != nil && broken == nil {
				broken = err
				cancel()
			}
			if fault != "" && failed == 0 {
				failed, why = i+1, fault
				cancel()
			}
		})
	}
	running.Wait()
	if broken != nil {
		r.Explanation = broken.Error()
		return r
	}
	r.Unparsed = false
	if failed > 0 {
		r.Explanation = fmt.Sprintf("test %d of %d failed: %s", failed, len(tests), why)
		return r
	}
	r.Passed, r.Confidence, r.Explanation = true, 1, fmt.Sprintf("all %d tests passed", len(tests))
	return r
}

// fencedCode returns the text between the last two lines with three backticks.
func fencedCode(answer string) string {
	const fence = "```"
	lines := strings.Split(answer, "\n")
	var at []int
	for i, l := range lines {
		if strings.Contains(l, fence) {
			at = append(at, i)
		}
	}
	if len(at) < 2 {
		return ""
	}
	return strings.Join(lines[at[len(at)-2]+1:at[len(at)-1]], "\n")
}

// run runs a program on the test and returns what is wrong; "" = it passed. An error is an error of this machine.
func (t *test) run(ctx context.Context, code, function string) (fault string, err error) {
	r, err := sandbox.Run(ctx, sandbox.Job{Code: code, Input: t.input, Function: function})
	switch {
	case err != nil:
		return "", err
	case !r.Ended:
		return lastLine(r.Fault), nil
	case function != "" && !sameValue(r.Returned, t.output):
		return "the function returned " + quotable(r.Returned) + ", not " + quotable(t.output), nil
	case function == "" && !sameOutput(r.Output, t.output):
		return "it wrote " + quotable(r.Output) + ", not " + quotable(t.output), nil
	}
	return "", nil
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// sameOutput compares line by line, ignoring white space at both ends. Lines of numbers are compared by value.
func sameOutput(got, want string) bool {
	lines := func(s string) []string { return strings.Split(pystring.Strip(s), "\n") }
	return slices.EqualFunc(lines(got), lines(want), func(a, b string) bool {
		if a, b = pystring.Strip(a), pystring.Strip(b); a == b {
			return true
		}
		x, okX := decimalLine(a)
		y, okY := decimalLine(b)
		return okX && okY && slices.EqualFunc(x, y, func(u, v *big.Rat) bool { return u.Cmp(v) == 0 })
	})
}

var decimalNumber = lazyregexp.New(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?$`)

// decimalLine parses the numbers of a line.
func decimalLine(line string) ([]*big.Rat, bool) {
	var list []*big.Rat
	for _, word := range strings.FieldsFunc(line, pystring.Space) {
		if !decimalNumber.MatchString(word) {
			return nil, false
		}
		mantissa, exponent := word, ""
		if i := strings.IndexAny(word, "eE"); i >= 0 {
			mantissa, exponent = word[:i], word[i:]
		}
		v, ok := new(big.Rat).SetString(strings.TrimPrefix(strings.TrimSuffix(mantissa, "."), "+") + exponent)
		if !ok {
			return nil, false
		}
		list = append(list, v)
	}
	return list, true
}
