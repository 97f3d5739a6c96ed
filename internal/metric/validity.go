package metric

import "time"

// ClientStats is what the client measured about itself during the profiling phases, all that the verdict rests on. A figure that was not
// measured is zero. Two runs with equal ClientStats get equal verdicts.
type ClientStats struct {
	ScheduleStats

	// Client.
	CPUShare     float64       // 0..1 of the cores that the process may use
	Cores        int           // that many
	Machine      string        // fingerprint of the client's machine: equal for runs from one machine; "" = not known
	CPUTime      time.Duration // user and system, all threads
	ThreadWait   time.Duration // that all threads together waited for a processor; 0 = the system does not tell
	Stalls       int64         // times that the whole process did not run for 10 ms or more
	StallLongest time.Duration // longest time that it did not run, as the heartbeat noticed it
	StallTotal   time.Duration
	WakeDelay    time.Duration // that a thread was woken after its instant, mean of 50 a second, below 0.5 ms as 0; 0 = also where the system does not tell
	WakesLate    float64       // percent of those that came later than that
	GCPauseMax   time.Duration // longest pause of the garbage collector, rounded up by the runtime
	GCPauseTotal time.Duration
	ReadDelays   int64 // reads with a kernel stamp; 0 = the platform has none
	ReadDelayP50 time.Duration
	ReadDelayP99 time.Duration
	PacketsLost  int64 // that the packet capture had no room for
	// CaptureMissing says why there was no packet capture although one was asked for; "" = there was one, or nobody asked.
	CaptureMissing string
	BacklogMax     int   // finished requests that waited for reduction at once
	BacklogSize    int   // that many fit into memory
	Spilled        int64 // requests that went through the temporary file
	FileLimitHits  int64 // connections refused by the client's own limits (ports, files)

	// Requests.
	Valid, Failed int64
	Messages      int64 // content messages
	SharedReads   int64 // content messages that share their read with a later message, unless a packet tells their instant
	OneMessage    int64 // answers in one message, without ITL
	Uncounted     int64 // requests whose tokens were not counted
	Certainty
	Trend
	MachineUse
	QueueTrend
	PathUse
	Silences
	SlotUse
	Lumps
	CacheUse
}

// PathUse is what the kernel told of the connections of requests, failed ones included.
type PathUse struct {
	Paths             int64         // requests that it rests on; 0 = the system does not tell
	RemotePaths       int64         // of them, requests to another machine
	ResentRequests    int64         // that saw a segment of theirs sent again
	ResentSegments    int64         // all of those
	UnorderedRequests int64         // whose answers came out of order in part
	SmoothedRTT       time.Duration // median
}

// Silence is a time in which no server sent anything although requests waited.
type Silence struct {
	From, To int64 // wall, Unix ns
	Waiting  int64 // requests that waited
}

// Silences are those of the profiling phases together.
type Silences struct {
	SilenceCount   int64
	SilenceLongest time.Duration
	SilenceTotal   time.Duration
	SilenceAt      time.Duration // from the start of the profiling to the longest
	SilenceWaiting int64         // requests that waited in the longest
}

// SumSilences adds silences up; start is that of the profiling.
func SumSilences(list []Silence, start int64) (sum Silences) {
	for _, s := range list {
		length := time.Duration(s.To - s.From)
		sum.SilenceCount++
		sum.SilenceTotal += length
		if length > sum.SilenceLongest {
			sum.SilenceLongest, sum.SilenceAt, sum.SilenceWaiting = length, time.Duration(s.From-start), s.Waiting
		}
	}
	return sum
}

// MachineUse is what the client's machine did in the profiling phases, whoever made it do so, in percent.
type MachineUse struct {
	MachineSamples      int64   // readings that it rests on; 0 = the system does not tell
	MachineCPU          float64 // of all processors, mean and largest
	MachineCPUMax       float64
	MachineCoreMax      float64 // of the busiest one
	Steal, StealMax     float64 // of the processors, taken away by a hypervisor
	Pressure            float64 // of the time, some task waited for a processor; 0 = it did not, or the system does not tell
	MemoryMax, PortsMax float64 // of the memory; of the ports that connections may leave from
}

// QueueTrend is how the median time to the first token went with the servers' queue, second by second.
type QueueTrend struct {
	QueueCorrelation float64 // Pearson's coefficient
	QueueSeconds     int64   // that it rests on; 0 = there is none
}

// ScheduleStats is how well the instants that were asked for were kept. Everything but the lags and the re-anchoring is about the time after
// the ramps.
type ScheduleStats struct {
	OpenLoop        bool          // there were such instants
	LagP50, LagP99  time.Duration // issue after the intended instant, whatever the reason
	LagMax          time.Duration
	OwnLagP99       time.Duration // the same of requests that waited for no slot, from when they could leave: the client's own lateness
	RateSeconds     float64       // length of the sending
	Asked           float64       // requests that the rate asks for in it, 0 = no rate was asked for
	Drawn           float64       // arrivals that the arrival distribution drew: what could be sent
	Sent            int64         // of them
	Lost            Lost          // the others, by what kept them
	LateAnswers     int64         // turns that were due before the answer to the turn before was there
	CapShare        float64       // 0..1 of the sending: no slot was free
	BusyShare       float64       // and none would have been without sessions in delays of their own
	PrefillShare    float64       // no prefill slot was free
	Reanchors       int           // times the client gave the schedule up and began it anew
	ReanchorLost    time.Duration // what they lost
	TicksSkipped    int
	CancelledByUser bool // the run was cut short, so totals say nothing about the rate
}

// Lost are arrivals that were drawn and not sent.
type Lost struct {
	Client  float64 // the client did not look at the schedule in time
	Cap     float64 // requests under way held every slot
	Rest    float64 // sessions held every slot, some in delays of their own
	Prefill float64 // no prefill slot was free
	NoTurn  float64 // every session had been started, and none had a turn to send
}

// TargetRate is the rate that was asked for, in requests/s; 0 = none.
func (s *ScheduleStats) TargetRate() float64 { return rateOf(s.Asked, s.RateSeconds) }

// DrawnRate is the rate that the arrival distribution drew, in requests/s; 0 = none.
func (s *ScheduleStats) DrawnRate() float64 { return rateOf(s.Drawn, s.RateSeconds) }

// AchievedRate is the rate at which requests were sent, in requests/s; 0 = none.
func (s *ScheduleStats) AchievedRate() float64 { return rateOf(float64(s.Sent), s.RateSeconds) }

func rateOf(n, seconds float64) float64 {
	if seconds < 1e-9 { // clocks count ns
		return 0
	}
	return n / seconds
}

// Certainty is how far the instants of messages can be wrong. A message that shares its read with a later one may have arrived earlier
// than its stamp says, by no more than the client was blind.
type Certainty struct {
	// Requests whose first message, or any gap between messages, may be wrong by more than max(1 ms, 1 %), and the largest such error.
	UncertainFirst, UncertainGaps int64
	Uncertain                     int64 // either
	FirstErrorMax, GapErrorMax    time.Duration
	PacketStamps                  int64 // messages whose instant is a captured packet's
}

// Trend tells a server that falls behind its open loop from one that keeps up.
type Trend struct {
	SentRate     float64       // requests/s between the first and the last start
	AnsweredRate float64       // of them, ended by the last start
	EarlyLatency time.Duration // median from start to end of the first third of the requests, by start
	LateLatency  time.Duration // of the last third
}

// Verdict is the word that sums a run up.
type Verdict string

// The verdicts.
const (
	VerdictValid          Verdict = "valid"
	VerdictClientLimited  Verdict = "client limited"
	VerdictUncertain      Verdict = "uncertain" // latencies may be wrong by more than a few percent, because the client was stopped or starved; or a cache was warm before the run
	VerdictServerLimited  Verdict = "server limited"
	VerdictRateNotReached Verdict = "rate not reached"
	VerdictNoResult       Verdict = "no result" // nothing succeeded: there are no numbers to judge
)

// Validity is the judgement: may the numbers be taken for the server's?
type Validity struct {
	Verdict Verdict
	Reason  string   // one sentence
	Notes   []string // what to keep in mind although the verdict stands
	Certain []Result // metrics of the certain requests alone, where there are others
	Bounds  Bounds   // of the statistics that are not exact
	ClientStats

	doubtful []estimate // statistics whose ranges are too wide
	judged   int        // statistics that were checked for that
}

// Sentence is the verdict in words, one line.
func (v *Validity) Sentence() string { return string(v.Verdict) + ": " + v.Reason }
