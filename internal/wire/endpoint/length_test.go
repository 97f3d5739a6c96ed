package endpoint

import (
	"encoding/json"
	"testing"
)

// TestRequestedTokens: the output length of bodies as servers of several kinds document them.
func TestRequestedTokens(t *testing.T) {
	for body, want := range map[string]int{
		`{"messages":[{"role":"user","content":"max_tokens 9"}],"max_completion_tokens":5}`:                    5,
		`{"max_tokens":7,"messages":[],"max_completion_tokens":5}`:                                             5,
		`{"max_completion_tokens":5,"max_tokens":7}`:                                                           5,
		`{"max_completion_tokens":null,"max_tokens":7}`:                                                        7,
		`{"prompt":"a","max_tokens":7.0}`:                                                                      7,
		`{"input":"a","max_output_tokens":3}`:                                                                  3,
		`{"inputs":"a","parameters":{"max_new_tokens":4}}`:                                                     4,
		`{"text":"a","sampling_params":{"max_new_tokens":6,"temperature":0}}`:                                  6,
		`{"model":"m","options":{"num_predict":8}}`:                                                            8,
		`{"contents":[],"generationConfig":{"maxOutputTokens":9}}`:                                             9,
		`{"inputs":[{"name":"text","data":["max_tokens"]},{"name":"max_tokens","shape":[1,1],"data":[[11]]}]}`: 11,
		`{"inputs":[{"name":"text","data":["max_tokens"]},{"data":[11],"name":"max_tokens"}]}`:                 11,
		`{"n_predict":-1}`:                      0,
		`{"max_tokens":0}`:                      0,
		`{"max_tokens":"7"}`:                    0,
		`{"max_tokens":1.5}`:                    0,
		`{"max_tokens":1e300}`:                  0,
		`{"metadata":{"max_tokens":7}}`:         0,
		`{"max_tokens":7`:                       0,
		`[{"max_tokens":7}]`:                    0,
		``:                                      0,
		`{"max_tokens":{"a":1},"n_predict":12}`: 12,
	} {
		if got := RequestedTokens([]byte(body)); got != want {
			t.Errorf("%s: %d tokens, want %d", body, got, want)
		}
	}
	for value, want := range map[string]bool{`{"temperature":0}`: false, `{"max_new_tokens":5}`: true} {
		if got := LimitsOutput([]Member{{"sampling_params", json.RawMessage(value)}}); got != want {
			t.Errorf("extras %s: %v, want %v", value, got, want)
		}
	}
}
