package endpoint

import (
	"encoding/json"

	"aiperf/internal/base/jsontext"
	"aiperf/internal/measure/record"
)

// readDrafts reads the metrics of speculative decoding from an answer's metrics (vLLM: metrics.speculative_decoding; endpoints, section 6).
func (c *chunk) readDrafts(s *jsontext.Scanner) {
	members(s, func(key string) {
		if key == "speculative_decoding" {
			c.keepDrafts(s)
		} else {
			s.Skip()
		}
	})
}

func (c *chunk) keepDrafts(s *jsontext.Scanner) {
	if s.Kind() != '{' {
		s.Skip()
		return
	}
	if raw := s.Raw(); !emptyObject(raw) {
		c.drafts = raw
	}
}

// parseDrafts reads the counts; nil if they contradict each other, because then none of them can be trusted.
func parseDrafts(raw []byte) *record.Drafts {
	var told struct {
		Buckets  []int64 `json:"acceptance_histogram"`
		Steps    *int64  `json:"num_spec_steps"`
		Accepted *int64  `json:"num_accepted_draft_tokens"`
		Proposed *int64  `json:"num_draft_tokens"`
		Longest  *int    `json:"num_spec_tokens"`
	}
	if json.Unmarshal(raw, &told) != nil || told.Buckets == nil || told.Steps == nil || told.Accepted == nil || told.Proposed == nil {
		return nil
	}
	var steps, accepted int64
	for i, n := range told.Buckets {
		if n < 0 {
			return nil
		}
		steps, accepted = steps+n, accepted+int64(i)*n
	}
	if steps != *told.Steps || accepted != *told.Accepted || accepted > *told.Proposed || told.Longest != nil && len(told.Buckets) != *told.Longest+1 {
		return nil
	}
	return &record.Drafts{Steps: steps, Accepted: accepted, Proposed: *told.Proposed, Buckets: told.Buckets}
}
