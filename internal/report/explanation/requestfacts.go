package explanation

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"aiperf/internal/measure/association"
)

// request adds what is known of the request itself.
func (c *collector) request() {
	q := c.q
	c.column("input_sequence_length", fact{label: "input tokens", unit: "tokens"})
	c.column("output_sequence_length", fact{label: "output tokens", unit: "tokens"})
	c.column("reasoning_token_count", fact{label: "reasoning tokens", unit: "tokens", what: "reasoned", verb: "did"})
	c.column("usage_prompt_cache_read_tokens", fact{label: "cached prompt tokens", unit: "tokens", what: "had prompt tokens in the server's cache", verb: "had"})
	if fresh := c.fresh(); fresh != nil && c.anyCached() {
		c.number(fact{name: "uncached_input_tokens", label: "input tokens not in the cache", unit: "tokens"}, func(_, i int) float64 { return fresh[i] })
	}
	c.column("num_images", fact{label: "images", unit: "images", what: "had images", verb: "had"})
	c.column("audio_duration", fact{label: "length of the audio", unit: "sec"})
	c.column("spec_decode_acceptance_length", fact{label: "accepted draft tokens per step", unit: "tokens"})
	c.number(fact{name: "turn_index", label: "turn in the session", unit: "turns before", what: "were later turns of a session", verb: "were"}, func(_, i int) float64 { return float64(q.Turn[i]) })
	c.category("finish_reason", "finish reason", "ended with the reason", "did", func(i int) string { return q.Finish[i] })
	c.category("model", "model or adapter", "asked for the model", "did", func(i int) string { return q.Model[i] })
	c.category("phase", "phase", "were in the phase", "were", func(i int) string { return q.Phase[i] })
}

// fresh returns the input tokens of every record that were not in the server's cache; all of them if nothing is known of the cache. nil = unknown.
func (c *collector) fresh() []float64 {
	isl, ok := c.q.Column("usage_prompt_tokens")
	cached, reported := c.q.Column("usage_prompt_cache_read_tokens")
	if !ok || !reported {
		if isl, ok = c.q.Column("input_sequence_length"); !ok {
			return nil
		}
	}
	out := slices.Clone(isl)
	for i := range out {
		if reported && !math.IsNaN(cached[i]) {
			out[i] = max(0, out[i]-cached[i])
		}
	}
	return out
}

// anyCached reports whether the server reports cached tokens for any request.
func (c *collector) anyCached() bool {
	cached, _ := c.q.Column("usage_prompt_cache_read_tokens")
	return slices.ContainsFunc(cached, func(v float64) bool { return v > 0 })
}

// Limits of the categories of a fact, such as the servers of a run.
const (
	mostCategories = 32
	fewestShare    = 0.01
)

// category adds a two-valued fact for each frequent value of a text. Of two values one is enough.
func (c *collector) category(name, label, what, verb string, value func(i int) string) {
	count, slow := map[string]int{}, map[string]int{}
	for k, i := range c.index {
		v := value(i)
		count[v]++
		if c.slow[k] {
			slow[v]++
		}
	}
	delete(count, "")
	var list []string
	for v := range count {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	if len(list) == 2 {
		over := func(v string) float64 { return float64(slow[v]) / float64(count[v]) }
		list = list[:1]
		for v := range count {
			if over(v) > over(list[0]) {
				list[0] = v
			}
		}
	}
	for _, v := range list[:min(len(list), mostCategories)] {
		if n := count[v]; n == len(c.index) || float64(n) < max(10, fewestShare*float64(len(c.index))) {
			continue
		}
		c.number(fact{Fact: association.Fact{TwoValued: true}, name: name + "=" + v, label: label + " " + v, what: what + " " + v, verb: verb}, func(_, i int) float64 {
			if value(i) == "" {
				return math.NaN()
			}
			return truth(value(i) == v)
		})
	}
}

// connection adds what is known of the connection.
func (c *collector) connection() {
	q := c.q
	if reused, ok := q.Column("http_req_connection_reused"); ok {
		c.number(fact{Fact: association.Fact{TwoValued: true}, name: "new_connection", label: "new connection", what: "opened a new connection", verb: "did"}, func(_, i int) float64 { return 1 - reused[i] })
	}
	if has(q, "tcp_retransmits") {
		c.column("tcp_retransmits", fact{label: "TCP segments sent again", unit: "segments", what: "had TCP segments sent again", verb: "had"})
		c.column("tcp_out_of_order", fact{label: "TCP segments received out of order", unit: "segments", what: "received TCP segments out of order", verb: "did"})
		c.column("tcp_smoothed_rtt", fact{label: "TCP round-trip time", unit: "ms"})
	} else {
		c.missing("TCP statistics: retransmits, order of segments, round-trip time (Linux only)")
	}
	if reads, ok := q.Column("http_req_chunks_received"); ok {
		c.number(fact{name: "events_per_read", label: "events per read", unit: "events"}, func(_, i int) float64 {
			if n := len(q.Gaps(i)) + 1; n > 1 && reads[i] > 0 {
				return float64(n) / reads[i]
			}
			return math.NaN()
		})
	}
	c.column("read_delay_max", fact{label: "wait of received bytes in the client", unit: "ms"})
	c.column("schedule_lag", fact{label: "delay of sending after the schedule", unit: "ms"})
	c.category("address", "server address", "went to the address", "did", func(i int) string { return q.Remote[i] })
}

// servers adds the server of the request, for runs with several URLs.
func (c *collector) servers() {
	urls := c.urls()
	if len(urls) < 2 {
		return
	}
	url := func(i int) string {
		if k := c.q.URL[i]; k < len(urls) {
			return urls[k]
		}
		return ""
	}
	c.category("server", "server", "went to", "did", url)
	c.number(fact{Fact: association.Fact{TwoValued: true}, name: "tls", label: "TLS", what: "were sent over TLS", verb: "were"}, func(_, i int) float64 {
		return truth(strings.HasPrefix(url(i), "https:"))
	})
}

// urls returns the URLs of the servers of the run.
func (c *collector) urls() (list []string) {
	if c.sum == nil {
		return nil
	}
	endpoint, _ := c.sum.Config["endpoint"].(map[string]any)
	all, _ := endpoint["urls"].([]any)
	for _, one := range all {
		list = append(list, fmt.Sprint(one))
	}
	return list
}
