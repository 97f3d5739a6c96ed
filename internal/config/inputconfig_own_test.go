package config

import "testing"

// TestInputConfigIsParted: settings without a key in AIPerf, or without one in an entry of this type, are separate; joined again they are complete.
func TestInputConfigIsParted(t *testing.T) {
	const whole = `{"endpoint":{"urls":["u"],"tls":{"insecure":true}},"datasets":[{"name":"main","type":"file","prefix_prompts":{"shared_system_length":20},"prompts":{"isl":{"mean":5.0},"corpus":"coding"}},` +
		`{"name":"two","type":"synthetic","prefix_prompts":{"length":3}}],"phases":[{"name":"p","type":"poisson","rate":2.0}],"environment":{"http":{"x":1}}}`
	upstream, own, err := SplitInputConfig([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	const wantUpstream = `{"endpoint":{"urls":["u"]},"datasets":[{"name":"main","type":"file","prompts":{"corpus":"coding"}},` +
		`{"name":"two","type":"synthetic","prefix_prompts":{"length":3}}],"phases":[{"name":"p","type":"poisson","rate":2.0}]}`
	if string(upstream) != wantUpstream {
		t.Errorf("upstream: %s", upstream)
	}
	const wantOwn = `{"endpoint":{"tls":{"insecure":true}},"datasets":[{"prefix_prompts":{"shared_system_length":20},"prompts":{"isl":{"mean":5.0}}},{}],"environment":{"http":{"x":1}}}`
	if string(own) != wantOwn {
		t.Errorf("own: %s", own)
	}
	again, err := MergeInputConfig(upstream, own)
	if err != nil {
		t.Fatal(err)
	}
	up, rest, err := SplitInputConfig(again)
	if err != nil || string(up) != wantUpstream || len(rest) != len(wantOwn) || len(again) != len(whole) {
		t.Errorf("joined: %v %s", err, again)
	}
	if up, rest, err := SplitInputConfig([]byte(wantUpstream)); err != nil || rest != nil || string(up) != wantUpstream {
		t.Errorf("nothing of our own: %v %s %s", err, up, rest)
	}
}

// TestRequestsAreStated: the number of problems of a benchmark is written where nothing else ends the phase.
func TestRequestsAreStated(t *testing.T) {
	got, err := StateRequests([]byte(`{"phases":[{"name":"a"},{"name":"b","duration":3.0},{"name":"c"}]}`), map[string]int64{"a": 7, "b": 7})
	if want := `{"phases":[{"name":"a","requests":7},{"name":"b","duration":3.0},{"name":"c"}]}`; err != nil || string(got) != want {
		t.Errorf("%v %s", err, got)
	}
}
