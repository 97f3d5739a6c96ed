package endpoint

import (
	"math"
	"strconv"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// usageKeys are the names of each quantity; the first one found wins (endpoints, section 6). A dot separates nested members.
var usageKeys = []struct {
	set  func(*record.Usage, int64)
	keys []string
}{
	{func(u *record.Usage, n int64) { u.Prompt = n },
		[]string{"prompt_tokens", "input_tokens", "promptTokenCount", "inputTokens", "input_token_count"}},
	{func(u *record.Usage, n int64) { u.Completion = n },
		[]string{"completion_tokens", "output_tokens", "candidatesTokenCount", "outputTokens", "generated_token_count"}},
	{func(u *record.Usage, n int64) { u.Total = n },
		[]string{"total_tokens", "totalTokenCount", "totalTokens"}},
	{func(u *record.Usage, n int64) { u.Reasoning = n },
		[]string{"completion_tokens_details.reasoning_tokens", "output_tokens_details.reasoning_tokens", "thoughtsTokenCount"}},
	{func(u *record.Usage, n int64) { u.CacheRead = n },
		[]string{"prompt_tokens_details.cached_tokens", "input_tokens_details.cached_tokens", "cache_read_input_tokens",
			"prompt_cache_hit_tokens", "cachedContentTokenCount", "cacheReadInputTokens", "cached_tokens"}},
	{func(u *record.Usage, n int64) { u.CacheWrite = n },
		[]string{"cache_creation_input_tokens", "cacheWriteInputTokens"}},
	{func(u *record.Usage, n int64) { u.CacheMiss = n }, []string{"prompt_cache_miss_tokens"}},
	{func(u *record.Usage, n int64) { u.ToolUsePrompt = n }, []string{"toolUsePromptTokenCount"}},
	{func(u *record.Usage, n int64) { u.PromptAudio = n },
		[]string{"prompt_tokens_details.audio_tokens", "input_tokens_details.audio_tokens"}},
	{func(u *record.Usage, n int64) { u.CompletionAudio = n },
		[]string{"completion_tokens_details.audio_tokens", "output_tokens_details.audio_tokens"}},
	{func(u *record.Usage, n int64) { u.AcceptedPrediction = n },
		[]string{"completion_tokens_details.accepted_prediction_tokens", "output_tokens_details.accepted_prediction_tokens"}},
	{func(u *record.Usage, n int64) { u.RejectedPrediction = n },
		[]string{"completion_tokens_details.rejected_prediction_tokens", "output_tokens_details.rejected_prediction_tokens"}},
}

// count is one number of a usage object with its path.
type count struct {
	path  string
	n     int64
	f     float64
	plain bool // a number rather than a numeric string
}

// counts are the numbers of a usage object, in order.
type counts []count

// find returns the last value under a path.
func (c counts) find(path string) (count, bool) {
	for i := len(c) - 1; i >= 0; i-- {
		if c[i].path == path {
			return c[i], true
		}
	}
	return count{}, false
}

// first returns the value under the first path that has one.
func (c counts) first(paths []string) (count, bool) {
	for _, p := range paths {
		if v, ok := c.find(p); ok {
			return v, true
		}
	}
	return count{}, false
}

// wrappers are the objects into which some vendors put their counts; counts outside them win.
var wrappers = []string{"usageMetadata.", "meta.tokens.", "meta.", "tokens."}

// parseUsage parses a usage object. Numbers and numeric strings count; other values are ignored.
func parseUsage(raw []byte) *record.Usage {
	s := jsontext.Scanner{Doc: raw}
	all := flatten(make(counts, 0, usualCounts), "", &s, 0)
	u := &record.Usage{Prompt: -1, Completion: -1, Total: -1, Reasoning: -1, CacheRead: -1, CacheWrite: -1, CacheMiss: -1,
		PromptAudio: -1, CompletionAudio: -1, ToolUsePrompt: -1, AcceptedPrediction: -1, RejectedPrediction: -1, PromptAudioSeconds: -1}
	all = unwrap(all)
	for i := range usageKeys {
		if v, ok := all.first(usageKeys[i].keys); ok {
			usageKeys[i].set(u, v.n)
		}
	}
	if v, ok := all.find("prompt_audio_seconds"); ok && v.plain {
		u.PromptAudioSeconds = v.f
	}
	addReasoning(u)
	addCached(all, u)
	return u
}

func unwrap(all counts) counts {
	for _, w := range wrappers {
		for _, v := range all {
			if len(v.path) <= len(w) || v.path[:len(w)] != w {
				continue
			}
			v.path = v.path[len(w):]
			if _, there := all.find(v.path); !there {
				all = append(all, v)
			}
		}
	}
	return all
}

// addReasoning adds the reasoning tokens to the completion count, for vendors that count them separately (xAI, Gemini). Their total shows it.
func addReasoning(u *record.Usage) {
	if u.Reasoning > 0 && u.Prompt >= 0 && u.Completion >= 0 && u.Total == u.Prompt+max(0, u.ToolUsePrompt)+u.Completion+u.Reasoning {
		u.Completion += u.Reasoning
	}
}

// addCached adds the cached tokens to the prompt count, for vendors that count them separately.
func addCached(all counts, u *record.Usage) {
	v, ok := all.first(usageKeys[0].keys)
	if !ok || v.path != "input_tokens" && v.path != "inputTokens" {
		return
	}
	read, _ := all.first([]string{"cache_read_input_tokens", "cacheReadInputTokens"})
	write, _ := all.first([]string{"cache_creation_input_tokens", "cacheWriteInputTokens"})
	u.Prompt = v.n + read.n + write.n
}

// flatten lists the numbers of an object under prefix.
func flatten(all counts, prefix string, s *jsontext.Scanner, depth int) counts {
	if !s.Open('{') {
		s.Skip()
		return all
	}
	for first := true; s.Next('}', first); first = false {
		path := prefix + memberName(s.Key())
		switch s.Kind() {
		case '{':
			if depth == 8 {
				s.Skip()
			} else {
				all = flatten(all, path+".", s, depth+1)
			}
		case '"':
			if f, err := strconv.ParseFloat(s.Text().String(), 64); err == nil {
				all = appendCount(all, path, f, false)
			}
		default:
			if f, ok := number(s); ok {
				all = appendCount(all, path, f, true)
			}
		}
	}
	return all
}

const (
	usualCounts = 8   // numbers in most usage objects
	maxCounts   = 256 // limits the work for a usage object; real ones hold a dozen numbers
)

// appendCount adds a count, unless it is invalid (negative, not a number).
func appendCount(all counts, path string, f float64, plain bool) counts {
	if len(all) == maxCounts || math.IsNaN(f) || f > 1<<53 || f < 0 {
		return all
	}
	return append(all, count{path, int64(f), f, plain})
}

// number reads a number and skips values of other types.
func number(s *jsontext.Scanner) (float64, bool) {
	c := s.Kind()
	if c != '-' && !digit(c) {
		s.Skip()
		return 0, false
	}
	raw := s.Raw()
	if len(raw) == 0 {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }
