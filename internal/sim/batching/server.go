// Package batching simulates an inference server with continuous batching and known truth. Every step generates one token for each running request
// and prefills waiting requests in chunks. Steps have slow noise, white noise and stalls; requests have outliers. Tests of comparisons and of the
// capacity search run on it. It is a port of the simulator with which their methods were chosen.
package batching

import (
	"cmp"
	"math"
	"math/rand/v2"

	"aiperf/internal/base/sorting"
)

// Options of a server and its load. Times are in ms unless noted; factors of 1 have no effect.
type Options struct {
	Rate        float64 // arrivals per second, Poisson; 0 = Concurrency users, who send the next request after the last answer
	Concurrency int
	Seconds     float64 // end of the arrivals

	Slow          float64 // factor for the duration of every step
	Base          float64 // fixed part of a step
	PerSequence   float64 // additional time for each running request
	PerToken      float64 // additional time for each prefilled token
	Slots         int
	Budget        float64 // maximum number of tokens prefilled in a step
	InputMu       float64 // mean of the logarithm of the input length
	InputSigma    float64
	OutputMean    float64 // mean of the geometric output length
	Drift         float64 // standard deviation of the logarithm of the slow noise
	DriftSeconds  float64 // correlation time of the slow noise
	White         float64
	Stall         float64 // probability of a stall in a step
	StallMean     float64 // mean length of a stall, exponential
	Ramp          float64 // relative change of the step duration over Seconds
	Outlier       float64 // probability of a delay before the first token
	OutlierMean   float64 // mean of that delay, exponential
	Cold          float64 // steps are initially 1+Cold times as long
	ColdSeconds   float64
	ErrorFraction float64

	LongShare   float64 // share of the prompts that are LongTimes times as long
	LongTimes   float64
	HitShare    float64 // share of the requests whose prompt is in the cache but for a tenth
	KV          float64 // tokens that the cache holds; beyond them the latest running request is preempted and later computed again; 0 = no limit
	PauseEvery  float64 // mean time between pauses of the whole server, in s; 0 = none
	PauseLength float64 // of each pause
	Burst       float64 // arrivals come Burst times as fast during bursts, and more slowly between them, so that Rate is the mean; 0 = evenly
	BurstPart   float64 // share of the time that is in bursts
	BurstEvery  float64 // mean time from burst to burst, in s
	Sample      float64 // interval of samples of the gauges, in s; 0 = none. With samples the arrival of every token is kept, too.

	Client *Client // client that sends the arrivals; nil = always on time
}

// Default returns the options of the server in the published simulations.
func Default() Options {
	return Options{
		Slow: 1, Base: 8, PerSequence: 0.12, PerToken: 0.02, Slots: 64, Budget: 1024, InputMu: 5.5, InputSigma: 0.6, OutputMean: 40, Drift: 0.03, DriftSeconds: 1,
		White: 0.05, Stall: 0.002, StallMean: 60, Outlier: 0.02, OutlierMean: 150, ColdSeconds: 3,
	}
}

// Request is a finished request. Start and End are in s, latencies in ms.
type Request struct {
	Start, End, TTFT, ITL, Latency, Tokens float64
	Failed                                 bool

	Input, Cached float64   // tokens of the prompt, and of these from the cache
	Arrivals      []float64 // of the tokens, in s; nil unless the gauges are sampled
	Preempted     int
}

// Sample holds the gauges of a server at an instant in s. KV is a share; Preemptions counts from the start.
type Sample struct{ At, Waiting, Running, KV, Preemptions float64 }

// state is the state of an unfinished request.
type state struct {
	start, first, latency, extra, left, prefill, tokens float64
	failed                                              bool

	input, cached float64
	arrivals      []float64
	preempted     int
}

// server is a running simulation.
type server struct {
	o       Options
	r       *rand.Rand
	t, next float64
	all     []state
	made    int
	head    int
	running []int
	noise   float64

	preempted   []int // waiting to be computed again
	preemptions float64
	pause       float64 // start of the next pause
	bursting    bool
	change      float64 // when the burst ends or the next one begins
	samples     []Sample
}

// Run simulates until every request is answered, at most for three times Seconds plus a minute. Requests are in the order of their starts; unanswered
// ones are missing.
func Run(seed uint64, o Options) []Request {
	list, _ := Observe(seed, o)
	return list
}

