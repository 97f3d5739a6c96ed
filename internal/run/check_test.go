package run

import (
	"math"
	"testing"
	"time"
)

func TestForecast(t *testing.T) {
	for _, c := range []struct {
		f    Forecast
		want string
	}{
		{Forecast{Prompts: 37, Tokens: 512.4, Time: 170 * time.Second}, "37 prompts, mean 512 tokens, about 3 min"},
		{Forecast{Prompts: 1, Tokens: math.NaN(), Requests: 10, Open: true}, "1 prompt, 10 requests as fast as the server answers"},
		{Forecast{Prompts: 2, Tokens: 7, Time: 45 * time.Second, Requests: 9}, "2 prompts, mean 7 tokens, about 45 s"},
		{Forecast{Prompts: 2, Tokens: 7, Time: 2 * time.Hour}, "2 prompts, mean 7 tokens, about 2.0 h"},
		{Forecast{Prompts: 2, Tokens: 7, Time: time.Millisecond}, "2 prompts, mean 7 tokens, about 1 s"},
		{Forecast{Prompts: 2, Tokens: 7, Time: time.Minute, Open: true}, "2 prompts, mean 7 tokens, at least 60 s"},
		{Forecast{Prompts: 2, Tokens: 7, Time: time.Minute, Requests: 9, Open: true}, "2 prompts, mean 7 tokens, 9 requests, at least 60 s"},
		{Forecast{Prompts: 2, Tokens: 7}, "2 prompts, mean 7 tokens"},
		{Forecast{Prompts: 900, Tokens: 7, First: 500}, "900 prompts, mean 7 tokens in the first 500"},
	} {
		if got := c.f.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}
