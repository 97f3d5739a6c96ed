package metric

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
)

// words draws a text of n words.
func drawWords(seed uint64, n int) string {
	r := rand.New(rand.NewPCG(seed, 1))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "w%c%c%c ", 'a'+r.IntN(26), 'a'+r.IntN(26), 'a'+r.IntN(26))
	}
	return b.String()
}

// cachingServer is a server with a cache that was empty before, the best that there can be: it finds every common beginning of the texts of a conversation,
// token by token (a word is a token), and puts answers into its cache, too.
type cachingServer struct{ seen []string }

func (s *cachingServer) ask(texts []string, answer string, counted bool) *Prompt {
	whole := strings.Join(texts, "")
	best := 0
	for _, old := range s.seen {
		n := 0
		for n < len(old) && n < len(whole) && old[n] == whole[n] {
			n++
		}
		best = max(best, n)
	}
	s.seen = append(s.seen, whole+answer)
	return &Prompt{Texts: texts, Answers: []string{answer, ""}, Counted: counted, Tokens: len(strings.Fields(whole)) + 20, Client: len(strings.Fields(whole)), Cached: len(strings.Fields(whole[:best])) + 20}
}

// TestColdCacheExplained: a cold server never has more in its cache than the run explains: separate prompts, a common system prompt,
// turns whose history has the answers, the same prompt in flight several times, a warm-up, also where nobody counts tokens but the server.
func TestColdCacheExplained(t *testing.T) {
	for name, send := range map[string]func(s *cachingServer, add func(*Prompt)){
		"own prompts": func(s *cachingServer, add func(*Prompt)) {
			for i := range uint64(20) {
				add(s.ask([]string{drawWords(i, 500)}, drawWords(100+i, 50), true))
			}
		},
		"system prompt": func(s *cachingServer, add func(*Prompt)) {
			for i := range uint64(20) {
				add(s.ask([]string{drawWords(1000, 700), drawWords(i, 300)}, drawWords(100+i, 50), true))
			}
		},
		"common beginning of one text": func(s *cachingServer, add func(*Prompt)) {
			for i := range uint64(20) {
				add(s.ask([]string{drawWords(1000, 701) + drawWords(i, 300)}, "", true))
			}
		},
		"turns": func(s *cachingServer, add func(*Prompt)) {
			for i := range uint64(5) {
				var texts []string
				for turn := range uint64(6) {
					texts = append(texts, drawWords(10*i+turn, 100))
					answer := drawWords(1000+10*i+turn, 200)
					add(s.ask(texts, answer, true))
					texts = append(texts[:len(texts):len(texts)], answer)
				}
			}
		},
		"warm-up": func(s *cachingServer, add func(*Prompt)) {
			for i := range uint64(20) {
				add(s.ask([]string{drawWords(i%10, 500)}, "", i >= 10))
			}
		},
	} {
		for _, counts := range []bool{true, false} {
			p := NewPrefixes(nil)
			var s cachingServer
			var list []*Prompt
			send(&s, func(q *Prompt) { list = append(list, q) })
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] }) // by their ends, as they come
			var wg sync.WaitGroup
			for _, q := range list {
				if !counts {
					q.Client = -1
				}
				wg.Go(func() { p.Add(q) })
			}
			wg.Wait()
			u := p.Use()
			if u.CacheSource != "usage" || u.Excess() > 0 || u.CacheReported == 0 || u.CacheExpectedMax > u.CacheExpected+30 {
				t.Errorf("%s, counted by the client %t: %+v", name, counts, u)
			}
		}
	}
}

// TestWarmCache: a cache that has prompts which the run sends once only is warmer than the run explains, by what the server reports.
func TestWarmCache(t *testing.T) {
	for _, c := range []struct {
		cached, excess float64 // share of the prompt, least excess in points
		note, warm     bool
	}{{0, 0, false, false}, {.10, 0, false, false}, {.17, 3, true, false}, {.92, 75, true, true}, {1, 83, true, true}} {
		p := NewPrefixes(nil)
		for i := range uint64(10) {
			p.Add(&Prompt{Texts: []string{drawWords(i, 600)}, Counted: true, Tokens: 600, Client: 600, Cached: int(600 * c.cached)})
		}
		u := p.Use()
		if u.CacheExpected != 0 || (u.warmSentence() != "") != c.note || u.Warm() != c.warm || u.Excess() < c.excess {
			t.Errorf("cached %v: %+v, excess %v", c.cached, u, u.Excess())
		}
		v := Assess(ClientStats{Valid: 10, CacheUse: u}, nil, nil)
		says := strings.Contains(v.Reason, "of the prompt tokens came from a cache, but this run's prompts share only 0 %")
		noted := strings.Contains(strings.Join(v.Notes, " "), "of the prompt tokens came from a cache")
		if says != c.warm || noted != (c.note && !c.warm) || (v.Verdict == VerdictUncertain) != c.warm {
			t.Errorf("cached %v: %s; notes %q", c.cached, v.Sentence(), v.Notes)
		}
	}
}

