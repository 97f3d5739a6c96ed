package connection

import (
	"testing"

	"aiperf/internal/config"
	"aiperf/internal/wire/endpoint"
)

func TestAddresses(t *testing.T) {
	path := "/mine"
	for _, c := range []struct {
		own        *string
		path, want string
	}{
		{nil, "", "http://h/v1/x?q=1"},
		{nil, "/v2/models/m/infer", "http://h/v2/models/m/infer?q=1"},
		{nil, "./id", "http://h/v1/x/id?q=1"},
		{nil, "https://o:9/f?a=b", "https://o:9/f?a=b"},
		{&path, "/v2/models/m/infer", "http://h/mine?q=1"},
		{&path, "./id", "http://h/mine/id?q=1"},
	} {
		b := &config.Benchmark{}
		b.Endpoint.Path = c.own
		a, err := NewAddresses([]string{"http://h?q=1"}, b, &endpoint.Endpoint{Path: "/v1/x"})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if got, err := a.Target(0, c.path); err != nil || got.URL != c.want {
				t.Errorf("%q: %v %v, want %s", c.path, got, err, c.want)
			}
		}
	}
}
