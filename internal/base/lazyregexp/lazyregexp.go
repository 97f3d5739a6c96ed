// Package lazyregexp defines regular expressions for package variables. They are compiled at their first use: compiling a hundred of them took 3 ms
// and 1 MB at every start.
package lazyregexp

import (
	"regexp"
	"sync"
)

// Regexp is a regular expression that is compiled at its first use. Its methods match those of regexp.Regexp.
type Regexp struct {
	expr string
	once sync.Once
	re   *regexp.Regexp
}

// New returns the regular expression of a constant pattern. An invalid pattern panics at its first use. The compiler turns a package variable with New
// into plain data: nothing runs at the start. sync.OnceValue would leave three functions for every expression.
func New(expr string) *Regexp { return &Regexp{expr: expr} }

func (r *Regexp) compiled() *regexp.Regexp {
	r.once.Do(func() { r.re = regexp.MustCompile(r.expr) })
	return r.re
}

// String returns the pattern.
func (r *Regexp) String() string { return r.compiled().String() }

// MatchString calls the method of regexp.Regexp.
func (r *Regexp) MatchString(s string) bool { return r.compiled().MatchString(s) }

// FindString calls the method of regexp.Regexp.
func (r *Regexp) FindString(s string) string { return r.compiled().FindString(s) }

// FindStringIndex calls the method of regexp.Regexp.
func (r *Regexp) FindStringIndex(s string) []int { return r.compiled().FindStringIndex(s) }

// FindStringSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatch(s string) []string { return r.compiled().FindStringSubmatch(s) }

// FindStringSubmatchIndex calls the method of regexp.Regexp.
func (r *Regexp) FindStringSubmatchIndex(s string) []int {
	return r.compiled().FindStringSubmatchIndex(s)
}

// FindAllString calls the method of regexp.Regexp.
func (r *Regexp) FindAllString(s string, n int) []string { return r.compiled().FindAllString(s, n) }

// FindAllStringIndex calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringIndex(s, n)
}

// FindAllStringSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatch(s string, n int) [][]string {
	return r.compiled().FindAllStringSubmatch(s, n)
}

// FindAllStringSubmatchIndex calls the method of regexp.Regexp.
func (r *Regexp) FindAllStringSubmatchIndex(s string, n int) [][]int {
	return r.compiled().FindAllStringSubmatchIndex(s, n)
}

// ReplaceAllString calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAllString(s, by string) string { return r.compiled().ReplaceAllString(s, by) }

// ReplaceAllStringFunc calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAllStringFunc(s string, by func(string) string) string {
	return r.compiled().ReplaceAllStringFunc(s, by)
}

// ReplaceAllFunc calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAllFunc(b []byte, by func([]byte) []byte) []byte {
	return r.compiled().ReplaceAllFunc(b, by)
}

// FindSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindSubmatch(b []byte) [][]byte { return r.compiled().FindSubmatch(b) }

// FindAllSubmatch calls the method of regexp.Regexp.
func (r *Regexp) FindAllSubmatch(b []byte, n int) [][][]byte {
	return r.compiled().FindAllSubmatch(b, n)
}

// Split calls the method of regexp.Regexp.
func (r *Regexp) Split(s string, n int) []string { return r.compiled().Split(s, n) }

// ReplaceAll calls the method of regexp.Regexp.
func (r *Regexp) ReplaceAll(b, by []byte) []byte { return r.compiled().ReplaceAll(b, by) }
