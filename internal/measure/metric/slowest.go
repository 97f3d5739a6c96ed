package metric

import (
	"cmp"
	"math"
	"slices"
)

// slowestKept is the number of slowest requests that a run stores.
const slowestKept = 10

// SlowRequest is one of the slowest valid requests. Times are ns, NaN = missing.
type SlowRequest struct {
	Latency, TTFT, ITL float64
	Tokens             float64
	Start, End         int64 // wall, Unix ns
	RequestID          string
	Conversation       string
	Turn               int
}

// Slowest stores the slowest valid requests, slowest first. The zero value is empty.
type Slowest struct{ List []SlowRequest }

// Add adds a row if it is among the slowest.
func (s *Slowest) Add(row *Row) {
	latency, ok := row.Value("request_latency")
	if row.Class != Valid || !ok || len(s.List) == slowestKept && latency <= s.List[slowestKept-1].Latency {
		return
	}
	value := func(tag string) float64 {
		if v, ok := row.Value(tag); ok {
			return v
		}
		return math.NaN()
	}
	s.insert(SlowRequest{
		Latency: latency, TTFT: value("time_to_first_token"), ITL: value("inter_token_latency"), Tokens: value("output_sequence_length"),
		Start: row.Start, End: row.End, RequestID: row.Meta.RequestID, Conversation: row.Meta.ConversationID, Turn: row.Meta.TurnIndex,
	})
}

// insert adds a request at its place.
func (s *Slowest) insert(q SlowRequest) {
	at, _ := slices.BinarySearchFunc(s.List, q.Latency, func(q SlowRequest, v float64) int { return cmp.Compare(v, q.Latency) })
	s.List = slices.Insert(s.List, at, q)
	s.List = s.List[:min(len(s.List), slowestKept)]
}
