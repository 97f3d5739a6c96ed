package network

import (
	"context"
	"encoding/json"
	"net"
	"testing"
	"time"
)

// TestProbes: connections are made as often as is asked for, and a port that nobody listens on is reported.
func TestProbes(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const dead = "http://127.0.0.1:1"
	type line struct {
		URL     string `json:"target_url"`
		Port    int    `json:"target_port"`
		RTT     *int64 `json:"rtt_ns"`
		Success bool
		Error   *string
	}
	var lines []line
	url := "http://u:secret@" + l.Addr().String() + "/v1"
	p := New(Options{URLs: []string{url, url, dead}, Interval: time.Hour, Timeout: 5 * time.Second, Least: 4, Line: func(text []byte) {
		var one line
		if err := json.Unmarshal(text, &one); err != nil {
			t.Error(err)
		}
		lines = append(lines, one)
	}})
	p.Begin()
	p.Begin()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	p.Finish(ctx)
	good, bad, sum := 0, 0, 0.0
	for _, one := range lines {
		if one.Success != (one.RTT != nil) || one.Success != (one.Error == nil) {
			t.Errorf("%+v", one)
		}
		if one.Success {
			good, sum = good+1, sum+float64(*one.RTT)
			if one.URL != "http://"+l.Addr().String()+"/v1" || one.Port != l.Addr().(*net.TCPAddr).Port {
				t.Errorf("%+v", one)
			}
		} else {
			bad++
		}
	}
	if mean, ok := p.Mean(); good < 4 || good > 9 || bad < 8 || bad > 9 || !ok || mean <= 0 || mean-sum/float64(good) > 1 {
		t.Errorf("%d good, %d bad, mean %v", good, bad, mean)
	}
}
