package main

import (
	"bytes"
	"crypto/sha1" //nolint:gosec // the name of a cached file
	_ "embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"time"

	"aiperf/internal/text/tokenizer/rankfile"
)

// speed is the speed of a tokenizer on a corpus: the load in s, encodes and decode in tokens/s, and bytes/s of the second encode.
type speed struct {
	Load, First, Again, Words, Decode, Bytes float64
}

func (s *speed) cells(aim string) []any {
	m := func(v float64) string { return fmt.Sprintf("%.1f", v/1e6) }
	return []any{span(s.Load * 1e9), m(s.First), m(s.Again), m(s.Words), m(s.Decode), m(s.Bytes), aim}
}

// ratios returns how many times faster s is than o.
func (s *speed) ratios(o *speed) []any {
	x := func(v float64) string { return fmt.Sprintf("%.1f×", v) }
	return []any{x(o.Load / s.Load), x(s.First / o.First), x(s.Again / o.Again), x(s.Words / o.Words), x(s.Decode / o.Decode), x(s.Bytes / o.Bytes)}
}

// measureTokens opens a tokenizer again for every round, so that the first pass starts with an empty cache. Each figure is the median.
func measureTokens(v vocabulary, c *corpus, rounds int) (*speed, error) {
	var all [6]sample
	for range rounds {
		began := time.Now()
		t, err := v.open()
		if err != nil {
			return nil, err
		}
		all[0] = append(all[0], time.Since(began).Seconds())
		var ids []int32
		encode := func(pieces []string) (tokens, seconds float64) {
			began := time.Now()
			n := 0
			for _, p := range pieces {
				ids = t.Append(ids[:0], p)
				n += len(ids)
			}
			return float64(n), time.Since(began).Seconds()
		}
		n, s := encode(c.Prose)
		all[1] = append(all[1], n/s)
		n, s = encode(c.Prose)
		all[2] = append(all[2], n/s)
		all[5] = append(all[5], length(c.Prose)/s)
		n, s = encode(c.Words)
		all[3] = append(all[3], n/s)
		var lists [][]int32
		for _, p := range c.Prose {
			lists = append(lists, t.Append(nil, p))
		}
		n, began = 0, time.Now()
		for _, l := range lists {
			_ = t.Decode(l)
			n += float64(len(l))
		}
		all[4] = append(all[4], n/time.Since(began).Seconds())
	}
	return &speed{all[0].at(.5), all[1].at(.5), all[2].at(.5), all[3].at(.5), all[4].at(.5), all[5].at(.5)}, nil
}

func length(pieces []string) (n float64) {
	for _, p := range pieces {
		n += float64(len(p))
	}
	return n
}

//go:embed tiktoken_speed.py
var tiktokenSpeed []byte

// ranksURL identifies the list in tiktoken's cache.
const ranksURL = "https://openaipublic.blob.core.windows.net/encodings/o200k_base.tiktoken"

// tiktoken runs the Python library on the same texts; nil = no Python has it. It needs no network, because its cache is filled from our list.
func (b *suite) tiktoken(c *corpus, rounds int) (*speed, error) {
	python := slices.IndexFunc([]string{b.python, "python3", "python"}, func(p string) bool {
		return p != "" && exec.Command(p, "-c", "import tiktoken").Run() == nil
	})
	if python < 0 {
		if b.python != "" {
			return nil, fmt.Errorf("-python %s: it cannot import tiktoken", b.python)
		}
		return nil, nil
	}
	packed, err := os.ReadFile(filepath.Join(tokenizerData, "..", "o200k_base.bin"))
	if err != nil {
		return nil, err
	}
	list, err := rankfile.Unpack(packed)
	if err != nil {
		return nil, err
	}
	sum := sha1.Sum([]byte(ranksURL)) //nolint:gosec // the name of a cached file
	if err := os.WriteFile(filepath.Join(b.dir, hex.EncodeToString(sum[:])), rankfile.Format(list), 0o644); err != nil {
		return nil, err
	}
	in, err := json.Marshal(c)
	if err != nil {
		return nil, err
	}
	cmd := exec.Command([]string{b.python, "python3", "python"}[python], "-", fmt.Sprint(rounds))
	corpusFile := filepath.Join(b.dir, "corpus.json")
	if err := os.WriteFile(corpusFile, in, 0o644); err != nil {
		return nil, err
	}
	cmd.Args = append(cmd.Args, corpusFile)
	cmd.Env = append(os.Environ(), "TIKTOKEN_CACHE_DIR="+b.dir)
	cmd.Stdin, cmd.Stderr = bytes.NewReader(tiktokenSpeed), os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("tiktoken: %w", err)
	}
	s := &speed{}
	return s, json.Unmarshal(out, s)
}