// Observe is Run with the samples of the gauges.
func Observe(seed uint64, o Options) ([]Request, []Sample) {
	s := &server{o: o, r: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
	if s.pause = math.Inf(1); o.PauseEvery > 0 {
		s.pause = s.r.ExpFloat64() * o.PauseEvery
	}
	s.next = math.Inf(1)
	if o.Rate > 0 {
		s.next = s.r.ExpFloat64() / o.Rate
	}
	s.noise = o.Drift * s.r.NormFloat64()
	for range o.Concurrency {
		s.all = append(s.all, state{})
	}
	for s.step() && s.t <= o.Seconds*3+60 {
	}
	var out []Request
	for i := range s.all[:s.made] {
		q := &s.all[i]
		if q.first < 0 || q.latency <= 0 {
			continue
		}
		out = append(out, Request{
			Start: q.start, End: q.start + q.latency/1000, TTFT: q.first, Latency: q.latency, ITL: (q.latency - q.first) / max(1, q.tokens-1), Tokens: q.tokens, Failed: q.failed,
			Input: q.input, Cached: q.cached, Arrivals: q.arrivals, Preempted: q.preempted,
		})
	}
	sorting.Stable(out, func(a, b Request) int { return cmp.Compare(a.Start, b.Start) })
	return out, s.samples
}

// arrive adds the requests that have arrived and draws their lengths.
func (s *server) arrive() {
	for at := s.o.Client.leaves(s.next); at <= s.t && at < s.o.Seconds; at = s.o.Client.leaves(s.next) {
		s.all = append(s.all, state{start: at})
		s.next = s.o.Client.sent(s.next, at) + s.r.ExpFloat64()/s.rate(at)
	}
	for ; s.made < len(s.all); s.made++ {
		q := &s.all[s.made]
		q.prefill = math.Exp(s.o.InputMu + s.o.InputSigma*s.r.NormFloat64())
		if s.o.LongShare > 0 && s.r.Float64() < s.o.LongShare {
			q.prefill *= s.o.LongTimes
		}
		q.input = q.prefill
		if s.o.HitShare > 0 && s.r.Float64() < s.o.HitShare {
			q.cached = math.Floor(0.9 * q.input)
			q.prefill -= q.cached
		}
		q.left = 1 + geometric(s.r, 1/s.o.OutputMean)
		q.tokens, q.first = q.left, -1
		if s.r.Float64() < s.o.Outlier {
			q.extra = s.o.OutlierMean * s.r.ExpFloat64()
		}
		q.failed = s.r.Float64() < s.o.ErrorFraction
	}
}

// geometric draws the number of trials up to the first success.
func geometric(r *rand.Rand, p float64) float64 {
	if p >= 1 {
		return 1
	}
	return math.Ceil(math.Log(1-r.Float64()) / math.Log(1-p))
}

// step simulates one step of the server; false = nothing is left to do.
func (s *server) step() bool {
	s.arrive()
	if len(s.running) == 0 && s.head >= len(s.all) && len(s.preempted) == 0 {
		if at := s.o.Client.leaves(s.next); at < s.o.Seconds {
			s.t = at
			return true
		}
		return false
	}
	s.admit()
	if len(s.running) == 0 {
		s.t = s.all[s.head].start
		return true
	}
	before := s.t
	s.t += s.duration() / 1000
	if s.t >= s.pause {
		s.t += s.o.PauseLength / 1000
		s.pause = s.t + s.r.ExpFloat64()*s.o.PauseEvery
	}
	s.sample(before)
	s.finish()
	s.preempt()
	return true
}

// duration performs the prefills of a step and returns its length in ms.
func (s *server) duration() float64 {
	o, prefilled, decoding := &s.o, 0.0, 0.0
	for _, i := range s.running {
		q := &s.all[i]
		if q.prefill <= 0 {
			decoding++
			continue
		}
		if take := min(q.prefill, o.Budget-prefilled); take > 0 {
			prefilled += take
			if q.prefill -= take; q.prefill <= 1e-9 {
				q.prefill = 0
			}
		}
	}
	step := (o.Base + o.PerSequence*decoding + o.PerToken*prefilled) * o.Slow * (1 + o.Ramp*s.t/o.Seconds)
	if o.Cold > 0 {
		step *= 1 + o.Cold*math.Exp(-s.t/o.ColdSeconds)
	}
	step *= math.Exp(s.noise + o.White*s.r.NormFloat64())
	if o.Stall > 0 && s.r.Float64() < o.Stall {
		step += o.StallMean * s.r.ExpFloat64()
	}
	if o.Drift > 0 {
		a := math.Exp(-step / 1000 / o.DriftSeconds)
		s.noise = a*s.noise + o.Drift*math.Sqrt(1-a*a)*s.r.NormFloat64()
	}
	return step
}

// finish gives every prefilled request its first token.
func (s *server) finish() {
	for k := 0; k < len(s.running); {
		q := &s.all[s.running[k]]
		if q.prefill <= 0 {
			if q.first < 0 {
				q.first = (s.t-q.start)*1000 + q.extra
			}
			if s.o.Sample > 0 {
				q.arrivals = append(q.arrivals, s.t+q.extra/1000)
			}
			if q.left--; q.left <= 0 {
				q.latency = (s.t-q.start)*1000 + q.extra
				s.running[k] = s.running[len(s.running)-1]
				s.running = s.running[:len(s.running)-1]
				if s.o.Concurrency > 0 && s.t < s.o.Seconds {
					s.all = append(s.all, state{start: s.t})
				}
				continue
			}
		}
		k++
	}
}