// TestCacheSourcesDisagree: where usage reports a warm cache and the server's counters do not, the note names both shares and the verdict stays. Where both
// report one, the verdict says so by both names.
func TestCacheSourcesDisagree(t *testing.T) {
	for _, c := range []struct {
		counted    float64
		warm       bool
		note, says string
	}{
		{2, false, "The server's usage says that 60 % of the prompt tokens came from a cache; its counter vllm:prefix_cache_hits says 2 %. The two disagree", ""},
		{10, false, "According to the server's usage (its counter vllm:prefix_cache_hits: 10 %), 60 % of the prompt tokens came from a cache, but this run's prompts", ""},
		{58, true, "", "According to the server's usage (its counter vllm:prefix_cache_hits: 58 %), 60 % of the prompt tokens came from a cache, but this run's prompts"},
	} {
		u := CacheUse{CacheSource: "usage", CacheReported: 60, CacheExpectedMax: 5, CacheCounter: "vllm:prefix_cache_hits", CacheCounted: c.counted}
		v := Assess(ClientStats{Valid: 10, CacheUse: u}, nil, nil)
		notes := strings.Join(v.Notes, " ")
		if u.Warm() != c.warm || (v.Verdict == VerdictUncertain) != c.warm || !strings.Contains(notes, c.note) || c.note == "" && strings.Contains(notes, "a cache") || !strings.Contains(v.Reason, c.says) {
			t.Errorf("counted %v %%: %s; notes %q", c.counted, v.Sentence(), v.Notes)
		}
	}
	counter := CacheUse{CacheSource: "sglang:cached_tokens", CacheReported: 60, CacheExpectedMax: 5}
	if got := counter.warmSentence(); !strings.HasPrefix(got, "According to the server's counter sglang:cached_tokens, 60 %") {
		t.Error(got)
	}
}

// TestPrefixesUnknown: what cannot be proven new counts as explained, and what nobody reads is not collected.
func TestPrefixesUnknown(t *testing.T) {
	whole := NewPrefixes(nil)
	for i := range uint64(10) {
		whole.Add(&Prompt{Texts: []string{drawWords(i, 10)}, Whole: true, Counted: true, Tokens: 900, Client: 10, Cached: 850})
	}
	if u := whole.Use(); u.Excess() != 0 {
		t.Errorf("pictures: %+v", u)
	}
	for _, counters := range []bool{false, true} {
		p := NewPrefixes(func() bool { return counters })
		for i := range uint64(silentRequests) {
			p.Add(&Prompt{Texts: []string{drawWords(i, 10)}, Counted: true, Tokens: 10, Cached: -1})
		}
		if p.Wanted() != counters {
			t.Errorf("counters of the server: %t, collected: %t", counters, p.Wanted())
		}
		if u := p.Use(); u.CacheSource != "" || u.Excess() != 0 {
			t.Errorf("%+v", u)
		}
	}
	if p := (*Prefixes)(nil); p.Wanted() || p.Tokens() != 0 || p.Use() != (CacheUse{}) {
		t.Error("a nil one collects")
	}
	full := NewPrefixes(nil)
	full.Add(&Prompt{Texts: []string{drawWords(1, 100)}, Counted: true, Tokens: 100, Cached: 100})
	full.stopped, full.blocks = true, nil
	full.Add(&Prompt{Texts: []string{drawWords(2, 100)}, Counted: true, Tokens: 100, Cached: 100})
	if u := full.Use(); u.CacheReported != 100 || u.CacheExpectedMax != 100 {
		t.Errorf("more blocks than fit: %+v", u)
	}
}

// BenchmarkPrefixes is the cost of one request of about 8,000 tokens.
func BenchmarkPrefixes(b *testing.B) {
	texts := make([]string, 64)
	for i := range texts {
		texts[i] = drawWords(uint64(i), 8000)
	}
	for _, distinct := range []int{1, 64} {
		b.Run(fmt.Sprintf("prompts=%d", distinct), func(b *testing.B) {
			p := NewPrefixes(nil)
			q := Prompt{Counted: true, Tokens: 8000, Client: 8000, Texts: make([]string, 1)}
			b.SetBytes(int64(len(texts[0])))
			for i := range b.N {
				q.Texts[0] = texts[i%distinct]
				p.Add(&q)
			}
		})
	}
}
