package config

import (
	"fmt"
	"strconv"
	"strings"
)

// Limits of what is generated. Each is many times what a benchmark needs; beyond them a run would only fill the memory or the disk.
const (
	maxPrompt    = 10_000_000     // tokens of one text: many times the longest context of any model
	maxDataset   = 20_000_000_000 // tokens of all prompts, which inputs.json lists: some 100 GB
	maxPool      = 200_000_000    // tokens of all prefixes of a pool, which stay in memory: some 1 GB
	maxTurns     = 100_000        // turns of a conversation
	maxItems     = 100_000        // texts, passages, pictures, sounds or clips of a request
	maxMedia     = 4_000_000_000  // bytes, before encoding, of the pictures, sounds or clips of a request
	maxFrame     = 64 << 20       // pixels of a picture
	megabyte     = 1_000_000      // bytes
	pixelBytes   = 3              // bytes of a pixel before encoding
	rareSigmas   = 3              // standard deviations above the mean that few draws exceed
	positiveMean = 0.4            // mean of the positive part of a standard normal distribution, 1/sqrt(2 pi), rounded
)

// largest returns the largest number of a distribution that may become a value, with its key.
func (d *Distribution) largest() (key string, value float64) {
	note := func(k string, v float64) {
		if v > value {
			key, value = k, v
		}
	}
	for _, k := range d.keys() {
		if *k.value != nil && k.name != "max" {
			note("."+k.name, **k.value)
		}
	}
	for i := range d.Peaks {
		k, v := d.Peaks[i].Distribution.largest()
		note(fmt.Sprintf(".peaks[%d]%s", i, k), v)
	}
	for i, p := range d.Points {
		note(fmt.Sprintf(".points[%d].value", i), p.Value)
	}
	return strings.TrimSuffix(key, ".value"), value
}

// expected returns about how large a value of a distribution is on average, if it cannot be negative; 0 = nil.
func (d *Distribution) expected() float64 { return d.MeanOr(0) + positiveMean*d.StddevOr0() }

// high returns a value that few draws exceed; def for a nil distribution.
func (d *Distribution) high(def float64) float64 { return d.MeanOr(def) + rareSigmas*d.StddevOr0() }

// amount checks a distribution of a number of things: that it is valid, and not above a limit.
func (v *violations) amount(path string, d *Distribution, limit int, things string) {
	v.distribution(path, d)
	if d == nil {
		return
	}
	if _, err := d.fault(); err != nil {
		return
	}
	key, value := d.largest()
	v.addIf(value > float64(limit), path+key, "must be at most %d %s, not %s", limit, things, strconv.FormatFloat(value, 'f', -1, 64))
}

// count checks a number of things.
func (v *violations) count(path string, n, limit int, things string) {
	v.addIf(n > limit, path, "must be at most %d %s, not %d", limit, things, n)
}

// generated checks how many tokens all prompts of a synthetic dataset have.
func (v *violations) generated(path string, d *Dataset) {
	p := d.Prompts
	if p == nil {
		return
	}
	turn, cause := float64(max(1, p.BatchSize))*max(1, p.ISL.expected()), ".prompts.isl.mean"
	if r := d.Rankings; r != nil {
		if all := max(1, r.Passages.expected())*r.PassageTokens.expected() + r.QueryTokens.expected(); all > turn {
			turn, cause = all, ".rankings.passages.mean"
		}
	}
	session := max(1, d.Turns.expected()) * turn
	if q := d.PrefixPrompts; q != nil {
		session += float64(q.Length) + float64(q.SharedSystemLength) + float64(q.UserContextLength)
	}
	tokens := float64(d.Entries) * session
	v.addIf(tokens > maxDataset, path+".entries", "and %s: %.3g prompt tokens in all would be made and listed in inputs.json; allowed: up to %.3g",
		v.spelling(path+cause), tokens, float64(maxDataset))
}

// media checks the size, before encoding, of what a request carries. size is the path of a setting that decides the size of one, and each that size in
// bytes.
func (v *violations) media(path, size string, batch int, each float64, things string) {
	all := float64(batch) * each
	v.addIf(all > maxMedia, path+".batch_size", "%d and %s: the %s of a request would have %.0f MB before encoding; allowed: up to %d MB",
		batch, v.spelling(path+size), things, all/megabyte, maxMedia/megabyte)
}
